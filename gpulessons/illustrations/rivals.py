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
        about = {"bounded": "at least ", "modelled": "≈ "}.get(self.kind, "")
        digits = 2 if self.kind in ("modelled", "published") else 3  # as many as are known
        time = units.seconds(float(f"{self.seconds:.{digits}g}"))
        return f"{about}{time}, {self.kind}" + (f" ({self.noise})" if self.noise else "")


def least(nbytes: float, card: str = "T4") -> float:
    """Seconds that no card of this name undercuts, whatever moves so many bytes (bounded)."""
    return sheet(card).least(0, nbytes)


def rows_of(comparison, nbytes: float) -> list[Row]:
    """What is live, slowest first; then for each card what is modelled, published and bounded."""
    live = sorted(comparison.timings, key=lambda timing: -timing.median)
    rows = [Row(t.version, "live", t.median, t.quartiles, t.backend, t.noise) for t in live]
    streams = published("bandwidth by occupancy", what="scale")
    for card in CARDS:
        paper = comparison.on_paper(card).estimates if card in comparison.gpus else ()
        rows += [Row(card, "modelled", t.median, t.quartiles) for t in paper]
        reached = max((row.value for row in streams if row.device == card), default=0)
        if reached:
            rows.append(Row(f"{card}, a scale kernel's bytes/s", "published", nbytes / reached))
        rows.append(Row(card, "bounded", least(nbytes, card)))
    return rows


def apart(comparison) -> tuple[float, float, float] | None:
    """How many times this CPU's best a Python loop takes: (low, median, high), as far apart as the
    middle halves of both allow; None where one was not timed."""
    best, loop = both(comparison)
    if not (best and loop):
        return None
    (quick, slow), (least_loop, most_loop) = best.quartiles, loop.quartiles
    return least_loop / slow, loop.median / best.median, most_loop / quick


def both(comparison):
    """This CPU's best timing and that of the Python loop, or None."""
    loops = [timing for timing in comparison.timings if timing.version == "Python loop"]
    return comparison.best("host", "torch_cpu"), next(iter(loops), None)


def headline(comparison, nbytes: float) -> str:
    """How many times faster a T4 can be at most, by the slower end of each middle half."""
    named = dict(zip(("this CPU's best", "its Python loop"), both(comparison), strict=True))
    most = {name: float(f"{each.quartiles[1] / least(nbytes):.2g}")
            for name, each in named.items() if each}
    told = [f"{units.ratio(times).rstrip('×')} times as fast as {name}"
            for name, times in most.items()]
    return f"A T4 is at most {' and '.join(told)}." if told else "Nothing was timed here."


def rivals(comparison, nbytes: float) -> Picture:
    """Live times filled, modelled ones hatched with their interval, published ones open; of what is
    bounded one end, and an arrow to where the time lies.

    comparison: versions of one op at one size. nbytes: what one call moves.
    """
    title, rows = headline(comparison, nbytes), rows_of(comparison, nbytes)
    figure, axes = blank(width=8.2, height=1.3 + 0.36 * len(rows), title=title)
    for y, row in enumerate(rows):
        draw(axes, y, row)
    name_rows(axes, [row.name for row in rows])
    times = [time for row in rows for time in (row.seconds, *row.ends)]
    axes.set_xlim(min(times) / 2, 12 * max(times))
    log_axes(axes, x=("time of one call", units.seconds))
    return Picture(figure, f"{title} {listed({f'{r.name} ({r.kind})': r.words for r in rows})}.")


def draw(axes, y: float, row: Row) -> None:
    color, marker = COLORS[row.backend], MARKERS[row.backend]
    if row.kind == "bounded":
        axes.plot(row.seconds, y, "|", color=color, markersize=14, markeredgewidth=2)
        axes.annotate("", (1.6 * row.seconds, y), (row.seconds, y),
                      arrowprops={"arrowstyle": "-|>", "color": color})
    elif row.kind == "modelled":
        axes.plot(row.ends, [y, y], color=INK, linewidth=1, marker="|")
        axes.scatter(row.seconds, y, 70, marker=marker, facecolor="none", edgecolor=color,
                     hatch=2 * HATCH)
    else:
        filled = color if row.kind == "live" else "none"
        axes.plot(row.ends, [y] * len(row.ends), color=color, linewidth=4, alpha=0.4)
        axes.plot(row.seconds, y, marker, color=color, markersize=8, markerfacecolor=filled)
    right = 1.6 * row.seconds if row.kind == "bounded" else max((row.seconds, *row.ends))
    beside(axes, row.words, right, y)
