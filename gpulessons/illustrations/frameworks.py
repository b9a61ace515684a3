"""Pictures of what a framework does: its layers, eager and compiled code, six networks, small sums.
"""

from functools import partial

from gpulessons import units
from gpulessons.plots import forms
from gpulessons.plots.forms import LOOKS, percent, stacked
from gpulessons.plots.picture import BLUE, COLORS, GREEN, INK, MARKERS, VERMILLION, Picture
from warplens.tables import Table

from .drawings import drawing

KINDS = {"compute": BLUE, "launch and Python": VERMILLION, "memory": GREEN}  # as in timelines
# From a line of Python down to what computes, one box for each layer.
layers = partial(drawing, "layers")
# Trips to memory: three of each operator when eager, three in all in one loop. A read is one;
# a write is two, as its line is fetched before it is written back.
passes = partial(drawing, "passes")
LONG = {"year": 365 * 86_400, "day": 86_400, "hour": 3600, "minute": 60}  # seconds


def shares(steps) -> Picture:
    """What the time of each step went into, in the colors of a timeline: {step: {kind: share}}."""
    computing = ", ".join(f"{percent(split['compute'])} of the {name}"
                          for name, split in steps.items())
    return stacked(steps, KINDS, percent, title=f"Compute is {computing}.",
                   what="share of the step, while the profiler watches")


def dots(times, *, title: str, what: str = "time of one call") -> Picture:
    """One dot for each of {name: seconds} on a log scale, in the color of who computes: PyTorch on
    a CPU or on a GPU, else the CPU by itself."""
    rows = []
    for name, time in times.items():
        torch = "torch_gpu" if "GPU" in name else "torch_cpu"
        backend = torch if "torch" in name.lower() else "host"
        rows.append((name, time, {"marker": MARKERS[backend], "color": COLORS[backend]}))
    return forms.dots(rows, what, units.seconds, title=title)


def launches(rows) -> Picture:
    """Published time from one small kernel to the next, on each card from a stream and from a CUDA
    graph. The title says how much more often a graph starts one."""
    times: dict = {}
    for row in rows:
        way = "graph" if "graph" in row.what else "stream"
        times.setdefault(row.device, {})[way] = row.sizes["bytes"] / row.value
    gains = [each["stream"] / each["graph"] for each in times.values()]
    sources = "; ".join(dict.fromkeys(row.citation for row in rows))
    looks = {"stream": {"color": BLUE}, "graph": {"color": VERMILLION, "marker": "^"}}
    return forms.dots(
        [(f"{card}, from a {way}", seconds, {**looks[way], "markerfacecolor": "none"})
         for card, each in times.items() for way, seconds in each.items()],
        f"from one small kernel to the next, published:\n{sources}", units.seconds,
        title=f"From a CUDA graph small kernels start {units.ratio(min(gains))} to "
        f"{units.ratio(max(gains))} as often as from a stream.")


def fused(rows) -> Picture:
    """PyTorch's eager time over that of fused kernels, published, a line for each op and way. The
    title sets ops that eager PyTorch does in several kernels against those that have one there."""
    named, gains, looks = [], {True: [], False: []}, iter(LOOKS)
    for op, phase in dict.fromkeys((row.subject, row.what.partition(": ")[2]) for row in rows):
        times: dict = {}
        for row in rows:
            way, _, what = row.what.partition(": ")
            if (row.subject, what) == (op, phase):
                times.setdefault(way, {})[row.sizes["columns"]] = row.value
        eager = next(way for way in times if way.startswith("PyTorch"))
        for way in (way for way in times if way != eager):
            gain = [times[eager][n] / time for n, time in times[way].items()]
            gains["an op at a time" in eager] += gain
            name = op.replace("_", " ") + " and back" * ("back" in phase)
            named.append((f"{name}, {way} (published)", [*times[way]], gain,
                          {**next(looks), "markerfacecolor": "none"}))
    several, lone = (f"{units.ratio(min(each))} to {units.ratio(max(each))}"
                     for each in gains.values())
    sources = "; ".join(dict.fromkeys(row.citation for row in rows))
    picture = forms.log_lines(
        named, ("columns", units.count), ("eager time over fused", units.ratio), base=2,
        title=f"Fused is {several} as fast where PyTorch runs an operation at a time, and {lone} "
        f"where it has one kernel already. Published: {sources}.")
    picture.axes.axhline(1, color=INK, linewidth=1)
    return picture


def saved(steps, microseconds: float, calls: int, count: float) -> Table:
    """What a saving in each call is worth to a training run, for networks of other widths.

    steps: {network: seconds of one of its steps}; microseconds: saved in each call; calls: in one
    step; count: steps of the run. Modelled: a product of three numbers, and a share.
    """
    gain = microseconds * 1e-6 * calls
    rows = [(name, duration(time * count),
             "more than all" if gain >= time else f"{100 * gain / time:.2g} %")
            for name, time in steps.items()]
    head = "network", "the whole run", "share saved"
    return Table(f"{duration(gain * count)} saved, modelled", head, rows)


def duration(seconds: float) -> str:
    """Seconds as people plan with them: in the longest of LONG of which there are two."""
    for name, length in LONG.items():
        if seconds >= 2 * length:
            return f"{units.three_digits(seconds / length)} {name}s"
    return units.seconds(seconds)
