"""Pictures of work divided among many: who does what when, and which way of dividing is quickest.

A timetable is a list of Tasks (workers/schedules.py), simulated or measured; they look alike, and
say which they are.
"""

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import LOOKS, cell, key, lines, listed, timetables, write
from gpulessons.plots.picture import DARK, GREEN, INK, ORANGE, PURPLE, SKY, Picture, blank
from gpulessons.workers.schedules import FORWARD, waiting

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
        rows[name] = {stage: [(t.start, t.stop - t.start, SKY if t.kind == FORWARD else ORANGE,
                               t.micro_batch) for t in own] for stage, own in stages.items()}
        orders = {stage: " ".join(f"{t.kind}{t.micro_batch}" for t in own)
                  for stage, own in stages.items()}
        spoken.append(f"{name}, {listed(orders)}.")
    unit = "simulated; 1: a micro-batch forward"
    if measured:
        unit = "measured; processes sharing one machine"
    figure, axes = timetables(rows, f"time ({unit})      blue: forward, orange: backward",
                              title=title)
    if measured:
        written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} {' '.join(spoken)}")


def efficiency(alone, piped, bubble, stages: int = 2) -> Picture:
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
    best, name, m = max((share, name, m) for name, shares in each.items()
                        for share, m in zip(shares, micros, strict=True))
    title = (f"{stages} workers do {best:.0%} useful work at best, {units.ratio(stages * best)} "
             f"the quickest single process, with {name} at M = {m}.")
    figure, axes = blank(height=4, title=title)
    log_axes(axes, x=("micro-batches, M", units.count), ticks=micros)
    axes.set(ylabel="share of useful work", ylim=(0, 1.05))
    written(axes.yaxis, "{:.0%}".format)
    thin = {"color": INK, "linewidth": 1}
    drawn = [("as one process", micros, [1 / stages] * len(micros), {**thin, "linestyle": "--"}),
             ("model: bubble", micros, formula, {**thin, "linestyle": ":"}),
             ("model: both losses", micros, small, thin)]
    drawn += [(f"{name}, measured", micros, shares, {**look, "linestyle": "-"})
              for (name, shares), look in zip(each.items(), LOOKS, strict=False)]
    lines(axes, drawn)
    spoken = {f"{name} with {m}": f"{share:.0%}" for name, shares in each.items()
              for share, m in zip(shares, micros, strict=True)}
    return Picture(figure, f"{title} Processes sharing one machine. {listed(spoken)}.")


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
    hues = dict(zip(models, (SKY, ORANGE, PURPLE, GREEN), strict=False))
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
            write(axes, batches[column], widths[row], name, color=DARK)
    looks = {name: {"color": hue} for name, hue in hues.items()}
    looks["faint: a close call"] = {"color": SKY, "alpha": 0.35}
    looks["empty: nothing fits"] = {"color": "none", "markeredgecolor": INK}
    key(figure, looks, columns=3)
    return Picture(figure, title)


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
