"""One op on this machine and on GPUs that may not be here: four kinds of figure, side by side."""

from typing import NamedTuple

from gpulessons import units
from gpulessons.evidence import published
from gpulessons.plots.axes import beside, log_axes, name_rows
from gpulessons.plots.forms import listed
from gpulessons.plots.picture import COLORS, HATCH, INK, MARKERS, Picture, blank
from warplens.model.devices import sheet

CARDS = "T4", "H200"  # one that is lent for nothing, and one that trains large models


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
        digits = 2 if self.kind in ("modelled", "published") else 3  # as many as are known
        time = units.seconds(float(f"{self.seconds:.{digits}g}"))
        about = {"bounded": "at least ", "modelled": "≈ "}.get(self.kind, "")
        return f"{about}{time}, {self.kind}" + f" ({self.noise})" * bool(self.noise)


def ends(comparison):
    """This CPU's best timing and that of the Python loop; None for what was not timed."""
    loops = [timing for timing in comparison.timings if timing.version == "Python loop"]
    return comparison.best("host", "torch_cpu"), next(iter(loops), None)


def apart(comparison) -> tuple[float, float, float] | None:
    """A Python loop's time over this CPU's best: (low, median, high), by the middle halves."""
    best, loop = ends(comparison)
    if not (best and loop):
        return None
    over = [b / a for a, b in zip(best.quartiles[::-1], loop.quartiles, strict=True)]
    return over[0], loop.median / best.median, over[1]


def rivals(comparison, nbytes: float) -> Picture:
    """Live times filled, modelled ones hatched with their interval, published ones open; of what is
    bounded one end, and an arrow to where the time lies. The title divides the slow ends of live
    times by the least that a T4 needs.

    comparison: versions of one op at one size. nbytes: what one call moves.
    """
    rows, named = rows_of(comparison, nbytes), zip(("this CPU's best", "its Python loop"),
                                                   ends(comparison), strict=True)
    most = {name: each.quartiles[1] / sheet("T4").least(0, nbytes) for name, each in named if each}
    told = (f"{units.ratio(float(f'{most[name]:.2g}')).rstrip('×')} times as fast as {name}"
            for name in most)
    title = f"A T4 is at most {' and '.join(told)}." if most else "Nothing was timed here."
    figure, axes = blank(width=8.2, height=1.3 + 0.36 * len(rows), title=title)
    for y, row in enumerate(rows):
        draw(axes, y, row)
    name_rows(axes, [row.name for row in rows])
    times = [time for row in rows for time in (row.seconds, *row.ends)]
    axes.set_xlim(min(times) / 2, 12 * max(times))
    log_axes(axes, x=("time of one call", units.seconds))
    return Picture(figure, f"{title} {listed({f'{r.name} ({r.kind})': r.words for r in rows})}.")


def rows_of(comparison, nbytes: float) -> list[Row]:
    """What is live, slowest first; then for each card what is modelled, published and bounded."""
    live = sorted(comparison.timings, key=lambda timing: -timing.median)
    rows = [Row(t.version, "live", t.median, t.quartiles, t.backend, t.noise) for t in live]
    for card in CARDS:
        paper = comparison.on_paper(card).estimates if card in comparison.gpus else ()
        rows += [Row(card, "modelled", t.median, t.quartiles) for t in paper]
        streams = published("bandwidth by occupancy", what="scale")
        if reached := max((row.value for row in streams if row.device == card), default=0):
            rows.append(Row(f"{card}, a scale kernel's bytes/s", "published", nbytes / reached))
        rows.append(Row(card, "bounded", sheet(card).least(0, nbytes)))
    return rows


def draw(axes, y: float, row: Row) -> None:
    color, marker, right = COLORS[row.backend], MARKERS[row.backend], max(row.seconds, *row.ends, 0)
    if row.kind == "bounded":
        axes.plot(row.seconds, y, "|", color=color, markersize=14, markeredgewidth=2)
        right = 1.6 * row.seconds
        axes.annotate("", (right, y), (row.seconds, y),
                      arrowprops={"arrowstyle": "-|>", "color": color})
    elif row.kind == "modelled":
        axes.plot(row.ends, [y, y], color=INK, linewidth=1, marker="|")
        axes.scatter(row.seconds, y, 70, marker=marker, facecolor="none", edgecolor=color,
                     hatch=2 * HATCH)
    else:
        axes.plot(row.ends, [y] * len(row.ends), color=color, linewidth=4, alpha=0.4)
        axes.plot(row.seconds, y, marker, color=color, markersize=8,
                  markerfacecolor=color if row.kind == "live" else "none")
    beside(axes, row.words, right, y)
