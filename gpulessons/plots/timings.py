"""Pictures of timings: one message each, said in the title, computed and never typed.

Every function takes timings or comparisons and returns a Picture: it displays itself with its alt
text, and its `axes` can be drawn on. One color means one backend in the whole course, and a marker
says it again; live is solid, recorded dashed, published open markers, modelled a thin line or
hatched, with its interval. Where a comparison has modelled times, `gpu` names the GPU to show: the
first unless told, none for None.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from gpulessons import units

from .axes import beside, label_ends, log_axes, two_ticks
from .picture import COLORS, DASH_DOT, HATCH, INK, MARKERS, Picture, blank

MARKS = "¹²³⁴⁵⁶⁷⁸⁹"  # of footnotes


def scaling(
    comparison: Any, *, versions: Sequence[str] | None = None, gpu: str | None = ""
) -> Picture:
    """Time of one call against size, both on log scales: where a line is flat, size is free."""
    title = fastest(comparison, gpu=gpu)
    figure, axes = blank(height=4.4, title=title)
    log_axes(axes, x=(comparison.unit, units.count), y=("time of one call", units.seconds))
    axes.xaxis.get_major_locator().set_params(numticks=5)  # long numbers need room
    ends = []
    for one, mark in shown(comparison, gpu):
        for version in versions or one.versions:
            timings = [t for t in (*one.timings, *one.estimates) if t.version == version]
            if timings:
                draw_line(axes, one, timings)
                end, color = timings[-1], COLORS[timings[-1].backend]
                ends.append((end.size, end.median, f"{version}{mark}", color))
    label_ends(axes, ends)
    footnotes(axes, comparison, gpu)
    return Picture(figure, f"{title} {words(comparison, gpu=gpu)}")


def shown(comparison: Any, gpu: str | None = None) -> list[tuple[Any, str]]:
    """(comparison, its footnote mark): the live one has none; a number for each recording beside
    it, and for what is modelled for this GPU, whose times are `estimates`."""
    parts = [comparison, *comparison.beside]
    if gpu is not None and (paper := comparison.on_paper(gpu)).estimates:
        parts.append(paper)
    return list(zip(parts, ["", *MARKS], strict=False))


def footnotes(axes: Any, comparison: Any, gpu: str | None = None) -> None:
    """Below the picture: where and when each part of it was measured."""
    notes = [f"{mark} {spelled(one)}".strip() for one, mark in shown(comparison, gpu)]
    axes.set_xlabel("\n".join([axes.get_xlabel(), *notes]), linespacing=1.4)


def spelled(comparison: Any) -> str:
    """Its label; on a line of its own what its times are of, where that is less than a call."""
    return comparison.label() + f":\n{comparison.what}" * (comparison.tier == "modelled")


def draw_line(axes: Any, comparison: Any, timings: Sequence[Any]) -> None:
    """One version over its sizes, with the middle half of its samples as a band."""
    sizes, medians = [t.size for t in timings], [t.median for t in timings]
    low, high = zip(*(t.quartiles for t in timings), strict=True)
    backend = timings[0].backend
    color = COLORS[backend]
    if comparison.tier == "modelled":
        axes.plot(sizes, medians, color=color, marker=MARKERS[backend], markersize=4,
                  markerfacecolor="none", linewidth=1, linestyle=DASH_DOT)
        axes.fill_between(sizes, low, high, facecolor="none", edgecolor=color, hatch=HATCH,
                          alpha=0.3, linewidth=0)
        axes.vlines(sizes, low, high, color=color, linewidth=1, alpha=0.6)
        return
    style = "-" if comparison.tier == "live" else "--"
    axes.plot(sizes, medians, style, color=color, marker=MARKERS[backend], markersize=5)
    axes.fill_between(sizes, low, high, color=color, alpha=0.25, linewidth=0)


def bars(
    comparison: Any, size: int | None = None, *, title: str = "", gpu: str | None = ""
) -> Picture:
    """How many times faster than the slowest, at one size, on a log scale; the time beside it.

    Dots, not bars: a log axis has no zero to begin at.

    The slowest of what was measured: a modelled time has its place among them, and no factor; one
    that is "at least" so long is an arrow from there to the left. What computes in an arithmetic of
    its own stands below, under its name and without a factor.
    """
    size = largest(comparison) if size is None else size
    parts = shown(comparison, gpu)
    found = [(t, m) for one, m in parts for t in (*one.timings, *one.estimates) if t.size == size]
    rows = list(in_groups(found))
    title = title or fastest(comparison, size, gpu)
    figure, axes = blank(height=1.3 + 0.36 * len(rows) + 0.2 * (len(parts) - 1), title=title)
    own = ranked(timing for timing, _ in found)
    measured = [timing for timing in own if not is_modelled(timing)]
    slowest = max((timing.median for timing in measured or own), default=1)
    log_axes(axes, x=("times faster than the slowest", units.ratio))
    for y, (timing, mark) in enumerate(rows):
        if timing:
            draw_factor(axes, y, timing, slowest, mark)
    names = [f"{timing.version}{mark}" if timing else mark for timing, mark in rows]
    axes.set_yticks(range(len(rows)), names)
    axes.set_ylim(-0.6, max(len(rows), 1) - 0.4)  # no mark is cut by the axis or the edge
    factors = [slowest / time for t, _ in found for time in t.quartiles] or [1]
    axes.set_xlim(0.8 * min(1, *factors), 1.5 * max(factors))
    two_ticks(axes.xaxis)
    footnotes(axes, comparison, gpu)
    return Picture(figure, f"{title} {words(comparison, size, gpu)}")


def in_groups(rows: Iterable[tuple[Any, str]]) -> Iterator[tuple[Any, str]]:
    """(timing, mark) from the slowest to the fastest, those in the op's own arithmetic last; after
    those in another, (None, its name)."""
    ordered = sorted(rows, key=lambda row: (
        not row[0].arithmetic, row[0].arithmetic, -row[0].median))  # fmt: skip
    for arithmetic, group in groupby(ordered, key=lambda row: row[0].arithmetic):
        yield from group
        if arithmetic:
            yield None, f"in {arithmetic}:"


def draw_factor(axes: Any, y: float, timing: Any, slowest: float, mark: str) -> None:
    """A dot where a time's factor is, its quartiles, its words; mark: that of its footnote."""
    color, shape = COLORS[timing.backend], MARKERS[timing.backend]
    factor, *ends = (slowest / time for time in (timing.median, *timing.quartiles))
    if not is_modelled(timing):
        axes.hlines(y, 1, factor, color=color, linewidth=1, linestyle="--" if mark else "-")
        axes.plot(ends, [y, y], color=color, linewidth=4, alpha=0.4)
        axes.plot(factor, y, shape, color=color, markersize=8,
                  markerfacecolor="none" if mark else color)
        noise = f" ({timing.noise})" if timing.noise else ""
        words = timing.words + f", {units.ratio(factor)}" * (not timing.arithmetic) + noise
    else:
        axes.plot(ends, [y, y], color=color, linewidth=1, marker="|")
        if timing.at_least:  # so fast at most: an arrow to where it lies, and no dot
            axes.annotate("", (factor / 1.6, y), (factor, y),
                          arrowprops={"arrowstyle": "-|>", "color": color})
        else:
            axes.scatter(factor, y, 70, marker=shape, facecolor="none", edgecolor=color,
                         hatch=2 * HATCH)
        words = f"{timing.briefly}, modelled on {timing.gpu}"
    beside(axes, words, max(factor, *ends), y)


def draw_modelled(
    axes: Any, y: float, values: Sequence[float], color: str, text: str
) -> None:
    """A hatched bar of a modelled value, (value, one end, the other): its interval, its words."""
    value, *ends = values
    axes.barh(y, value, height=0.68, color="none", edgecolor=color, linewidth=1, hatch=HATCH)
    axes.plot(ends, [y, y], color=INK, linewidth=1.5, marker="|", markersize=7)
    beside(axes, text, max(ends), y)


def is_modelled(timing: Any) -> bool:
    """A modelled time says what it would wait for."""
    return hasattr(timing, "waits_for")


def round_to_two(value):
    """Two digits: a crossover is not known better."""
    return int(float(f"{value:.2g}"))


def fastest(comparison: Any, size: int | None = None, gpu: str | None = None) -> str:
    """The message of a comparison in a sentence, and one on what is modelled for a GPU, if told."""
    size = largest(comparison) if size is None else size
    message = fastest_measured(comparison, size)
    modelled = ranked(
        t for one, _ in shown(comparison, gpu) for t in one.estimates if t.size == size
    )
    if not modelled:
        return message
    # What is "at least" so long is the shortest only where there is no other.
    best = min(modelled, key=lambda timing: (timing.at_least, timing.median))
    return f"{message} Modelled for {best.gpu}: {best.version}, {best.words}."


def ranked(timings: Iterable[Any]) -> list[Any]:
    """Those in the op's own arithmetic, beside which no other is ranked; where it has none, all."""
    timings = list(timings)
    return [timing for timing in timings if not timing.arithmetic] or timings


def fastest_measured(comparison: Any, size: int) -> str:
    """No factor where the machine was too noisy."""
    timings = ranked(t for t in comparison.timings if t.size == size)
    what = f"{comparison.op}, {units.count(size)} {comparison.unit}" if size else comparison.op
    if not timings:
        return f"{what}: nothing was measured."
    best, *others = sorted(timings, key=lambda t: t.median)
    if not others:
        return f"{what}: {best.version} takes {best.words}."
    following, worst = others[0], others[-1]
    if "too noisy" in (best.noise, following.noise):
        return f"{what}: {best.version} looks fastest, on a machine too noisy to say by how much."
    lead, spread = following.median / best.median - 1, max(best.spread, following.spread)
    if best.quartiles[1] >= following.quartiles[0] or lead < spread:
        both = f"{best.version} and {following.version}"
        return f"{what}: {both} are fastest, too close to tell apart."
    gain = f"{units.ratio(following.median / best.median)} {following.version}, the next"
    whole = f", and {units.ratio(worst.median / best.median)} {worst.version}"
    if worst is following or worst.noise == "too noisy":
        whole = ""
    return f"{what}: {best.version} is fastest, {gain}{whole}."


def largest(comparison: Any) -> int:
    """The largest size of anything measured, or else modelled; 0 where nothing was."""
    modelled = (timing for one in comparison.modelled for timing in one.estimates)
    return max((timing.size for timing in comparison.timings or modelled), default=0)


def words(comparison: Any, size: int | None = None, gpu: str | None = None) -> str:
    """Every figure of a picture, and where it comes from, for those who cannot see it."""
    return " ".join(spoken(one, size) for one, _ in shown(comparison, gpu))


def spoken(comparison, size):
    entries = (*comparison.timings, *comparison.estimates)
    chosen = [t for t in entries if size in (None, t.size)]
    figures = "; ".join(f"{t.version} at {units.count(t.size)}: {t.words}" for t in chosen)
    return f"{' '.join(spelled(comparison).split())}: {figures or 'nothing'}."
