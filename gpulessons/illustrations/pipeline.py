"""Pictures of work divided among many: who does what when, and which way of dividing is quickest.

A timetable is a list of Tasks (workers/schedules.py), simulated.
"""

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes
from gpulessons.plots.forms import key, listed, timetables, write
from gpulessons.plots.picture import DARK, GREEN, INK, ORANGE, PURPLE, SKY, Picture, blank
from gpulessons.workers.schedules import BACKWARD, FORWARD, WEIGHTS, waiting

from .drawings import Drawing, drawing

COLORS = {FORWARD: SKY, BACKWARD: ORANGE, WEIGHTS: PURPLE}
CLOSE = 1.1  # times as long as the quickest way: no model of this kind tells them apart


def gantt(runs) -> Picture:
    """A row for each stage, a block for each task; what stays empty is the bubble. {name: tasks}"""
    shares = [f"{name}: {waiting(tasks):.0%}" for name, tasks in runs.items()]
    title = f"How much of the time do the workers wait? {'; '.join(shares)}."
    rows, spoken = {}, []
    for name, tasks in runs.items():
        in_order = sorted(tasks, key=lambda task: task.start)
        stages = {f"worker {n}": [task for task in in_order if task.stage == n]
                  for n in sorted({task.stage for task in tasks})}
        rows[name] = {stage: [(t.start, t.stop - t.start, COLORS[t.kind] + "80" * t.chunk,
                               t.micro_batch) for t in own] for stage, own in stages.items()}
        orders = {stage: " ".join(f"{t.kind}{t.micro_batch}" for t in own)
                  for stage, own in stages.items()}
        spoken.append(f"{name}, {listed(orders)}.")
    split = any(task.kind == WEIGHTS for tasks in runs.values() for task in tasks)
    thin = any(task.chunk for tasks in runs.values() for task in tasks)
    what = ("time (simulated; a forward: 1)    blue: forward, orange: backward"
            + ", purple: W" * split + ", pale: stage 2" * thin)
    figure, _ = timetables(rows, what, title=title)
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


def cuts() -> Drawing:
    """A network of four layers and a batch for four workers, cut in three ways: who has what."""
    return drawing("three_cuts")


def cut_layers() -> Drawing:
    """relu(x @ a) @ b by two workers: a cut by columns, b by rows, each number where it is."""
    return drawing("columns_then_rows")
