"""One op on this machine and on GPUs that may not be here: four kinds of figure, side by side."""

from typing import NamedTuple

from gpulessons import units
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


def ends(comparison) -> dict:
    """{name: timing} of this CPU's best and of the Python loop, where they were timed."""
    loop = next((each for each in comparison.timings if each.version == "Python loop"), None)
    found = {"this CPU's best": comparison.best("host", "torch_cpu"), "its Python loop": loop}
    return {name: timing for name, timing in found.items() if timing}


def apart(comparison) -> tuple[float, float, float] | None:
    """A Python loop's time over this CPU's best: (low, median, high), by the middle halves."""
    if len(both := ends(comparison)) < 2:
        return None
    (quick, slow), (least, most) = (timing.quartiles for timing in both.values())
    best, loop = (timing.median for timing in both.values())
    return least / slow, loop / best, most / quick


def rivals(comparison, nbytes: float) -> Picture:
    """A comparison at one size, by kinds of figure. nbytes: what a call moves. The title divides
    live medians by the least that a T4 needs."""
    rows, title = rows_of(comparison, nbytes), divided(comparison, sheet("T4").least(0, nbytes))
    figure, axes = blank(width=8.2, height=1.3 + 0.36 * len(rows), title=title)
    for y, row in enumerate(rows):
        draw(axes, y, row)
    name_rows(axes, [row.name for row in rows])
    log_axes(axes, x=("time of one call", units.seconds))
    axes.margins(x=0.25)  # room for the words
    return Picture(figure, f"{title} {listed({f'{r.name} ({r.kind})': r.words for r in rows})}.")


def divided(comparison, floor: float) -> str:
    """How much faster a card can be at most, with what is divided by what; no claim if noisy."""
    timed = ends(comparison)
    told = [f"{units.ratio(read(t.median) / read(floor)).rstrip('×')} times as fast as {name}"
            f"{shared(t)} ({units.seconds(t.median)} / {units.seconds(floor)})"
            for name, t in timed.items() if t.noise != "too noisy"]  # fmt: skip
    if told:
        return f"A T4 is at most {' and '.join(told)}."
    return "No claim: what was timed is too noisy." if timed else "Nothing was timed here."


def shared(timing) -> str:
    """On how many threads it ran, where that was tried."""
    return f" on {units.plural(timing.threads, 'thread')}" if timing.threads else ""


def read(seconds: float) -> float:
    """Seconds as they are written."""
    return float(f"{seconds:.3g}")


def rows_of(comparison, nbytes: float) -> list[Row]:
    """What is live, slowest first; then for each card what is modelled and bounded."""
    live = sorted(comparison.timings, key=lambda timing: -timing.median)
    rows = [Row(t.version, "live", t.median, t.quartiles, t.backend, t.noise) for t in live]
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
