"""Pictures of where an embedding's table lies: who worked when, and what a model makes of it."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.models.placement import break_even, largest_rows, step_seconds
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import lines, listed, span
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

STAGES = {"gather": SKY, "send": PURPLE, "dense": ORANGE, "fetch": PURPLE, "update": GREEN}
LINES = {"all CPU": BLUE, "all GPU": VERMILLION, "hybrid": GREEN}
WORKERS = "sparse", "dense"
LINKS = 1e7, 1e12  # bytes/s, the axis: from a slow network to a GPU beside the CPU
SPOKEN = 1e9, 1e10, 1e11


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
                           sharex=True, squeeze=False)
    for axes, (name, run) in zip(panels[:, 0], runs.items(), strict=True):
        for task in first[name]:
            length = task.stop - task.start
            span(axes, WORKERS.index(task.worker), task.start, length, STAGES[task.stage],
                 task.batch if length > 0.024 * until else "")
        axes.set(xlim=(0, 1.01 * until), ylim=(1.5, -0.5))
        axes.set_yticks(range(2), WORKERS)
        axes.set_title(f"{name} ({run.where})", color=INK, fontsize=10, loc="left")
    for stage, color in STAGES.items():
        if stage != "fetch":
            axes.plot([], [], "s", color=color, markersize=9,
                      label="send, fetch" if stage == "send" else stage)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, labelcolor=INK)
    axes.set_xlabel(f"time, measured; the first {batches} batches")
    written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} Measured: {' '.join(f'{run!r}.' for run in runs.values())}")


def placements(step: Any) -> Picture:
    """Seconds of a placement.Step against the link's bandwidth, modelled, for each placement.

    The step's own link is left out of account. Dotted: the link from which on the hybrid pays.
    """
    pays = break_even(step)
    between = [pays] if LINKS[0] < pays < LINKS[-1] else []
    links = np.unique([*np.geomspace(LINKS[0], LINKS[-1], 21), *between, *SPOKEN])
    took = {link: step_seconds(replace(step, link_bandwidth=link)) for link in links}
    fitting = [name for name in LINES if math.isfinite(took[links[0]][name])]
    absent = ", ".join(name for name in LINES if name not in fitting)
    title = f"Modelled, {units.count(step.rows)} rows: {evens(pays)}"
    figure, axes = blank(height=4, title=title)
    link = "link" + f"; no room: {absent}" * bool(absent)
    log_axes(axes, x=(link, lambda rate: units.rate(rate, "B/s")),
             y=("a step (modelled)", units.seconds))
    axes.minorticks_off()  # it is drawn for many positions of the sliders
    axes.set_xlim(LINKS[0], LINKS[-1])
    if between:
        axes.axvline(pays, color=INK, linewidth=0.8, linestyle=":")
    heights = [took[link][name] for link in links for name in fitting]
    axes.set_ylim(min(heights) / 3, max(heights) * 3)
    lines(axes, [(name, links, [took[link][name] for link in links],
                  {"color": LINES[name], "linewidth": 1.6}) for name in fitting])
    spoken = {name: ", ".join(f"{units.seconds(took[at][name])} at {units.rate(at, 'B/s')}"
                              for at in SPOKEN) if name in fitting else "no room"
              for name in LINES}
    limit = units.count(largest_rows(step))
    return Picture(figure, f"{title} {listed(spoken)}. The GPU has room for {limit} rows.")


def evens(pays):
    """From which link on the hybrid beats all CPU, in a sentence."""
    if math.isinf(pays):
        return "no link is fast enough for the hybrid to beat all CPU."
    return f"the hybrid beats all CPU from a link of {units.rate(pays, 'B/s')} on."
