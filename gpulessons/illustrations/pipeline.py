"""Pictures of work divided among many: who does what when, and which way of dividing is quickest.

A timetable is a list of Tasks (workers/schedules.py), simulated or measured; they look alike, and
say which they are.
"""

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import cell, key, listed, rectangle, timetables, write
from gpulessons.plots.picture import DARK, GREEN, INK, ORANGE, PURPLE, SKY, Picture, blank
from gpulessons.workers.schedules import BACKWARD, FORWARD, WEIGHTS, waiting

WORKERS = SKY, ORANGE, PURPLE, GREEN
COLORS = {FORWARD: SKY, BACKWARD: ORANGE, WEIGHTS: PURPLE}
CLOSE = 1.1  # times as long as the quickest way: no model of this kind tells them apart


def gantt(runs, title: str | None = None, *, measured: bool = False) -> Picture:
    """A row for each stage, a block for each task; what stays empty is the bubble.

    runs: {name: tasks}. title: another one than the shares of time in which the stages wait.
    measured: the times are seconds, of processes sharing one machine.
    """
    shares = [f"{name}: {waiting(tasks):.0%}" for name, tasks in runs.items()]
    title = title or f"How much of the time do the stages wait? {'; '.join(shares)}."
    rows, spoken = {}, []
    for name, tasks in runs.items():
        in_order = sorted(tasks, key=lambda task: task.start)
        stages = {f"stage {n}": [task for task in in_order if task.stage == n]
                  for n in sorted({task.stage for task in tasks})}
        rows[name] = {stage: [(t.start, t.stop - t.start, COLORS[t.kind],
                               f"{t.micro_batch}{'′' * t.chunk}") for t in own]
                      for stage, own in stages.items()}
        orders = {stage: " ".join(f"{t.kind}{t.micro_batch}" for t in own)
                  for stage, own in stages.items()}
        spoken.append(f"{name}, {listed(orders)}.")
    unit = "simulated; 1: a micro-batch forward"
    if measured:
        unit = "measured; processes sharing one machine"
    split = any(task.kind == WEIGHTS for tasks in runs.values() for task in tasks)
    colors = "blue: forward, orange: backward" + ", purple: W" * split
    figure, axes = timetables(rows, f"time ({unit})      {colors}", title=title)
    if measured:
        written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} {' '.join(spoken)}")


def winners(models, batches: np.ndarray, widths: np.ndarray) -> Picture:
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
    told = parts | {"a close call": close} | ({"nothing fits": ~fits} if not fits.all() else {})
    shares = ", ".join(f"{name} {part.mean():.0%}" for name, part in told.items())
    title = f"Which way is quickest, modelled, by a tenth or more? Of this map: {shares}."
    figure, axes = blank(height=4.4, title=title)
    hues = dict(zip(models, (DARK, PURPLE, GREEN, SKY, ORANGE), strict=False))
    colors = ListedColormap([to_rgba(hue, alpha) for hue in hues.values() for alpha in (1, 0.35)])
    drawn = np.where(fits, 2 * won + close, np.nan)
    axes.pcolormesh(batches, widths, drawn, cmap=colors, vmin=-0.5, vmax=2 * len(models) - 0.5,
                    shading="nearest", rasterized=True)
    log_axes(axes, x=("rows in the minibatch, of all workers", units.count),
             y=("width of the layers", units.count))
    for name, part in parts.items():
        if part.mean() > 0.03:  # its name at the place nearest to its middle
            places = np.argwhere(part)
            away = np.abs(places - places.mean(axis=0)).sum(axis=1)
            row, column = places[away.argmin()]
            color = "white" if hues[name] == DARK else DARK
            write(axes, batches[column], widths[row], name, color=color)
    looks = {name: {"color": hue} for name, hue in hues.items()}
    looks["faint: a close call"] = {"color": SKY, "alpha": 0.35}
    looks["empty: nothing fits"] = {"color": "none", "markeredgecolor": INK}
    key(figure, looks, columns=3)
    return Picture(figure, title)


def cuts() -> Picture:
    """A network of four layers and a batch for four workers, cut in three ways: who has what."""
    ways = {"the batch: data parallel": None, "between layers: pipeline": 0,
            "through each layer: tensor": 1}
    title = "Four workers, four colors: three places to cut the same network."
    figure, axes = blank(width=8.2, height=2.5, title=title)
    for n, (name, axis) in enumerate(ways.items()):
        write(axes, 9 * n + 3.5, -0.7, name)
        for worker in range(4):
            for row, column in np.ndindex(4, 4):
                if axis is None:  # each has all of it, small
                    corner = 9 * n + 3.7 * (worker % 2), 3.7 * (worker // 2)
                    place = corner[0] + 0.8 * column, corner[1] + 0.8 * row
                elif (row, column)[axis] == worker:
                    place = 9 * n + 1.8 * column, 1.8 * row
                else:
                    continue
                size = 0.7 if axis is None else 1.6
                rectangle(axes, *place, size, size, facecolor=WORKERS[worker], linewidth=0)
    axes.set(xlim=(-0.5, 25.8), ylim=(7.3, -1.4), aspect="equal")
    axes.set_axis_off()
    return Picture(figure, f"{title} A row of squares is a layer. Data parallel: every worker has "
                           "all of it. Pipeline: one layer each. Tensor: a quarter of each layer.")


def cut_layers(x: np.ndarray, a: np.ndarray, b: np.ndarray) -> Picture:
    """relu(x @ a) @ b by two workers: a cut by columns, b by rows, each number where it is."""
    half = a.shape[1] // 2
    h = np.maximum(x @ a, 0)
    parts = [h[:, own] @ b[own] for own in (slice(0, half), slice(half, None))]
    told = " + ".join(str(part[0]) for part in parts)
    title = f"Each worker has its columns of a, its rows of b, and a part of the result: {told}."
    figure, axes = blank(width=8.6, height=2.5, title=title)
    side = np.arange(a.shape[1]) >= half  # whose hidden number
    at = 0.0
    for before, name, matrix, whose in (
        ("", "x", x, -1), ("@", "a", a, side), ("→", "relu(x @ a)", h, side),
        ("@", "b", b, side[:, None]), ("→", "worker 0's", parts[0], 0),
        ("+", "worker 1's", parts[1], 1), ("=", "the sum", sum(parts), -1),
    ):
        at = draw_matrix(axes, at, matrix, name, np.broadcast_to(whose, matrix.shape), before)
    axes.set(xlim=(-0.1, at), ylim=(len(b) / 2 + 0.2, -len(b) / 2 - 1.1), aspect="equal")
    axes.set_axis_off()
    return Picture(figure, f"{title} Their sum: {sum(parts)[0]}. In between nothing is sent.")


def draw_matrix(axes, at, matrix, name, whose, before):
    """Draw the sign before a matrix, and the matrix, from `at` on; returns where it ends.

    whose: the worker of each number, -1 where all have it.
    """
    rows, columns = matrix.shape
    left, top = at + 1.4 * bool(before), -rows / 2
    write(axes, at + 0.7, 0, before, fontsize=12)
    write(axes, left + columns / 2, top - 0.3, name, va="bottom")
    for (row, column), value in np.ndenumerate(matrix):
        color = ("none", SKY, ORANGE)[int(whose[row, column]) + 1]
        cell(axes, left + column, top + row, value, color)
    return left + columns
