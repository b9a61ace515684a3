"""Pictures of work divided among many: who does what when, and which way of dividing is quickest.

A timetable is a list of Tasks (workers/schedules.py), simulated or measured; they look alike, and
say which they are.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import cell, lines, listed
from gpulessons.plots.picture import (
    BLUE,
    DARK,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Picture,
    blank,
)
from gpulessons.workers.schedules import FORWARD, waiting

SHADES = {True: SKY, False: ORANGE}  # forward, backward
CLOSE = 1.1  # times as long as the quickest way: no model of this kind tells them apart


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
    )
    for axes, (name, tasks), stages in zip(panels[:, 0], runs.items(), rows, strict=True):
        draw_tasks(axes, tasks, until)
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


def draw_tasks(axes, tasks, until):
    """A block for each task, a little apart, and its number where that has room in it."""
    digit, gap = until / 80, until / 800  # of a figure's width
    for stage, forward in {(task.stage, task.kind == FORWARD) for task in tasks}:
        spans = [(task.start, max(task.stop - task.start - gap, gap)) for task in tasks
                 if (task.stage, task.kind == FORWARD) == (stage, forward)]
        axes.broken_barh(spans, (stage - 0.42, 0.84), color=SHADES[forward], linewidth=0)
    for task in tasks:
        if task.stop - task.start > digit * len(str(task.micro_batch)):
            axes.text((task.start + task.stop) / 2, task.stage, task.micro_batch, ha="center",
                      va="center", fontsize=9, color=DARK)


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
    each = {name: [useful / (stages * times[m]) for m in micros] for name, times in piped.items()}
    best, name, m = max((e, n, m) for n, line in each.items()
                        for e, m in zip(line, micros, strict=True))
    gain = units.ratio(stages * best)
    title = (f"{stages} workers do {best:.0%} useful work at best, {gain} the quickest single "
             f"process, with {name} at M = {m}.")
    figure, axes = blank(height=4, title=title)
    log_axes(axes, x=("micro-batches, M", units.count), ticks=micros)
    axes.set(ylabel="share of useful work", ylim=(0, 1.05))
    written(axes.yaxis, "{:.0%}".format)
    thin = {"color": INK, "linewidth": 1}
    drawn = [("as one process", micros, [1 / stages] * len(micros), {**thin, "linestyle": "--"}),
             ("model: bubble", micros, formula, {**thin, "linestyle": ":"}),
             ("model: both losses", micros, small, thin)]
    for (name, line), color, marker in zip(each.items(), (BLUE, VERMILLION), "os", strict=False):
        drawn.append((f"{name}, measured", micros, line, {"color": color, "marker": marker}))
    lines(axes, drawn)
    figures = {f"{name} with {m}": f"{e:.0%}"
               for name, line in each.items()
               for e, m in zip(line, micros, strict=True)}
    return Picture(figure, f"{title} Processes sharing one machine. {listed(figures)}.")


def winners(
    models: Mapping[str, Callable[..., Any]], batches: np.ndarray, widths: np.ndarray
) -> Picture:
    """Which way is quickest, by a model, at each batch and width: a map.

    models: {name: seconds(batch, width)}, inf where it does not fit. Faint where the next one is
    within a tenth; empty where nothing fits.
    """
    from matplotlib.colors import ListedColormap, to_rgba

    seconds = np.array([[[model(b, d) for b in batches] for d in widths]
                        for model in models.values()])
    won, (best, second) = seconds.argmin(0), np.sort(seconds, 0)[:2]
    fits, close = np.isfinite(best), np.isfinite(best) & (second < CLOSE * best)
    parts = {name: (won == n) & fits & ~close for n, name in enumerate(models)}
    parts |= {"a close call": close} | ({"nothing fits": ~fits} if not fits.all() else {})
    shares = ", ".join(f"{name} {part.mean():.0%}" for name, part in parts.items())
    title = f"Which way is quickest, modelled, by a tenth or more? Of this map: {shares}."
    figure, axes = blank(height=4.4, title=title)
    hues = [SKY, ORANGE, PURPLE, GREEN][: len(models)]
    colors = ListedColormap([to_rgba(hue, alpha) for hue in hues for alpha in (1, 0.35)])
    drawn = np.where(fits, 2 * won + close, np.nan)
    axes.pcolormesh(batches, widths, drawn, cmap=colors, vmin=-0.5, vmax=2 * len(models) - 0.5,
                    shading="nearest", rasterized=True)
    for hue, name in zip(hues, models, strict=True):
        axes.plot([], [], "s", color=hue, markersize=9, label=name)
        if parts[name].mean() > 0.03:
            row, column = middle(parts[name])
            axes.text(batches[column], widths[row], name, ha="center", va="center", color=DARK)
    axes.plot([], [], "s", color=hues[0], alpha=0.35, markersize=9, label="faint: a close call")
    axes.plot([], [], "s", color="none", markeredgecolor=INK, markersize=9,
              label="empty: nothing fits")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, labelcolor=INK)
    log_axes(axes, x=("rows in the minibatch, of all workers", units.count),
             y=("width of the layers", units.count))
    return Picture(figure, title)


def middle(mask):
    """A place well inside a region: of all its places the one nearest to their middle."""
    places = np.argwhere(mask)
    return places[np.abs(places - places.mean(axis=0)).sum(axis=1).argmin()]


def cut_layers(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> Picture:
    """relu(x @ a) @ b by two workers: a cut by columns, b by rows, each number where it is."""
    half = a.shape[1] // 2
    h = np.maximum(x @ a, 0)
    parts = [h[:, own] @ b[own] for own in (slice(0, half), slice(half, None))]
    told = " + ".join(str(part[0]) for part in parts)
    title = f"Each worker has its columns of a, its rows of b, and a part of the result: {told}."
    figure, axes = blank(width=8.6, height=2.5, title=title)
    side = np.arange(a.shape[1]) >= half  # whose hidden number
    at = draw_matrix(axes, 0, x, "x", np.full(x.shape, -1))
    at = draw_matrix(axes, at, a, "a", np.tile(side, (len(a), 1)), "@")
    at = draw_matrix(axes, at, h, "relu(x @ a)", side[None], "→")
    at = draw_matrix(axes, at, b, "b", np.tile(side[:, None], (1, b.shape[1])), "@")
    for worker, part in enumerate(parts):
        at = draw_matrix(axes, at, part, f"worker {worker}'s", np.full(part.shape, worker),
                         "+" if worker else "→")
    at = draw_matrix(axes, at, sum(parts), "the sum", np.full(x.shape, -1), "=")
    axes.set(xlim=(-0.1, at), ylim=(len(b) / 2 + 0.2, -len(b) / 2 - 1.1), aspect="equal")
    axes.set_axis_off()
    return Picture(figure, f"{title} Their sum: {sum(parts)[0]}. In between nothing is sent.")


def draw_matrix(axes, at, matrix, name, whose, before=""):
    """Draw the sign before a matrix, and the matrix, from `at` on; returns where it ends.

    whose: the worker of each number, -1 where all have it.
    """
    rows, columns = matrix.shape
    left, top = at + 1.4 * bool(before), -rows / 2
    axes.text(at + 0.7, 0, before, ha="center", va="center", color=INK, fontsize=12)
    axes.text(left + columns / 2, top - 0.3, name, ha="center", va="bottom", color=INK, fontsize=10)
    for (row, column), value in np.ndenumerate(matrix):
        color = ("none", SKY, ORANGE)[int(whose[row, column]) + 1]
        cell(axes, left + column, top + row, value, color)
    return left + columns
