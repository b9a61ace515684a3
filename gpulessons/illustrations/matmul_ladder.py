"""A ladder of versions, from the loop to the library: how far each rung is from the top, and why.

The rungs of one device are compared with that device's library. Measured shares are dots (recorded
ones open), published ones rings: nothing measured elsewhere looks as if it were from here.
A GPU on paper has no library: modelled rungs, hatched, are shares of its peak by the data sheet,
and the published ones beside them are shares of their card's peak, so that like stands by like.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from gpulessons import units
from gpulessons.measure.results import Comparison
from gpulessons.plots.axes import log_axes
from gpulessons.plots.forms import listed, name_rows
from gpulessons.plots.picture import COLORS, HATCH, INK, MARKERS, Picture, blank
from gpulessons.plots.roofline import device, intensity, roof, roofline
from gpulessons.plots.timings import footnotes, largest, ranked, shown

LIBRARIES = {"CPU": "NumPy", "GPU": "PyTorch on GPU"}  # their products are BLAS and cuBLAS

# Shares of cuBLAS in float32 by kernels of the same ideas.
SOURCE = "S. Boehm, SGEMM_CUDA (README), RTX A6000"
PUBLISHED = {
    "CUDA, naive": 0.013,
    "CUDA, coalesced": 0.085,
    "CUDA, shared tile": 0.128,
    "CUDA, 1-D register tile": 0.365,
    "CUDA, 2-D register tile": 0.687,
    "CUDA, vectorized loads": 0.784,
    "CUDA, double buffering": 0.743,
}
# There cuBLAS reached 23,249.6 GFLOP/s; the card's data sheet promises 38.7 TFLOP/s.
CUBLAS_OF_PEAK = 23_249.6 / 38_700
# Rungs of the same source above these, which are no kernels of this course.
ABOVE = {"autotuning, not here": 0.848, "warp tiling, not here": 0.937}


def ladder(
    comparison: Comparison,
    counted: Mapping[str, tuple[float, float]] | None = None,
    *,
    published: Mapping[str, float] = PUBLISHED,
    above: Mapping[str, float] = {},
    source: str = SOURCE,
    gpu: str | None = "",
) -> Picture:
    """Each version as a share of its device's library, in the comparison's order, log scale.

    Each stands at the largest size at which it was timed: FLOP/s can be compared across sizes, and
    a loop in Python would not finish the library's. counted: {version: (global, shared)}, the
    numbers that its threads read for each multiplication, from the microscope; drawn beside it.
    published: {version: share} on somebody else's machine, and its source; above: the same, of
    rungs that are not in the comparison and get rows of their own. gpu: whose modelled times fill
    in for rungs that were not measured, the first unless told, none for None. A rung of which
    nothing is known is named below, and has no row.
    """
    shares = standings(comparison)
    modelled, mark = on_paper(comparison, shares, gpu)
    title = how_far(comparison, shares, {} if modelled else published) + how_far_on_paper(modelled)
    published = {**published, **above}
    if modelled:
        published = {version: share * CUBLAS_OF_PEAK for version, share in published.items()}
        source += ", as shares of its peak"
    known = {*shares, *modelled, *published, *(counted or {})}
    every = with_rows(comparison.versions, published, above)
    rows = [version for version in every if version in known]
    figure, axes = blank(
        width=8.8 if counted else 7.2, height=1.9 + 0.31 * len(rows), title=title,
        ncols=2 if counted else 1, squeeze=False, sharey=True,
        width_ratios=(2.4, 1) if counted else None,
    )
    left, *right = axes.flat
    timed = shares | {version: (0, timing, mark) for version, timing in modelled.items()}
    name_rows(left, [named(version, timed.get(version), comparison) for version in rows])
    shown_shares = [*published.values(), *(share for share, *_ in shares.values())]
    shown_shares += [part for t in modelled.values() for part in of_peak(t)]
    ends = min(shown_shares, default=1), max(shown_shares, default=1)
    left.set_xlim(0.3 * ends[0], (200 if modelled else 12) * ends[1])
    what = "share of the library's FLOP/s" + "; modelled: of the GPU's peak" * bool(modelled)
    log_axes(left, x=(what, lambda part: percent(part) if part < 9.5 else ""))
    out = [version for version in every if version not in known]
    silent = dict.fromkeys(e.why for e in comparison.absent if e.version in {*rows} - {*shares})
    notes = [f"○ published: {source}", *(f"not measured here: {why}" for why in silent)]
    notes += [f"left out, not measured here: {'; '.join(out)}"] * bool(out)
    left.set_xlabel("\n".join([left.get_xlabel(), *notes]))
    footnotes(left, comparison, gpu if modelled else None)
    words = {version: draw_rung(left, y, shares.get(version), published.get(version),
                                modelled.get(version)) for y, version in enumerate(rows)}
    for panel in right:
        draw_loads(panel, rows, counted)
    for version, loads in (counted or {}).items():
        words[version] += ", {} loads a multiplication, {} from shared memory".format(
            *map(fraction, loads))
    return Picture(figure, f"{title} {listed(words)}. Published figures: {source}.")


def with_rows(versions, published, above):
    """The versions, with the rungs that are only published behind the last that is published."""
    behind = max((n for n, v in enumerate(versions, 1) if v in published), default=len(versions))
    return [*versions[:behind], *above, *versions[behind:]]


def steadily(measure: Callable[[], Comparison], tries: int = 3) -> Comparison:
    """The first of a few comparisons in which no time is noisy; else the one with the fewest."""
    made = []
    for _ in range(tries):
        made.append(measure())
        if not any(timing.noise for timing in made[-1].timings):
            return made[-1]
    return min(made, key=lambda one: sum(bool(timing.noise) for timing in one.timings))


def together(*comparisons: Comparison) -> Comparison:
    """One comparison of several, for versions too slow for the last one's sizes."""
    last = comparisons[-1]
    modelled = (
        replace(each, entries=joined(
            one.on_paper(each.machine) for one in comparisons if each.machine in one.gpus
        ))
        for each in last.modelled
    )
    return replace(last, entries=joined(comparisons), modelled=tuple(modelled))


def joined(comparisons):
    return tuple(entry for one in comparisons for entry in one.entries)


def standings(comparison):
    """{version: (share of the library, timing, footnote mark)}: live where there is one."""
    found = {}
    for one, mark in shown(comparison):
        timings = at_their_largest(one)
        for version, timing in timings.items():
            library = timings.get(LIBRARIES[device(timing.backend)])
            if library:
                share = timing.flop_rate / library.flop_rate
                found.setdefault(version, (share, timing, mark))
    return found


def on_paper(comparison, shares, gpu):
    """({version: its modelled time} of the rungs that have no measured share, their mark)"""
    one, mark = shown(comparison, gpu)[-1]
    estimates = at_their_largest(one) if one.estimates else {}
    return {v: timing for v, timing in estimates.items() if v not in shares}, mark


def of_peak(modelled):
    """[share of its GPU's peak, and at both ends of its interval]"""
    times = (modelled.median, *modelled.quartiles)
    return [modelled.flops / seconds / modelled.peak for seconds in times]


def at_their_largest(comparison: Comparison) -> dict[str, Any]:
    """{version: its time at the largest size at which it has one}"""
    entries = (*comparison.timings, *comparison.estimates)
    return {timing.version: timing for timing in sorted(entries, key=lambda t: t.size)}


def named(version, standing, comparison):
    """What stands beside a rung: its name, its footnote, its size where that is a smaller one."""
    if not standing:
        return version
    _, timing, mark = standing
    smaller = timing.size < largest(comparison)
    return f"{version}{mark}{f' at {units.count(timing.size)}' * smaller}"


def how_far(comparison, shares, published):
    """The message: the best rung of each device that is not a library's."""
    rows, parts = comparison.by_arithmetic[""], []  # a tensor core does other work
    for place, library in LIBRARIES.items():
        ours = {v: shares[v] for v in rows if v in shares and ours_on(place, shares[v][1])}
        known = [version for version in rows if version in published]
        if ours:
            parts.append(best_of(ours, shares, library))
        elif place == "GPU" and known:
            best = max(known, key=published.get)
            parts.append(f"{best} is published at {100 * published[best]:.3g}% of cuBLAS")
    size = f"{units.count(largest(comparison))} {comparison.unit}"
    return f"{comparison.op}, {size}: {'; '.join(parts) or 'nothing was measured'}."


def best_of(ours, shares, library):
    """The best of our rungs beside the library: of steady times only."""
    steady = [v for v in ours if not ours[v][1].noise and not shares[library][1].noise]
    if not steady:
        return f"too noisy here to say what share of {library} our rungs reach"
    best = max(steady, key=lambda version: ours[version][0])
    share, _, recorded = ours[best]
    return f"{best} reaches {percent(share)} of {library} {'recorded' if recorded else 'here'}"


def how_far_on_paper(modelled):
    """The best modelled rung, in a sentence; "" without one."""
    if not modelled:
        return ""
    best = min(ranked(modelled.values()), key=lambda timing: (timing.at_least, -timing.flop_rate))
    share, *interval = of_peak(best)
    low, high = map(percent, sorted(interval))
    return (
        f" Modelled for {best.gpu}: {best.version} reaches ≈ {percent(share)} ({low} to {high}) "
        "of its peak."
    )


def ours_on(place, timing):
    """Is it a rung that this course wrote, on this device?"""
    return device(timing.backend) == place and timing.version.startswith(("Numba", "CUDA"))


def draw_rung(axes, y, standing, published, modelled):
    """A dot for what was measured, an open one where elsewhere; hatched for what was modelled, with
    its interval; an open ring in ink for what was published. Returns its words, which stand behind
    them all."""
    ends, words = [published] if published else [], "not measured here"
    if standing:
        share, timing, recorded = standing
        color = COLORS[timing.backend]
        axes.plot(share, y, MARKERS[timing.backend], color=color, markersize=8,
                  markerfacecolor="none" if recorded else color)
        noise = f" ({timing.noise})" if timing.noise else ""
        words = f"{percent(share)}, {units.rate(timing.flop_rate, 'FLOP/s')}{noise}"
        ends += [share]
    elif modelled:
        share, *interval = of_peak(modelled)
        color = COLORS[modelled.backend]
        axes.plot(interval, [y, y], color=color, linewidth=1, marker="|", markersize=7)
        axes.scatter(share, y, 70, marker=MARKERS[modelled.backend], facecolor="none",
                     edgecolor=color, hatch=2 * HATCH)
        words = f"≈ {percent(share)}, {units.rate(modelled.flop_rate, 'FLOP/s')}, modelled"
        ends += interval
    elif published:
        words = f"published {100 * published:.3g}%"
    if published:
        axes.plot(published, y, "o", markersize=8, color="none", markeredgecolor=INK,
                  markeredgewidth=1.6)
    axes.annotate(words, (max(ends or axes.get_xlim()[:1]), y), (9, 0), va="center", fontsize=9.5,
                  textcoords="offset points", color=INK)
    return words


def draw_loads(axes, rows, counted):
    """Numbers read for each multiplication, on a log scale: from memory, from shared memory."""
    looks = {"memory": ("right", {"marker": MARKERS["gpu"], "color": COLORS["gpu"]}),
             "shared memory": ("left", {"marker": "s", "color": INK, "markerfacecolor": "none"})}
    for place, (name, (side, look)) in enumerate(looks.items()):
        at = [(loads[place], rows.index(v)) for v, loads in counted.items() if loads[place]]
        axes.plot(*zip(*at, strict=True), linestyle="none", markersize=7, label=name, **look)
        for load, y in at:
            axes.annotate(fraction(load), (load, y), (7 if side == "left" else -7, 0), ha=side,
                          textcoords="offset points", va="center", fontsize=9, color=INK)
    log_axes(axes, x=("loads per multiplication,\ncounted", "{:g}".format))
    axes.tick_params(axis="y", length=0, labelleft=False)
    axes.spines["left"].set_visible(False)
    low, high = axes.get_xlim()
    axes.set_xlim(low / 25, high * 8)  # room for the words
    axes.legend(frameon=False, labelcolor=INK, fontsize=9, loc="upper left")


def on_the_roofline(
    machine: Any, comparison: Comparison, *, gpu: str | None = None
) -> Picture | str:
    """The rungs that ran here on the roofline, each at the largest size at which it was timed.

    Noisy times are left out; a sentence instead of a picture where all are. gpu: of
    whose modelled times the longest and the shortest stand beside them; none unless told.
    """
    timings = [t for t in at_their_largest(comparison).values() if t.noise != "too noisy"]
    if not timings:
        return "Every time is noisy: close other programs, and measure again."
    modelled, _ = on_paper(comparison, standings(comparison), gpu)
    by_time = sorted(modelled.values(), key=lambda timing: timing.median)
    ends = by_time[:1] + by_time[1:][-1:]
    best = max(timings, key=lambda timing: timing.flop_rate)
    share = best.flop_rate / roof(machine, best.backend)[0]
    title = (
        f"{comparison.op} at {units.count(best.size)}: {intensity(best):.0f} FLOPs for each byte "
        f"that must move. {best.version} reaches {percent(share)} of the flat roof."
    )
    if share > 1.02:  # an error to explain, not a record
        title += " The roof is what NumPy's product reached, and this rung beat it."
    names = [named(timing.version, (1, timing, ""), comparison) for timing in [*timings, *ends]]
    return roofline(machine, timings, names=names, title=title, modelled=ends)


def gain(rungs: Mapping[str, Any], slow: str, fast: str) -> tuple[float | None, str]:
    """(how many times the FLOP/s of one rung another reaches, "") or (None, why nothing is said)"""
    missing = [version for version in (slow, fast) if version not in rungs]
    noisy = [v for v in (slow, fast) if v in rungs and rungs[v].noise == "too noisy"]
    why = f"not timed: {', '.join(missing)}" if missing else ""
    why = why or (f"too noisy: {', '.join(noisy)}" if noisy else "")
    return (None if why else rungs[fast].flop_rate / rungs[slow].flop_rate), why


def step_by_step(comparison: Comparison, rungs: Sequence[str]) -> str:
    """What each rung gains over the one before, at the largest size at which both were timed.

    A line for each: sizes differ from line to line, so the factors are not to be multiplied.
    """
    times = {(t.version, t.size): t for t in comparison.timings}
    lines = []
    for slow, fast in pairwise(rungs):
        shared = [n for n in comparison.sizes if {(slow, n), (fast, n)} <= times.keys()]
        if not shared:
            lines.append(f"{slow} → {fast}: not timed at one size")
            continue
        pair = times[slow, shared[-1]], times[fast, shared[-1]]
        gain = pair[1].flop_rate / pair[0].flop_rate
        lines.append(
            f"{slow} → {fast}, n = {units.count(shared[-1])}: {units.ratio(gain)}"
            + " (noisy)" * any(bool(t.noise) for t in pair)
        )
    return "\n".join(lines)


def libraries(rungs: Mapping[str, Any]) -> str:
    """How two libraries for the CPU compare on one product, and whose code each calls."""
    ours, theirs = rungs.get("NumPy"), rungs.get("PyTorch on CPU")
    if not ours or not theirs:
        return "There is no PyTorch to compare NumPy with."
    import numpy as np
    import torch

    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    other = "MKL" if torch.backends.mkl.is_available() else "a BLAS other than MKL"
    codes = f"NumPy calls {blas}, PyTorch {other}; threads: {ours.threads or 1} and {theirs.threads or 1}"
    if ours.noise or theirs.noise:
        return f"Too noisy here to compare PyTorch with NumPy. {codes}."
    share = theirs.flop_rate / ours.flop_rate
    return f"PyTorch reaches {percent(share)} of NumPy's rate. {codes}."


def percent(share):
    """Two digits, also of a hundredth of a percent."""
    return f"{share:.0%}" if share >= 0.095 else f"{100 * share:.2g}%"


def fraction(load: float) -> str:
    """A count per multiplication as people say it: 2, 1/8, 9/8; else in decimals."""
    exact = Fraction(load).limit_denominator(512)
    return str(exact) if exact == load and exact.numerator < 10 else f"{load:.3g}"
