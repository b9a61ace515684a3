"""Pictures of what a framework does: its layers, eager and compiled code, six networks, small sums.

As in plots, every title is computed, and every picture says its message in words too.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.picture import (
    BLUE,
    COLORS,
    GREEN,
    INK,
    MARKERS,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Picture,
    blank,
    on,
)
from gpulessons.profiler.split import percents
from warplens.tables import Table

KINDS = {"compute": BLUE, "launch and Python": VERMILLION, "memory": GREEN}  # as in timelines
SPELLED = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def steps_table(rows: Sequence[Any], machine: str) -> Table:
    """Seconds per minibatch, CPU and GPU side by side, as measured here."""
    cells = []
    for row in rows:
        gpu = f"not measured: {row.why}" if row.gpu is None else units.seconds(row.gpu)
        cells.append([row.name, units.count(row.parameters), units.count(row.size.batch),
                      f"{units.seconds(row.cpu)}{' ~' * row.noisy}", gpu,
                      row.size.shrunk() or "in full"])  # fmt: skip
    head = ["network", "parameters", "batch", "CPU, every core", "GPU", "size"]
    notes = ["AlexNet and ResNet are the comparison's small ones, for pictures of 32 × 32."]
    if any(row.noisy for row in rows):
        notes.append("~ noisy: one step took at least 1.25 times as long as another. Run it again "
                     "before you compare it.")  # fmt: skip
    return Table(f"One step of training, measured here (live: {machine})", head, cells, notes)


# -- What a line of Python goes through.


def layers(
    line: str = "y = x @ w", cpu: str = "oneDNN, a BLAS", gpu: str = "cuDNN, cuBLAS"
) -> Picture:
    """From a line of Python down to what computes, one box for each layer."""
    from matplotlib.patches import FancyBboxPatch

    boxes = [
        ("Python", line, "your line, read by an interpreter", PURPLE),
        ("dispatcher", "which device? which type?", "notes the call for autograd", BLUE),
        ("operator", "aten::mm", "checks shapes, allocates the result", SKY),
        ("library kernel", f"CPU: {cpu}\nGPU: {gpu}", "loops in C++, assembly, CUDA", GREEN),
        ("hardware", "cores, or multiprocessors", "compute", ORANGE),
    ]
    title = f"{SPELLED[len(boxes) - 1]} layers lie under one line of Python."
    figure, axes = blank(width=7.4, height=4.3, title=title)
    axes.set_axis_off()
    axes.set(xlim=(0, 10.5), ylim=(-len(boxes) + 0.4, 0.6))
    for n, (name, inside, does, color) in enumerate(boxes):
        name = f"{n}  {name}" if n else name  # the layers are counted, and your line above them
        look = {"boxstyle": "round,pad=0.1", "facecolor": "none", "edgecolor": color}
        axes.add_patch(FancyBboxPatch((2.1, -n - 0.29), 4.4, 0.58, linewidth=2,
                                      mutation_aspect=0.3, **look))  # fmt: skip
        axes.text(1.8, -n, name, ha="right", va="center", color=INK, fontsize=10, weight="bold")
        axes.text(4.3, -n, inside, ha="center", va="center", color=INK, fontsize=10)
        axes.text(6.85, -n, does, ha="left", va="center", color=INK, fontsize=10)
        if n:
            axes.annotate("", (4.3, -n + 0.36), (4.3, -n + 0.66),
                          arrowprops={"arrowstyle": "->", "color": INK})  # fmt: skip
    spoken = "; ".join(f"{name}: {inside}, {does}" for name, inside, does, _ in boxes)
    return Picture(figure, f"{title} From above: {spoken}.".replace("\n", ", "))


def passes(operators: Sequence[str] = ("× 2", "+ 1", "sigmoid")) -> Picture:
    """Trips to memory: three of each operator when eager, three in all in one loop. A read is one;
    a write is two, as its line is fetched before it is written back.
    """
    count = len(operators)
    title = (
        f"Eager: {SPELLED[count].lower()} operators, {3 * count} trips to memory with each number: "
        "a write fetches its line first. Compiled: one loop, 3 trips."
    )
    figure, axes = blank(width=7.6, height=2.6, title=title)
    axes.set_axis_off()
    axes.set(xlim=(-0.6, 2 * count + 0.6), ylim=(-1.5, 0.8))
    draw_chain(axes, 0, "eager", operators, end=2 * count)
    draw_chain(axes, -1.2, "compiled", [", ".join(operators)], end=2 * count)
    spoken = " then ".join(operators)
    return Picture(figure, f"{title} The operators: {spoken}.")


def draw_chain(axes, y, name, steps, end):
    """memory → step → memory → … → memory, over the whole width."""
    axes.text(-0.45, y + 0.42, name, color=INK, fontsize=10, weight="bold")
    texts = ["memory"]
    for step in steps:
        texts += [step, "memory"]
    hop = end / (len(texts) - 1)
    boxes = []
    for n, text in enumerate(texts):
        around = {"boxstyle": "round,pad=0.35", "facecolor": "none", "linewidth": 2,
                  "edgecolor": GREEN if n % 2 else BLUE}  # fmt: skip
        boxes.append(axes.text(n * hop, y, text, ha="center", va="center", color=INK,
                               fontsize=10, bbox=around))  # fmt: skip
    for n, (left, right) in enumerate(pairwise(boxes)):
        axes.annotate("", ((n + 1) * hop, y), (n * hop, y), arrowprops={
            "arrowstyle": "<->" if n % 2 else "->",  # to memory: a line comes, and goes back
            "color": INK, "shrinkA": 3, "shrinkB": 3,
            "patchA": left.get_bbox_patch(), "patchB": right.get_bbox_patch(),
        })  # fmt: skip


# -- What was measured.


def six(rows: Sequence[Any]) -> Picture:
    """A step of each network: a square for the CPU, a diamond for the GPU, on a log scale."""
    both = [row for row in rows if row.gpu is not None]
    if both:
        ahead = [row.cpu / row.gpu for row in both]
        wins = sum(each > 1 for each in ahead)
        title = (
            f"The GPU is ahead in {wins} of {len(both)} networks: {units.ratio(min(ahead))} to "
            f"{units.ratio(max(ahead))} as fast as every core."
        )
    else:
        least, most = (choose(rows, key=lambda row: row.cpu) for choose in (min, max))
        title = (
            f"A step takes this CPU {units.seconds(least.cpu)} ({least.name}) to "
            f"{units.seconds(most.cpu)} ({most.name}). No GPU was measured."
        )
    figure, axes = blank(height=3.6, title=title)
    for y, row in enumerate(rows):
        style = {"markersize": 8, "linestyle": "none"}
        axes.plot(row.cpu, y, marker=MARKERS["torch_cpu"], color=COLORS["torch_cpu"], **style)
        axes.text(row.cpu, y - 0.32, units.seconds(row.cpu), ha="center", color=INK, fontsize=9)
        if row.gpu is not None:
            axes.plot(row.gpu, y, marker=MARKERS["torch_gpu"], color=COLORS["torch_gpu"], **style)
            axes.text(row.gpu, y - 0.32, units.seconds(row.gpu), ha="center", color=INK, fontsize=9)
    axes.set_yticks(range(len(rows)), [f"{row.name}, batch {row.size.batch}" for row in rows])
    times = [time for row in rows for time in (row.cpu, row.gpu) if time is not None]
    axes.set(xlim=(min(times) / 3, 3 * max(times)), ylim=(len(rows) - 0.5, -0.7))
    gpu = ", diamonds: GPU" if both else ""
    log_axes(axes, x=(f"squares: CPU, every core{gpu}; time of one step", units.seconds))
    return Picture(figure, f"{title} {'; '.join(map(repr, rows))}.")


def shares(steps: Mapping[str, Mapping[str, float]]) -> Picture:
    """What the time of each step went into, in the colors of a timeline: {step: {kind: share}}."""
    parts = {name: in_words(split) for name, split in steps.items()}
    said = [f"{words['compute']} of the {name}" for name, words in parts.items()]
    title = f"Compute is {', '.join(said)}."
    figure, axes = blank(height=1.75 + 0.5 * len(steps), title=title)
    for y, (name, split) in enumerate(steps.items()):
        start = 0.0
        for kind, share in split.items():
            look = {"color": KINDS[kind]} if kind in KINDS else {"fill": False, "edgecolor": INK}
            axes.barh(y, share, left=start, height=0.62, label="" if y else kind, **look)
            if share > 0.045:
                axes.text(start + share / 2, y, parts[name][kind], ha="center", va="center",
                          fontsize=10, color=on(KINDS[kind]) if kind in KINDS else INK)  # fmt: skip
            start += share
    axes.set_yticks(range(len(steps)), steps)
    axes.set(xlim=(0, 1), ylim=(len(steps) - 0.5, -0.5))
    axes.set_xlabel("share of the step, while the profiler watches")
    written(axes.xaxis, "{:.0%}".format)
    figure.legend(frameon=False, labelcolor=INK, fontsize=10, ncols=4, loc="outside lower center")
    spoken = "; ".join(
        f"{name}: " + ", ".join(f"{kind} {part}" for kind, part in words.items())
        for name, words in parts.items()
    )
    return Picture(figure, f"{title} {spoken}.")


def in_words(split: Mapping[str, float]) -> dict[str, str]:
    """{kind: its percent}: together 100, as in a timeline's title; small ones have a digit."""
    whole = percents(dict(split))
    return {kind: f"{share:.1%}" if 0 < share < 0.01 else f"{whole[kind]}%"
            for kind, share in split.items()}  # fmt: skip


def dots(times: Mapping[str, float], *, title: str, what: str = "time of one call") -> Picture:
    """One dot for each name on a log scale of seconds, in the color of who computes."""
    figure, axes = blank(height=1.3 + 0.42 * len(times), title=title)
    for y, (name, time) in enumerate(times.items()):
        backend = backend_of(name)
        axes.plot(time, y, MARKERS[backend], color=COLORS[backend], markersize=8)
        axes.annotate(units.seconds(time), (time, y), (10, 0), textcoords="offset points",
                      va="center", color=INK, fontsize=10)  # fmt: skip
    axes.set_yticks(range(len(times)), times)
    low, high = min(times.values()), max(times.values())
    axes.set(xlim=(low / 2, 6 * high), ylim=(len(times) - 0.5, -0.5))
    log_axes(axes, x=(what, units.seconds))
    spoken = "; ".join(f"{name}: {units.seconds(time)}" for name, time in times.items())
    return Picture(figure, f"{title} {spoken}.")


def backend_of(name: str) -> str:
    """Whose color it has: PyTorch's on a CPU or on a GPU, else that of the CPU by itself."""
    if "torch" not in name.lower():
        return "host"
    return "torch_gpu" if "GPU" in name else "torch_cpu"


def saved(steps: Mapping[str, float], microseconds: float, calls: int, count: float) -> Picture:
    """What a saving in each call is worth to a training run, for networks of other widths.

    steps: {network: seconds of one of its steps}; microseconds: saved in each call; calls: in one
    step; count: steps of the run. Modelled: a product of three numbers, and a share.
    """
    gain = microseconds * 1e-6 * calls
    shares = {name: gain / time for name, time in steps.items()}
    said = [f"{share_of(share)} of the {name}'s run" for name, share in shares.items()]
    title = f"{duration(gain * count)} saved: {', '.join(said)}."
    figure, axes = blank(height=1.6 + 0.55 * len(steps), title=title)
    for y, time in enumerate(steps.values()):
        axes.plot(time * count, y, "o", color=BLUE, markersize=8)
        axes.plot(gain * count, y, "D", markerfacecolor="none", markeredgecolor=ORANGE,
                  markeredgewidth=2, markersize=8)  # fmt: skip
        for what, above in ((time, 9), (gain, -18)):
            axes.annotate(duration(what * count), (what * count, y), (0, above), ha="center",
                          color=INK, textcoords="offset points", fontsize=10)  # fmt: skip
    axes.set_yticks(range(len(steps)), steps)
    every = [gain * count, *(time * count for time in steps.values())]
    axes.set(xlim=(min(every) / 3, 3 * max(every)), ylim=(len(steps) - 0.5, -0.7))
    low, high = axes.get_xlim()
    ticks = [tick for tick in PLANNED if low <= tick <= high][-7:]
    log_axes(axes, x=("dots: the run; diamonds: what is saved, modelled", duration), ticks=ticks)
    spoken = "; ".join(f"{name}: {duration(time * count)} in all" for name, time in steps.items())
    return Picture(figure, f"{title} {spoken}.")


def share_of(share):
    """In percent, or the remark that nobody can save so much."""
    return "more than all" if share >= 1 else f"{100 * share:.2g}%"


# Seconds at which an axis of durations is numbered.
PLANNED = (1e-9, 1e-6, 1e-3, 1, 60, 3600, 86_400, 7 * 86_400, 365 * 86_400,
           *(365 * 86_400 * 10**n for n in range(1, 9)))  # fmt: skip


def duration(seconds: float) -> str:
    """Seconds as people plan with them: minutes, hours, days, weeks, years."""
    for name, length in (("year", 365 * 86400), ("week", 7 * 86400), ("day", 86400), ("hour", 3600),
                         ("minute", 60)):  # fmt: skip
        if seconds == length:
            return f"1 {name}"
        if seconds >= 2 * length and name != "week":
            return f"{units.three_digits(seconds / length)} {name}s"
    return units.seconds(seconds)
