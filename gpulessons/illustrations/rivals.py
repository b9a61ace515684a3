"""One op on this machine and on GPUs that may not be here: four kinds of figure, side by side."""

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

from gpulessons import units
from gpulessons.measure.results import quartiles
from gpulessons.plots.axes import beside, log_axes, name_rows
from gpulessons.plots.forms import listed
from gpulessons.plots.picture import COLORS, HATCH, INK, MARKERS, Picture, blank
from warplens.model.devices import sheet

CARDS = ("T4",)  # it is lent for nothing: a reader can measure it


class Row(NamedTuple):
    """A time in seconds and its ends: the middle half, the interval, or none."""
    name: str
    kind: str
    seconds: float
    ends: tuple[float, ...] = ()
    backend: str = "gpu"
    noise: str = ""

    @property
    def words(self) -> str:
        digits = 2 if self.kind == "modelled" else 3  # as many as are known
        time = units.seconds(float(f"{self.seconds:.{digits}g}"))
        about = {"bounded": "at least ", "modelled": "≈ "}.get(self.kind, "")
        return f"{about}{time}, {self.kind}" + f" ({self.noise})" * bool(self.noise)


def apart(comparison, loop: Sequence[float]) -> tuple[float, float, float] | None:
    """A Python loop's time over this CPU's best: (low, median, high), by the middle halves."""
    if not (best := comparison.best("host", "torch_cpu")):
        return None
    (quick, slow), (least, most) = best.quartiles, quartiles(loop)
    return least / slow, median(loop) / best.median, most / quick


def rivals(comparison, nbytes: float, loop: Sequence[float]) -> Picture:
    """A comparison at one size, by kinds of figure. nbytes: what a call moves; loop: seconds of a
    Python loop. The title divides live medians by the least that a T4 needs."""
    rows = rows_of(comparison, nbytes, loop)
    title = divided(comparison, sheet("T4").least(0, nbytes), median(loop))
    figure, axes = blank(width=8.2, height=1.3 + 0.36 * len(rows), title=title)
    for y, row in enumerate(rows):
        draw(axes, y, row)
    name_rows(axes, [row.name for row in rows])
    log_axes(axes, x=("time of one call", units.seconds))
    axes.margins(x=0.25)  # room for the words
    return Picture(figure, f"{title} {listed({f'{r.name} ({r.kind})': r.words for r in rows})}.")


def divided(comparison, floor: float, loop: float) -> str:
    """How much faster a card can be at most, with what is divided by what; no claim if noisy."""
    best = comparison.best("host", "torch_cpu")
    timed = {"a Python loop": loop}
    if best and best.noise != "too noisy":
        timed = {f"this CPU's best{shared(best)}": best.median, **timed}
    told = [f"{units.ratio(read(each) / read(floor)).rstrip('×')} times as fast as {name} "
            f"({units.seconds(each)} / {units.seconds(floor)})" for name, each in timed.items()]
    return f"Out of place, a T4 is at most {' and '.join(told)}."


def shared(timing) -> str:
    """On how many threads it ran, where that was tried."""
    return f" on {units.plural(timing.threads, 'thread')}" if timing.threads else ""


def read(seconds: float) -> float:
    """Seconds as they are written."""
    return float(f"{seconds:.3g}")


def rows_of(comparison, nbytes: float, loop: Sequence[float]) -> list[Row]:
    """What is live, slowest first; then for each card what is modelled and bounded."""
    live = sorted(comparison.timings, key=lambda timing: -timing.median)
    rows = [Row("Python loop", "live", median(loop), quartiles(loop), "host")]
    rows += [Row(t.version, "live", t.median, t.quartiles, t.backend, t.noise) for t in live]
    for card in CARDS:
        paper = comparison.on_paper(card).estimates if card in comparison.gpus else ()
        rows += [Row(card, "modelled", t.median, t.quartiles) for t in paper]
        rows.append(Row(card, "bounded", sheet(card).least(0, nbytes)))
    return rows


def draw(axes, y: float, row: Row) -> None:
    color, marker, right = COLORS[row.backend], MARKERS[row.backend], max(row.seconds, *row.ends, 0)
    if row.kind == "bounded":
        right = 1.6 * row.seconds
        axes.plot(row.seconds, y, "|", color=color, markersize=14, markeredgewidth=2)
        axes.plot([row.seconds, right], [y, y], color=color, marker=">", markevery=[1])
    elif row.kind == "modelled":
        axes.plot(row.ends, [y, y], color=INK, linewidth=1, marker="|")
        axes.scatter(row.seconds, y, 70, marker=marker, facecolor="none", edgecolor=color,
                     hatch=2 * HATCH)
    else:
        axes.plot(row.ends, [y] * len(row.ends), color=color, linewidth=4, alpha=0.4)
        axes.plot(row.seconds, y, marker, color=color, markersize=8)
    beside(axes, row.words, right, y)
