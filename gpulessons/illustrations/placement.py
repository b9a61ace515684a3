"""Pictures of where an embedding's table lies: who worked when, and what a model makes of it."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.models.placement import break_even, largest_rows, step_seconds
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
    on,
)
from gpulessons.plots.timings import label_ends

STAGES = {"gather": SKY, "send": PURPLE, "dense": ORANGE, "fetch": PURPLE, "update": GREEN}
LINES = {"all CPU": BLUE, "all GPU": VERMILLION, "hybrid": GREEN}
WORKERS = "sparse", "dense"


def timetable(runs: Mapping[str, Any], batches: int = 5) -> Picture:
    """Two rows for each run, its workers, and a block for each stage of its first batches.

    runs: {name: hybrid.Run}. Measured; what stays empty is somebody waiting.
    """
    fast = sorted(runs, key=lambda name: -runs[name].examples_per_second)
    rates = [f"{name} {units.count(runs[name].examples_per_second)}" for name in fast]
    title = f"Examples per second: {'; '.join(rates)}."
    first = {name: [t for t in run.tasks if t.batch < batches] for name, run in runs.items()}
    until = max(task.stop for tasks in first.values() for task in tasks)
    figure, panels = blank(width=8.2, height=1.2 + 1.1 * len(runs), title=title, nrows=len(runs),
                           sharex=True, squeeze=False)  # fmt: skip
    for axes, (name, run) in zip(panels[:, 0], runs.items(), strict=True):
        for task in first[name]:
            draw_task(axes, task, gap=0.002 * until)
        axes.set(xlim=(0, 1.01 * until), ylim=(1.5, -0.5))
        axes.set_yticks(range(2), WORKERS)
        axes.set_title(f"{name} ({run.where})", color=INK, fontsize=10, loc="left")
    stages = {task.stage for tasks in first.values() for task in tasks}
    for stage in (name for name in ("gather", "dense", "update", "send") if name in stages):
        axes.plot([], [], "s", color=STAGES[stage], markersize=9,
                  label="send, fetch" if stage == "send" else stage)  # fmt: skip
    figure.legend(loc="outside lower center", ncols=4, frameon=False, labelcolor=INK)
    axes.set_xlabel(f"time, measured; the first {batches} batches")
    written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} Measured: {' '.join(f'{run!r}.' for run in runs.values())}")


def draw_task(axes, task, gap):
    """A block with its batch in it, where there is room; a gap parts it from the next."""
    length = task.stop - task.start
    row = WORKERS.index(task.worker)
    axes.barh(row, max(length - gap, gap), left=task.start, height=0.84, color=STAGES[task.stage])
    if length > 12 * gap:
        axes.text(task.start + length / 2, row, task.batch, ha="center", va="center",
                  fontsize=9, color=on(STAGES[task.stage]))  # fmt: skip


def placements(step: Any, overlap: bool = True) -> Picture:
    """Seconds of a step against the rows of the table, modelled, for a placement.Step."""
    took = step_seconds(step, overlap)
    best, limit = min(took, key=took.get), largest_rows(step)
    rooms = limit, largest_rows(step, step.cpu_memory)
    lowest, highest = min(1e5, step.rows), max(1e10, step.rows)
    stops = [min(max(room, lowest), highest) for room in rooms]
    rows = np.unique([*np.geomspace(lowest, highest, 11), *stops])
    winner = f"{best}, {units.seconds(took[best])} a step. {even(step, overlap)}"
    if math.isinf(took[best]):
        winner = "neither the CPU nor the GPU has room."
    title = f"Modelled, {units.count(step.rows)} rows: {winner}"
    figure, axes = blank(height=4, title=title)
    log_axes(axes, x=("rows of the table, in millions", "{:,g}".format),
             y=("a step (modelled)", units.seconds))  # fmt: skip
    axes.minorticks_off()  # it is drawn for many positions of the sliders
    ends, lasts = [], []
    for name, color in LINES.items():
        times = [step_seconds(replace(step, rows=n), overlap)[name] for n in rows]
        there = [(n / 1e6, t) for n, t in zip(rows, times, strict=True) if math.isfinite(t)]
        if there:
            axes.plot(*zip(*there, strict=True), color=color, linewidth=1.6)
            if len(there) == len(rows):
                ends.append((*there[-1], name, color))
            else:
                lasts.append((there[-1], name))
        if math.isfinite(took[name]):
            axes.plot(step.rows / 1e6, took[name], "o", color=color)
    axes.set_xlim(lowest / 1e6, highest / 1e6)
    heights = [t for line in axes.lines for t in line.get_ydata()]
    if heights:
        axes.set_ylim(min(heights) / 5, max(heights) * 5)
    label_ends(axes, ends)
    label_stops(axes, lasts)
    spoken = "; ".join(f"{name}: {units.seconds(t)}" if math.isfinite(t) else f"{name}: no room"
                       for name, t in took.items())  # fmt: skip
    return Picture(figure, f"{title} {spoken}. The GPU has room for {units.count(limit)} rows.")


def label_stops(axes, lasts):
    """Names beside the last points of lines that stop: ((x, y), name); apart where close."""
    reached = {}
    for (x, y), name in sorted(lasts):
        up = 0 if x not in reached else max(0, 12 - points_between(axes, reached[x], y))
        axes.annotate(f"{name}: no room for more", (x, y), (6, up), color=INK, fontsize=10,
                      textcoords="offset points", va="center")  # fmt: skip
        reached[x] = y


def points_between(axes, low, high):
    """How far apart two heights are on the page, in points."""
    (_, below), (_, above) = axes.transData.transform([(1, low), (1, high)])
    return (above - below) * 72 / axes.figure.dpi


def even(step, overlap):
    """From which link on the hybrid beats all CPU, in a sentence."""
    if step.table_bytes > step.cpu_memory:
        return f"The CPU has room for {units.count(largest_rows(step, step.cpu_memory))}."
    link = break_even(step, overlap)
    if math.isinf(link):
        return "No link is fast enough for the hybrid to beat all CPU."
    return f"The hybrid beats all CPU from a link of {units.rate(link, 'B/s')} on."
