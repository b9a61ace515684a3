"""Pictures of work divided among many: who does what when, and which way of dividing is quickest.

A timetable is a list of Tasks (workers/schedules.py), simulated or measured; they look alike, and
say which they are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.picture import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Picture,
    blank,
)
from gpulessons.plots.timings import label_ends
from gpulessons.workers.schedules import FORWARD, waiting

DARK = "#111111"  # words on these colors: 4.5 to 1 or better
SHADES = {True: SKY, False: ORANGE}  # forward, backward


def gantt(
    runs: Mapping[str, Sequence[Any]], title: str | None = None, *, measured: bool = False
) -> Picture:
    """A row for each stage, a block for each task; what stays empty is the bubble.

    runs: {name: tasks}. title: another one than the shares of time in which the stages wait.
    measured: the times are seconds, of processes sharing one machine.
    """
    shares = [f"{name}: {waiting(tasks):.0%}" for name, tasks in runs.items()]
    title = title or f"How much of the time do the stages wait? {'; '.join(shares)}."
    rows = [1 + max(task.stage for task in tasks) for tasks in runs.values()]
    until = max(task.stop for tasks in runs.values() for task in tasks)
    figure, panels = blank(
        height=1.3 + 0.42 * len(rows) + 0.3 * sum(rows), title=title, nrows=len(rows), sharex=True,
        squeeze=False, height_ratios=rows,
    )  # fmt: skip
    for axes, (name, tasks), stages in zip(panels[:, 0], runs.items(), rows, strict=True):
        for task in tasks:
            draw_task(axes, task, room=0.02 * until)
        axes.set(xlim=(0, 1.01 * until), ylim=(stages - 0.5, -0.5))
        axes.set_yticks(range(stages), [f"stage {stage}" for stage in range(stages)])
        axes.set_title(name, color=INK, fontsize=10.5, loc="left")
    unit = "simulated; 1: a micro-batch forward"
    if measured:
        unit = "measured; processes sharing one machine"
    axes.set_xlabel(f"time ({unit})      blue: forward, orange: backward")
    if measured:
        written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} {' '.join(spoken(*run) for run in runs.items())}")


def draw_task(axes, task, room):
    length, forward = task.stop - task.start, task.kind == FORWARD
    axes.barh(task.stage, length, left=task.start, height=0.84, color=SHADES[forward],
              edgecolor="white", linewidth=0.5)  # fmt: skip
    if length > room:
        axes.text(task.start + length / 2, task.stage, task.micro_batch, ha="center", va="center",
                  fontsize=8.5, color=DARK)  # fmt: skip


def spoken(name, tasks):
    """One timetable in words: each stage's order, as F0 F1 B0 …"""
    stages = 1 + max(task.stage for task in tasks)
    in_order = sorted(tasks, key=lambda task: task.start)
    orders = (
        f"stage {n}: {' '.join(f'{t.kind}{t.micro_batch}' for t in in_order if t.stage == n)}"
        for n in range(stages)
    )
    return f"{name}, {'; '.join(orders)}."


def efficiency(
    alone: Mapping[int, float],
    piped: Mapping[str, Mapping[int, float]],
    bubble: Callable[[int, int], float],
    stages: int = 2,
) -> Picture:
    """The share of the workers' time that is useful, against micro-batches.

    alone: {micro-batches: seconds on one worker}, piped: {schedule: {micro-batches: seconds}},
    bubble(stages, micro-batches): the formula's share. Useful is the least that one worker needed
    for the whole minibatch.
    """
    useful = min(alone.values())
    micros = np.array(sorted(alone))
    formula = 1 - np.array([bubble(stages, m) for m in micros])
    small = formula * useful / np.array([alone[m] for m in micros])
    lines = {name: [useful / (stages * times[m]) for m in micros] for name, times in piped.items()}
    best, name, m = max((e, n, m) for n, line in lines.items()
                        for e, m in zip(line, micros, strict=True))  # fmt: skip
    title = f"{stages} workers do {best:.0%} useful work at best, with {name} at M = {m}."
    figure, axes = blank(height=4, title=title)
    axes.plot(micros, formula, ":", color=INK, linewidth=1)
    axes.plot(micros, small, "-", color=INK, linewidth=1)
    ends = [(micros[-1], formula[-1], "model: bubble", INK),
            (micros[-1], small[-1], "model: bubble, and\nsmall micro-batches", INK)]  # fmt: skip
    for (name, line), color, marker in zip(lines.items(), (BLUE, VERMILLION), "os", strict=False):
        axes.plot(micros, line, "-", color=color, marker=marker, markersize=5)
        ends.append((micros[-1], line[-1], f"{name}, measured", color))
    log_axes(axes, x=("micro-batches, M", units.count), ticks=micros)
    axes.set(ylabel="share of useful work", ylim=(0, None))
    label_ends(axes, ends)
    written(axes.yaxis, "{:.0%}".format)
    figures = "; ".join(
        f"{name} with {m}: {e:.0%}"
        for name, line in lines.items() for e, m in zip(line, micros, strict=True)
    )  # fmt: skip
    return Picture(figure, f"{title} Processes sharing one machine. {figures}.")


def winners(
    models: Mapping[str, Callable[..., Any]], batches: np.ndarray, widths: np.ndarray
) -> Picture:
    """Which way is quickest, by a model, at each batch and width: a map.

    models: {name: seconds(batch, width)}.
    """
    from matplotlib.colors import ListedColormap

    seconds = np.array([[[model(b, d) for b in batches] for d in widths]
                        for model in models.values()])  # fmt: skip
    won = seconds.argmin(0)
    shares = [f"{name} {np.mean(won == n):.0%}" for n, name in enumerate(models)]
    title = f"Which way is quickest, modelled? Of this map: {', '.join(shares)}."
    figure, axes = blank(height=4.2, title=title)
    colors = ListedColormap([SKY, ORANGE, PURPLE, GREEN][: len(models)])
    axes.pcolormesh(batches, widths, won, cmap=colors, vmin=-0.5, vmax=len(models) - 0.5,
                    shading="nearest", rasterized=True)  # fmt: skip
    for n, name in enumerate(models):
        axes.plot([], [], "s", color=colors(n), markersize=9, label=name)
        if (won == n).mean() > 0.03:
            row, column = middle(won == n)
            axes.text(batches[column], widths[row], name, ha="center", va="center", color=DARK)
    axes.legend(loc="lower left", bbox_to_anchor=(1, 0), frameon=False, labelcolor=INK)
    log_axes(axes, x=("rows in the minibatch, of all workers", units.count),
             y=("width of the layers", units.count))  # fmt: skip
    return Picture(figure, title)


def middle(mask):
    """A place well inside a region: farthest from its edge, by peeling it."""
    inside = np.pad(mask, 1)
    while inside.any():
        last = inside
        inside = inside.copy()
        inside[1:-1, 1:-1] &= last[:-2, 1:-1] & last[2:, 1:-1] & last[1:-1, :-2] & last[1:-1, 2:]
    row, column = np.argwhere(last)[len(np.argwhere(last)) // 2]
    return row - 1, column - 1
