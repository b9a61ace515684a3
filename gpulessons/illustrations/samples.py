"""Pictures of samples, in seconds: one call timed many times, and readings that are wrong."""

from collections.abc import Mapping, Sequence
from statistics import median

from gpulessons import units
from gpulessons.measure.results import quartiles
from gpulessons.plots.axes import log_axes, two_ticks, written
from gpulessons.plots.forms import dots
from gpulessons.plots.picture import BLUE, Picture, blank


def in_order(times: Sequence[float]) -> Picture:
    """Every sample as a dot, first to last: on a log scale the unlucky ones show as well."""
    factor = units.ratio(max(times) / min(times)).rstrip("×")
    bad = sum(time > 2 * median(times) for time in times)
    title = (f"{len(times):,} samples: {bad:,} took more than twice the median; the slowest took "
             f"{factor} times as long as the fastest.")
    figure, axes = blank(height=3.2, title=title)
    axes.plot(range(1, len(times) + 1), times, ".", color=BLUE, markersize=4, alpha=0.5)
    axes.set_xlabel("call, in order")
    log_axes(axes, y=("time", units.seconds))
    two_ticks(axes.yaxis)
    middle, low, high = map(units.seconds, (median(times), *quartiles(times)))
    return Picture(figure, f"{title} Median {middle}, middle half {low} to {high}.")


def off(factor: float) -> str:
    """A reading over what was asked for, in words: `0.004` is "250× too short"."""
    if 0.9 <= factor <= 1.1:
        return "right within 10 %"
    return f"{units.ratio(max(factor, 1 / factor))} too {'long' if factor > 1 else 'short'}"


def told(read: float, asked: float) -> float:
    """Print a reading beside what was asked for, both in seconds; the one over the other."""
    print(f"read {units.seconds(read)} instead of {units.seconds(asked)}: {off(read / asked)}")
    return read / asked


def side_by_side(factors: Mapping[str, float]) -> Picture:
    """{a way to a wrong number: what was read over what was asked for}, a row each."""
    by = [max(factor, 1 / factor) for factor in factors.values()]
    title = (f"{len(by)} clocks of one machine, off by "
             f"{units.ratio(min(by))} to {units.ratio(max(by))}.")
    rows = [(way, factor, {"color": BLUE}) for way, factor in factors.items()]
    picture = dots(rows, "what was read over what was asked for", off, title=title, one=True)
    written(picture.axes.xaxis, units.ratio)
    return picture
