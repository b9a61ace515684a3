"""One op by a Python loop, by this CPU's best, and by a T4: live, modelled, bounded."""

from collections.abc import Sequence
from statistics import median

from gpulessons import units
from gpulessons.measure.results import quartiles
from gpulessons.plots.axes import beside, log_axes, name_rows
from gpulessons.plots.picture import COLORS, HATCH, INK, MARKERS, Picture, blank
from warplens.model.devices import sheet

CARD = "T4"  # it is lent for nothing: a reader can measure it


def at_most(comparison, nbytes: float) -> tuple[float, float, float] | None:
    """How many times as fast as this CPU's best the card may be: (low, median, high)."""
    if not (best := comparison.best("host", "torch_cpu")):
        return None
    quick, slow = best.quartiles
    low, middle, high = (read(each) / read(sheet(CARD).least(0, nbytes))
                         for each in (quick, best.median, slow))
    return low, middle, high


def rivals(comparison, nbytes: float, loop: Sequence[float]) -> Picture:
    """A comparison at one size; nbytes: what a call moves; loop: seconds of a Python loop. The
    title divides live medians by the least that the card needs: what made them late only lifts it,
    so "at most" holds of noisy ones as well."""
    best, floor = comparison.best("host", "torch_cpu"), sheet(CARD).least(0, nbytes)
    rows = [("a Python loop", "live", median(loop), quartiles(loop))]
    if best:
        kind = "live" + f", {best.noise}" * bool(best.noise)
        rows.append(("this CPU's best", kind, best.median, best.quartiles))
    title = " and ".join(
        f"{units.ratio(read(each) / read(floor)).rstrip('×')} times as fast as {name} "
        f"({units.seconds(each)} / {units.seconds(floor)})" for name, _, each, _ in rows[::-1])
    excluded = [name for name, _, each, _ in rows if each < 1000 * floor]
    asked = f"A thousand times? Not over {' or '.join(excluded)}: o" * bool(excluded)
    title = f"{asked or 'O'}ut of place, a {CARD} is at most {title}."
    paper = comparison.on_paper(CARD).estimates if CARD in comparison.gpus else ()
    rows += [(CARD, "modelled", t.median, t.quartiles) for t in paper]
    rows.append((CARD, "bounded", floor, (floor, 1.6 * floor)))
    figure, axes = blank(width=8.2, height=1.3 + 0.36 * len(rows), title=title)
    told = [draw(axes, y, *row) for y, row in enumerate(rows)]
    name_rows(axes, [row[0] for row in rows])
    log_axes(axes, x=("time of one call", units.seconds))
    axes.margins(x=0.25)  # room for the words
    return Picture(figure, f"{title} {'; '.join(told)}.")


def read(seconds: float) -> float:
    """Seconds as they are written."""
    return float(f"{seconds:.3g}")


def draw(axes, y: float, name: str, kind: str, seconds: float, ends: Sequence[float]) -> str:
    """A row, and what it says: live filled, modelled hatched, a bound with an arrow."""
    on = "gpu" if name == CARD else "host"
    color, marker = COLORS[on], MARKERS[on]
    words = f"{units.seconds(seconds)}, {kind}"
    if kind == "bounded":
        words = f"at least {words}"
        axes.plot(seconds, y, "|", color=color, markersize=14, markeredgewidth=2)
        axes.plot(ends, [y, y], color=color, marker=">", markevery=[1])
    elif kind == "modelled":
        words = f"≈ {units.seconds(float(f'{seconds:.2g}'))}, {kind}"  # as many digits as are known
        axes.plot(ends, [y, y], color=INK, linewidth=1, marker="|")
        axes.scatter(seconds, y, 70, marker=marker, facecolor="none", edgecolor=color,
                     hatch=2 * HATCH)
    else:
        axes.plot(ends, [y, y], color=color, linewidth=4, alpha=0.4)
        axes.plot(seconds, y, marker, color=color, markersize=8)
    beside(axes, words, max(seconds, *ends), y)
    return f"{name}: {words}"
