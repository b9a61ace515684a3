"""Pictures of access patterns: what skipping saves, when a memory only moves whole lines."""

from collections.abc import Mapping

from gpulessons import units
from gpulessons.measure.results import Absent, Timing, ratio
from gpulessons.plots.axes import log_axes
from gpulessons.plots.picture import COLORS, INK, MARKERS, Picture, blank
from gpulessons.plots.timings import label_ends

LINE = 64  # bytes of a CPU's cache line, nearly everywhere


def strides(
    entries: Mapping[int, Timing | Absent], limit: float, line: int = LINE
) -> Picture | str:
    """{stride: time} of copies that take each stride-th number of one float32 array, beside what
    they would take if only those numbers moved, and if whole lines did.

    limit: bytes/s of the memory, for the model. The title says what skipping saves by the stride at
    which each line holds a single number that is wanted. What could not be timed is left out; a
    sentence instead of a picture where nothing was.
    """
    timings = {s: t for s, t in entries.items() if isinstance(t, Timing)}
    if not timings:
        return f"Nothing to draw: {next(iter(entries.values())).why}."
    size, places = timings[min(timings)].size, sorted(timings)
    times = [timings[s].median for s in places]
    title = saved(timings, line // 4)
    figure, axes = blank(height=3.8, title=title)
    log_axes(axes, x=("stride", str), y=("time of one copy", units.seconds), ticks=places)
    backend = timings[places[0]].backend
    axes.plot(places, times, marker=MARKERS[backend], color=COLORS[backend], markersize=5)
    lines = [moved(size, s, line) / limit for s in places]
    alone = [moved(size, s, 4) / limit for s in places]
    axes.plot(places, lines, "-", color=INK, linewidth=1)
    axes.plot(places, alone, ":", color=INK, linewidth=1)
    label_ends(axes, [
        (places[-1], times[-1], "measured", COLORS[backend]),
        (places[-1], lines[-1], "model: whole lines", INK),
        (places[-1], alone[-1], "model: numbers alone", INK),
    ])  # fmt: skip
    spoken = "; ".join(f"stride {s}: {timings[s].words}" for s in places)
    return Picture(figure, f"{title} {units.count(size)} numbers; {spoken}.")


def saved(timings, per_line):
    """The message: how much less time for how many fewer numbers; of steady times only."""
    stride = max(s for s in timings if s <= per_line)
    if timings[stride].noise or timings[min(timings)].noise or min(timings) > 1:
        return "Too noisy here to say what skipping saves."
    share = 1 - timings[stride].median / timings[min(timings)].median
    time = f"{share:.0%} of the time" if share > 0.01 else "no time"
    return f"Skip {stride - 1} of {stride} numbers, and you save {time}."


def times(slow: Timing | Absent, fast: Timing | Absent) -> float | None:
    """How many times as long; None where either was not timed, or too noisily for a claim."""
    factor = ratio(slow, fast)
    return None if factor.refused else factor.median


def moved(size, stride, line=LINE):
    """Bytes that a strided copy moves at least: each line with a number in it, and the copies."""
    copied = -(-size // stride)
    return min(4 * size, line * copied) + 4 * copied
