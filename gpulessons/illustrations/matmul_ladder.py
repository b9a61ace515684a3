"""A ladder of versions, from the loop to the library: how far each rung is from the top, and why.

The rungs of one device are compared with that device's library. Measured shares are dots (recorded
ones open), published ones rings: nothing measured elsewhere looks as if it were from here.
A GPU on paper has no library: modelled rungs, hatched, are shares of its peak by the data sheet,
and the published ones beside them are shares of their card's peak, so that like stands by like.
"""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from gpulessons import units
from gpulessons.measure.results import Comparison
from gpulessons.plots.axes import beside, log_axes
from gpulessons.plots.forms import listed, name_rows, percent
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
    comparison: Comparison, counted=None, *, published=PUBLISHED, above=None, gpu: str | None = ""
) -> Picture:
    """Each version as a share of its device's library, in the comparison's order, log scale.

    Each stands at the largest size at which it was timed: FLOP/s can be compared across sizes, and
    a loop in Python would not finish the library's. counted: {version: (global, shared)}, the
    numbers that its threads read for each multiplication, from the microscope; drawn beside it.
    published: {version: share} on somebody else's machine; above: the same, of rungs that are not
    in the comparison. gpu: whose modelled times fill in for rungs that were not measured, the first
    unless told, none for None.
    """
    measured = standings(comparison)
    modelled, mark = on_paper(comparison, measured, gpu)
    title = how_far(comparison, measured, {} if modelled else published) + on_a_sheet(modelled)
    # Rungs that are only published stand behind the last that is published.
    rows = comparison.versions
    behind = max((n for n, v in enumerate(rows, 1) if v in published), default=len(rows))
    rows = [*rows[:behind], *(above or {}), *rows[behind:]]
    published, source = {**published, **(above or {})}, SOURCE
    if modelled:
        published = {version: share * CUBLAS_OF_PEAK for version, share in published.items()}
        source += ", as shares of its peak"
    figure, panels = blank(
        width=8.8 if counted else 7.2, height=1.9 + 0.31 * len(rows), title=title, squeeze=False,
        ncols=2 if counted else 1, sharey=True, width_ratios=(2.4, 1) if counted else None,
    )
    left, *right = panels[0]
    rungs = {v: (of_peak(timing), timing, mark) for v, timing in modelled.items()}
    rungs |= {v: ([share], timing, mark) for v, (share, timing, mark) in measured.items()}
    name_rows(left, [named(version, comparison, *rungs.get(version, ())[1:]) for version in rows])
    drawn = [*published.values(), *(share for shares, *_ in rungs.values() for share in shares)]
    left.set_xlim(0.3 * min(drawn, default=1), (200 if modelled else 12) * max(drawn, default=1))
    what = "share of the library's FLOP/s" + "; modelled: of the GPU's peak" * bool(modelled)
    log_axes(left, x=(what, lambda share: percent(share) if share < 9.5 else ""))
    why = dict.fromkeys(e.why for e in comparison.absent if e.version not in measured)
    notes = [f"○ published: {source}", *(f"not measured here: {each}" for each in why)]
    left.set_xlabel("\n".join([left.get_xlabel(), *notes]))
    footnotes(left, comparison, gpu if modelled else None)
    words = {version: draw_rung(left, y, published.get(version), *rungs.get(version, ()))
             for y, version in enumerate(rows)}
    for axes in right:
        draw_loads(axes, rows, counted)
    for version, loads in (counted or {}).items():
        far, near = map(fraction, loads)
        words[version] += f", {far} loads a multiplication, {near} from shared memory"
    return Picture(figure, f"{title} {listed(words)}. Published figures: {source}.")


def steadily(measure, tries: int = 3) -> Comparison:
    """The first of a few comparisons in which no time is noisy; else the one with the fewest."""
    def noisy(one):
        return sum(bool(timing.noise) for timing in one.timings)

    made = [measure()]
    while noisy(made[-1]) and len(made) < tries:
        made.append(measure())
    return min(made, key=noisy)


def together(*comparisons: Comparison) -> Comparison:
    """One comparison of several, for versions too slow for the last one's sizes."""
    def joined(each):
        return tuple(entry for one in each for entry in one.entries)

    modelled = (replace(last, entries=joined(one.on_paper(last.machine) for one in comparisons
                                             if last.machine in one.gpus))
                for last in comparisons[-1].modelled)
    return replace(comparisons[-1], entries=joined(comparisons), modelled=tuple(modelled))


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


def on_paper(comparison, measured, gpu):
    """({version: its modelled time} of the rungs that have no measured share, their mark)"""
    one, mark = shown(comparison, gpu)[-1]
    estimates = at_their_largest(one) if one.estimates else {}
    return {v: timing for v, timing in estimates.items() if v not in measured}, mark


def of_peak(modelled):
    """[share of its GPU's peak, and at both ends of its interval]"""
    times = (modelled.median, *modelled.quartiles)
    return [modelled.flops / seconds / modelled.peak for seconds in times]


def at_their_largest(comparison: Comparison) -> dict:
    """{version: its time at the largest size at which it has one}"""
    entries = (*comparison.timings, *comparison.estimates)
    return {timing.version: timing for timing in sorted(entries, key=lambda t: t.size)}


def named(version, comparison, timing=None, mark=""):
    """What stands beside a rung: its name, its footnote, its size where that is a smaller one."""
    smaller = timing and timing.size < largest(comparison)
    return f"{version}{mark}" + (f" at {units.count(timing.size)}" if smaller else "")


def how_far(comparison, measured, published):
    """The message: the best rung of each device that is not a library's, of steady times only."""
    rows, parts = comparison.by_arithmetic[""], []  # a tensor core does other work
    for place, library in LIBRARIES.items():
        ours = {v: measured[v] for v in rows if v in measured and v.startswith(("Numba", "CUDA"))
                and device(measured[v][1].backend) == place}
        steady = [v for v in ours if not ours[v][1].noise and not measured[library][1].noise]
        known = [version for version in rows if version in published]
        if steady:
            best = max(steady, key=lambda version: ours[version][0])
            share, _, recorded = ours[best]
            where = "recorded" if recorded else "here"
            parts.append(f"{best} reaches {percent(share)} of {library} {where}")
        elif ours:
            parts.append(f"too noisy here to say what share of {library} our rungs reach")
        elif place == "GPU" and known:
            best = max(known, key=published.get)
            parts.append(f"{best} is published at {100 * published[best]:.3g}% of cuBLAS")
    size = f"{units.count(largest(comparison))} {comparison.unit}"
    return f"{comparison.op}, {size}: {'; '.join(parts) or 'nothing was measured'}."


def on_a_sheet(modelled):
    """The best modelled rung, in a sentence; "" without one."""
    if not modelled:
        return ""
    best = min(ranked(modelled.values()), key=lambda timing: (timing.at_least, -timing.flop_rate))
    share, *interval = of_peak(best)
    low, high = map(percent, sorted(interval))
    return (f" Modelled for {best.gpu}: {best.version} reaches ≈ {percent(share)} "
            f"({low} to {high}) of its peak.")


def draw_rung(axes, y, published, shares=(), timing=None, mark=""):
    """A dot for what was measured, an open one where elsewhere; hatched, with its interval, for
    what was modelled, which has three shares; an open ring in ink for what was published. Returns
    its words, which stand behind them all."""
    words = f"published {100 * published:.3g}%" if published else "not measured here"
    if timing:
        share, *interval = shares
        color = COLORS[timing.backend]
        axes.plot(interval, [y] * len(interval), color=color, linewidth=1, marker="|")
        if interval:
            axes.scatter(share, y, 64, marker=MARKERS[timing.backend], facecolor="none",
                         edgecolor=color, hatch=2 * HATCH)
        axes.plot(share, y, MARKERS[timing.backend], color=color, markersize=8,
                  markerfacecolor="none" if mark else color)
        words = f"{percent(share)}, {units.rate(timing.flop_rate, 'FLOP/s')}"
        words = f"≈ {words}, modelled" if interval else words
        words += f" ({timing.noise})" if timing.noise else ""
    if published:
        axes.plot(published, y, "o", markersize=8, color="none", markeredgecolor=INK,
                  markeredgewidth=1.6)
    beside(axes, words, max([published or axes.get_xlim()[0], *shares]), y)
    return words


def draw_loads(axes, rows, counted):
    """Numbers read for each multiplication, on a log scale: from memory, from shared memory."""
    looks = {"memory": {"marker": MARKERS["gpu"], "color": COLORS["gpu"]},
             "shared memory": {"marker": "s", "color": INK, "markerfacecolor": "none"}}
    for place, (name, look) in enumerate(looks.items()):
        axes.plot([], [], linestyle="none", markersize=7, label=name, **look)
        for version, loads in counted.items():
            if load := loads[place]:
                axes.plot(load, rows.index(version), markersize=7, **look)
                beside(axes, fraction(load), load, rows.index(version), left=not place)
    log_axes(axes, x=("loads per multiplication,\ncounted", "{:g}".format))
    axes.tick_params(axis="y", length=0, labelleft=False)
    axes.spines["left"].set_visible(False)
    low, high = axes.get_xlim()
    axes.set_xlim(low / 25, high * 8)  # room for the words
    axes.legend(frameon=False, labelcolor=INK, fontsize=9, loc="upper left")


def on_the_roofline(machine, comparison: Comparison, *, gpu: str | None = None) -> Picture | str:
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
    names = [named(timing.version, comparison, timing) for timing in [*timings, *ends]]
    return roofline(machine, timings, names=names, title=title, modelled=ends)


def gain(rungs, slow: str, fast: str) -> tuple[float | None, str]:
    """(how many times the FLOP/s of one rung another reaches, "") or (None, why nothing is said)"""
    missing = [version for version in (slow, fast) if version not in rungs]
    if missing:
        return None, f"not timed: {', '.join(missing)}"
    noisy = [version for version in (slow, fast) if rungs[version].noise == "too noisy"]
    if noisy:
        return None, f"too noisy: {', '.join(noisy)}"
    return rungs[fast].flop_rate / rungs[slow].flop_rate, ""


def step_by_step(comparison: Comparison, rungs) -> str:
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
        a, b = times[slow, shared[-1]], times[fast, shared[-1]]
        noisy = " (noisy)" if a.noise or b.noise else ""
        gained = units.ratio(b.flop_rate / a.flop_rate)
        lines.append(f"{slow} → {fast}, n = {units.count(shared[-1])}: {gained}{noisy}")
    return "\n".join(lines)


def libraries(rungs) -> str:
    """How two libraries for the CPU compare on one product, and whose code each calls."""
    ours, theirs = rungs.get("NumPy"), rungs.get("PyTorch on CPU")
    if not ours or not theirs:
        return "There is no PyTorch to compare NumPy with."
    import numpy as np
    import torch

    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]
    other = "MKL" if torch.backends.mkl.is_available() else "a BLAS other than MKL"
    threads = f"{ours.threads or 1} and {theirs.threads or 1}"
    codes = f"NumPy calls {blas}, PyTorch {other}; threads: {threads}"
    if ours.noise or theirs.noise:
        return f"Too noisy here to compare PyTorch with NumPy. {codes}."
    return f"PyTorch reaches {percent(theirs.flop_rate / ours.flop_rate)} of NumPy's rate. {codes}."


def fraction(load: float) -> str:
    """A count per multiplication as people say it: 2, 1/8, 9/8; else in decimals."""
    exact = Fraction(load).limit_denominator(512)
    return str(exact) if exact == load and exact.numerator < 10 else f"{load:.3g}"
