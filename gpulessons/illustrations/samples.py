"""Pictures of samples: one call timed many times, and clocks that were read wrongly.

Samples are times in seconds, or a Timing, which keeps its own.
"""

from statistics import fmean, median

import numpy as np

from gpulessons import units
from gpulessons.measure.results import quartiles
from gpulessons.plots.axes import beside, log_axes, name_rows, two_ticks, written
from gpulessons.plots.forms import dots
from gpulessons.plots.picture import BLUE, COLORS, INK, PURPLE, Picture, blank

BINS = 40


def in_order(samples) -> Picture:
    """Every sample as a dot, first to last: on a log scale the unlucky ones show as well."""
    times, color = read(samples)
    factor = units.ratio(max(times) / min(times)).rstrip("×")
    count = units.plural(len(times), "sample")
    title = f"{count}: the slowest took {factor} times as long as the fastest."
    figure, axes = blank(height=3.2, title=title)
    axes.plot(range(1, len(times) + 1), times, ".", color=color, markersize=4, alpha=0.5)
    axes.set_xlabel("call, in order")
    log_axes(axes, y=("time", units.seconds))
    two_ticks(axes.yaxis)
    return Picture(figure, f"{title} {summary(times)}")


def histogram(samples, like=None) -> Picture:
    """How many samples took how long; median, mean and the middle half, a tick for each sample.

    The axis ends where the pile does, and says how many lie beyond. like: the samples that choose
    it, when several histograms shall be comparable.
    """
    times, color = read(samples)
    title = (
        f"{units.plural(len(times), 'sample')}: the median is {units.seconds(median(times))}; "
        f"the slowest took {units.ratio(max(times) / median(times))} that."
    )
    figure, axes = blank(height=3.4, title=title)
    start, end = pile(read(like or samples)[0])
    near = [time for time in times if start <= time <= end]
    tallest = max(1, axes.hist(near, BINS, range=(start, end), color=color, alpha=0.6)[0].max())
    axes.plot(near, [-0.06 * tallest] * len(near), "|", color=color, markersize=9, alpha=0.5)
    axes.axvspan(*np.clip(quartiles(times), start, end), color=color, alpha=0.2, linewidth=0)
    for name, value, height, style in (("median", median(times), 1.22 * tallest, "-"),
                                       ("mean", fmean(times), 1.08 * tallest, ":")):
        words = f"{name} {units.seconds(value)}"
        if value > end:
            beside(axes, f"{words} →", end, height, left=True)
        else:
            axes.plot([value, value], [0, height], style, color=INK, linewidth=1.5)
            beside(axes, words, value, height, left=value > start + 0.75 * (end - start))
    beyond = sum(time > end for time in times)
    more = f"; {units.count(beyond)} beyond, up to {units.seconds(max(times))}" if beyond else ""
    axes.set(xlim=(start, end), ylim=(-0.13 * tallest, 1.4 * tallest), ylabel="samples")
    axes.set_xlabel(f"time of one call, a tick for each; shaded: the middle half{more}")
    in_seconds(axes.xaxis)
    axes.yaxis.get_major_locator().set_params(integer=True)
    return Picture(figure, f"{title} {summary(times)}")


def pile(times):
    """The part of the axis that most samples share: with the whole tail no shape would show."""
    low, high = quartiles(times)
    end = min(max(times), max(high + 3 * (high - low), 1.1 * median(times)))
    start = min(times)
    room = 0.05 * (end - start) or 0.05 * start
    return start - room, end + room


def stopped(returned: float, done: float, where: str) -> Picture:
    """A clock that stopped when the call returned, above the work that went on until `done`."""
    title = f"The clock stopped {units.ratio(done / returned).rstrip('×')} times too early."
    figure, axes = blank(height=1.9, title=title)
    rows = {"your clock": (returned, INK), where: (done, PURPLE)}
    for y, (seconds, color) in enumerate(rows.values()):
        axes.barh(y, seconds, height=0.6, color=color)
        beside(axes, units.seconds(seconds), seconds, y)
    name_rows(axes, rows)
    axes.set(xlim=(0, 1.2 * done), xlabel="time since the call")
    in_seconds(axes.xaxis)
    spoken = f"Your clock: {units.seconds(returned)}; {where}: {units.seconds(done)}."
    return Picture(figure, f"{title} {spoken}")


def lies(readings) -> Picture:
    """{what went wrong: (seconds read, seconds true)}, as dots: too short left, too long right;
    ValueError where there is nothing to draw."""
    if not readings:
        raise ValueError("Give at least one reading: {what went wrong: (read, true)}.")
    factors = {what: read / true for what, (read, true) in readings.items()}
    lowest, highest = min(factors.values()), max(factors.values())
    title = f"One machine, {len(factors)} readings: from {off(lowest)} to {off(highest)}."
    rows = [(f"{what}: {off(factor)}", factor, {"color": PURPLE})
            for what, factor in factors.items()]
    return dots(rows, "reading over truth", units.ratio, title=title, one=True)


def off(factor):
    """A reading over the truth, in words: `0.004` is "250× too short"."""
    if 0.9 <= factor <= 1.1:
        return "right within 10 %"
    return f"{units.ratio(max(factor, 1 / factor))} too {'long' if factor > 1 else 'short'}"


def read(samples):
    """(times, color) of a Timing or of plain seconds; ValueError where there are none."""
    color = COLORS.get(getattr(samples, "backend", None), BLUE)
    times = list(getattr(samples, "samples", samples))
    if not times:
        raise ValueError("There are no samples to draw: time something first.")
    return times, color


def summary(times):
    """The five numbers of a distribution, for those who cannot see it."""
    low, high = map(units.seconds, quartiles(times))
    return (
        f"Median {units.seconds(median(times))}, mean {units.seconds(fmean(times))}, middle half "
        f"{low} to {high}, all from {units.seconds(min(times))} to {units.seconds(max(times))}."
    )


def in_seconds(axis):
    """Labels at round times of a linear axis, few enough to stand side by side."""
    axis.get_major_locator().set_params(nbins=6)
    written(axis, units.seconds)
