"""A ladder of versions, from the loop to the library: how far each rung is from the top, and why.

All stand at their share of the FLOP/s of one library: NumPy's for a CPU, cuBLAS on the same card
for a GPU. Measured shares are dots (recorded ones open), published ones open in ink: nothing
measured elsewhere looks as if it were from here. Modelled rungs, hatched, are of the card that the
published ones ran on: its cuBLAS is the library of both.
"""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import groupby
from typing import Any

from gpulessons import units
from gpulessons.evidence import published
from gpulessons.measure.results import Comparison
from gpulessons.plots.axes import beside, log_axes, written
from gpulessons.plots.forms import LOOKS, lines, listed, name_rows, percent
from gpulessons.plots.picture import COLORS, HATCH, INK, MARKERS, Picture, blank
from gpulessons.plots.roofline import device
from gpulessons.plots.timings import footnotes, largest, shown

LIBRARIES = {"CPU": "NumPy", "GPU": "PyTorch on GPU"}  # their products are BLAS and cuBLAS
CARD = "RTX A6000"  # with every rung published, and two above them: no kernels of this course
SAME_IDEA = {
    CARD: {
        "CUDA, naive": "Naive", "CUDA, coalesced": "GMEM Coalescing",
        "CUDA, shared tile": "SMEM Caching", "CUDA, 1-D register tile": "1D Blocktiling",
        "CUDA, 2-D register tile": "2D Blocktiling",
        "CUDA, vectorized loads": "Vectorized Mem Access",
        "CUDA, double buffering": "Double Buffering", "autotuning, not here": "Autotuning",
        "warp tiling, not here": "Warptiling", LIBRARIES["GPU"]: "cuBLAS",
    },
    "RTX 4070 Ti SUPER": {
        "CUDA, coalesced": "v1", "CUDA, shared tile": "v2", "CUDA, 2-D register tile": "v4",
        LIBRARIES["GPU"]: "cuBLAS",
    },
}  # fmt: skip
RINGS = dict(zip(SAME_IDEA, ("o○", "D◇"), strict=True))  # a mark, and how it is written


def published_on(card: str = CARD) -> dict[str, Any]:
    """{our version: the published figure of a kernel of the same idea on this card}"""
    rows = published("matmul", device=card, dtype="float32", n=4096)
    figures = {word: row for row in rows for word in (row.what, row.what.split()[0])}
    return {ours: figures[theirs] for ours, theirs in SAME_IDEA[card].items()}


def of_cublas(figures: dict[str, Any]) -> dict[str, float]:
    """{name: share of the card's cuBLAS}, of published FLOP/s or times, one of them cuBLAS's."""
    library = next(row for row in figures.values() if row.what == "cuBLAS")
    power = 1 if library.unit.endswith("FLOP/s") else -1
    return {name: (row.value / library.value) ** power for name, row in figures.items()}


def ladder(comparison: Comparison, counted=None, *, paper: Comparison | None = None) -> Picture:
    """Each version as a share of its device's library, in the comparison's order, log scale.

    Each stands at the largest size at which it was timed: FLOP/s can be compared across sizes, and
    a loop in Python would not finish the library's. counted: {version: (global, shared)}, the
    numbers that its threads read for each multiplication, from the microscope; drawn beside it.
    paper: what is modelled for the published CARD, where rungs were not measured.
    """
    measured, modelled = standings(comparison), on_paper(paper) if paper else {}
    rungs, elsewhere = modelled | measured, {card: of_cublas(published_on(card)) for card in RINGS}
    rows = [v for v in in_order(comparison.versions) if v in rungs or v in elsewhere[CARD]]
    title = how_far(comparison, measured, modelled, elsewhere[CARD])
    figure, panels = blank(
        width=8.8 if counted else 7.2, height=2.1 + 0.31 * len(rows), title=title, squeeze=False,
        ncols=2 if counted else 1, sharey=True, width_ratios=(2.4, 1) if counted else None,
    )
    left, *right = panels[0]
    name_rows(left, [named(version, comparison, *rungs.get(version, ())[1:]) for version in rows])
    words = {}
    for y, version in enumerate(rows):
        others = {card: each[version] for card, each in elsewhere.items() if version in each}
        words[version] = draw_rung(left, y, others, *rungs.get(version, ()))
    log_axes(left, x=("share of the library's FLOP/s", lambda s: percent(s) if s < 9.5 else ""))
    low, high = left.get_xlim()
    left.set_xlim(low / 2, high * 60)  # room for the words
    footnotes(left, comparison)
    notes = whence(comparison, paper)
    left.set_xlabel("\n".join([left.get_xlabel(), *notes]))
    for axes in right:
        loads = {version: counted[version] for version in rows if version in counted}
        draw_loads(axes, rows, loads)
        for version, (far, near) in loads.items():
            words[version] += (f", {fraction(far)} loads a multiplication, {fraction(near)} from "
                               "shared memory")
    return Picture(figure, f"{title} {listed(words)}. {'; '.join(notes)}.")


def in_order(versions):
    """These versions, and before the GPU's library the published rungs that are none of them."""
    others = [version for version in SAME_IDEA[CARD] if version not in versions]
    at = versions.index(LIBRARIES["GPU"]) if LIBRARIES["GPU"] in versions else len(versions)
    return [*versions[:at], *others, *versions[at:]]


def whence(comparison, paper) -> list[str]:
    """What stands below: who published, what is modelled, and why the rest was not measured."""
    notes = [f"{sign} published, at {units.count(row.sizes['n'])}: {row.citation}"
             for card, (_, sign) in RINGS.items() for row in [published_on(card)[LIBRARIES["GPU"]]]]
    if paper and paper.estimates:
        size = units.count(max(paper.sizes))
        notes += [f"hatched: {paper.label()}, at {size}, of the published cuBLAS"]
    timed = {timing.version for timing in comparison.timings}
    why = dict.fromkeys(e.why for e in comparison.absent if e.version not in timed)
    return [*notes, *(f"not measured here: {each}" for each in why)]


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
    joined = tuple(entry for one in comparisons for entry in one.entries)
    return replace(comparisons[-1], entries=joined)


def standings(comparison):
    """{version: ([share of the library], timing, footnote mark)}: live where there is one."""
    found = {}
    for one, mark in shown(comparison):
        timings = at_their_largest(one)
        for version, timing in timings.items():
            library = timings.get(LIBRARIES[device(timing.backend)])
            if library:
                share = timing.flop_rate / library.flop_rate
                found.setdefault(version, ([share], timing, mark))
    return found


def on_paper(paper):
    """{version: ([share of the CARD's cuBLAS, and at both ends of its interval], its time, "")}"""
    rate = published_on()[LIBRARIES["GPU"]].value
    return {t.version: ([t.flops / seconds / rate for seconds in (t.median, *t.quartiles)], t, "")
            for t in paper.estimates}


def at_their_largest(comparison: Comparison) -> dict:
    """{version: its time at the largest size at which it has one}"""
    entries = (*comparison.timings, *comparison.estimates)
    return {timing.version: timing for timing in sorted(entries, key=lambda t: t.size)}


def named(version, comparison, timing=None, mark=""):
    """What stands beside a rung: its name, its footnote, its size where that is a smaller one."""
    smaller = timing and timing.size < largest(comparison)
    return f"{version}{mark}" + (f" at {units.count(timing.size)}" if smaller else "")


def how_far(comparison, measured, modelled, known):
    """The message: the best rung of each device that is not a library's, of steady times only."""
    rows, parts = comparison.by_arithmetic[""], []  # a tensor core does other work
    for place, library in LIBRARIES.items():
        ours = {v: measured[v] for v in rows if v in measured and v.startswith(("Numba", "CUDA"))
                and device(measured[v][1].backend) == place}
        steady = [v for v in ours if not ours[v][1].noise and not measured[library][1].noise]
        if steady:
            best = max(steady, key=lambda version: ours[version][0])
            (share,), _, recorded = ours[best]
            where = "recorded" if recorded else "here"
            parts.append(f"{best} reaches {percent(share)} of {library} {where}")
        elif ours:
            parts.append(f"too noisy here to say what share of {library} our rungs reach")
        elif place == "GPU":
            parts += there({v: known[v] for v in rows if v in known and v != library}, modelled)
    size = f"{units.count(largest(comparison))} {comparison.unit}"
    return f"{comparison.op}, {size}: {'; '.join(parts) or 'nothing was measured'}."


def there(known, modelled) -> list[str]:
    """What the best rung reaches on the published CARD, in words; none where none is known."""
    if not known:
        return []
    best = max(known, key=known.get)
    words = f"{best} is published at {percent(known[best])} of cuBLAS on an {CARD}"
    if best in modelled:
        share, *interval = modelled[best][0]
        low, high = map(percent, sorted(interval))
        words += f", and modelled there at ≈ {percent(share)} ({low} to {high})"
    return [words]


def draw_rung(axes, y, published, shares=(), timing=None, mark=""):
    """A dot for what was measured, an open one where elsewhere; hatched, with its interval, for
    what was modelled, which has three shares; open in ink for what was published, {card: share}.
    Returns its words, which stand behind them all."""
    words = [f"published {', '.join(map(percent, published.values()))}"] if published else []
    if timing:
        share, *interval = shares
        color = COLORS[timing.backend]
        axes.plot(interval, [y] * len(interval), color=color, linewidth=1, marker="|")
        if interval:
            axes.scatter(share, y, 64, marker=MARKERS[timing.backend], facecolor="none",
                         edgecolor=color, hatch=2 * HATCH)
        else:
            axes.plot(share, y, MARKERS[timing.backend], color=color, markersize=8,
                      markerfacecolor="none" if mark else color)
        noise = f" ({timing.noise})" if timing.noise else ""
        words.insert(0, f"≈ {percent(share)} modelled" if interval else
                     f"{percent(share)}, {units.rate(timing.flop_rate, 'FLOP/s')}{noise}")
    for card, share in published.items():
        axes.plot(share, y, RINGS[card][0], markersize=8, color="none", markeredgecolor=INK,
                  markeredgewidth=1.6)
    beside(axes, "; ".join(words), max([*published.values(), *shares]), y)
    return "; ".join(words)


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


def gain(rungs, slow: str, fast: str) -> tuple[float | None, str]:
    """(how many times the FLOP/s of one rung another reaches, "") or (None, why nothing is said)"""
    missing = [version for version in (slow, fast) if version not in rungs]
    if missing:
        return None, f"not timed: {', '.join(missing)}"
    noisy = [version for version in (slow, fast) if rungs[version].noise == "too noisy"]
    if noisy:
        return None, f"too noisy: {', '.join(noisy)}"
    return rungs[fast].flop_rate / rungs[slow].flop_rate, ""


def climbs(rows: Iterable[Any]) -> Picture:
    """What others' kernels reached one after the other, as shares of cuBLAS on the same card.

    rows: published figures in their authors' order, with each card's cuBLAS among them.
    """
    named, told, spoken = [], [], {}
    for (card, each), look in zip(groupby(rows, key=lambda row: row.device), LOOKS, strict=False):
        shares = of_cublas({row.what: row for row in each})
        own = [share for what, share in shares.items() if what.startswith("v")]
        look = {**look, "markerfacecolor": "none"}
        named.append((card, range(1, len(own) + 1), own, look))
        told.append(f"from {percent(own[0])} to {percent(max(own))} on {card}")
        spoken[card] = ", ".join(map(percent, own))
    title = f"Somebody's own kernels, as shares of cuBLAS: {'; '.join(told)}."
    figure, axes = blank(height=3.8, title=title)
    lines(axes, named)
    axes.set(ylim=(0, None), ylabel="share of cuBLAS")
    written(axes.yaxis, percent)
    notes = dict.fromkeys(f"published: {row.citation}" for row in rows)
    axes.set_xlabel("\n".join(["kernels in their author's order", *notes]))
    return Picture(figure, f"{title} {listed(spoken)}. {'; '.join(notes)}.")


def fraction(load: float) -> str:
    """A count per multiplication as people say it: 2, 1/8, 9/8; else in decimals."""
    exact = Fraction(load).limit_denominator(512)
    return str(exact) if exact == load and exact.numerator < 10 else f"{load:.3g}"
