"""Pictures of where an embedding's table lies: who worked when, and what a model makes of it."""

import math
from dataclasses import replace

import numpy as np

from gpulessons import units
from gpulessons.models.placement import break_even, largest_rows, step_seconds
from gpulessons.plots.axes import written
from gpulessons.plots.forms import key, listed, log_lines, timetables
from gpulessons.plots.picture import BLUE, GREEN, INK, ORANGE, SKY, VERMILLION, Picture

STAGES = {"gather": SKY, "send": BLUE, "dense": ORANGE, "fetch": BLUE, "update": GREEN}
LINES = {"all CPU": BLUE, "all GPU": VERMILLION, "hybrid": GREEN}
WORKERS = "sparse", "dense"
LINKS = 1e7, 1e12  # bytes/s, the axis: from a slow network to a GPU beside the CPU
SPOKEN = 1e9, 1e10, 1e11


def timetable(runs, batches: int = 5) -> Picture:
    """Two rows for each of {name: hybrid.Run}, its workers, and a block for each stage of its first
    batches. Measured; what stays empty is somebody waiting."""
    fast = sorted(runs, key=lambda name: -runs[name].examples_per_second)
    rates = [f"{name} {units.count(runs[name].examples_per_second)}" for name in fast]
    title = f"Examples per second: {'; '.join(rates)}."
    rows = {f"{name} ({run.where})": {worker: [
        (task.start, task.stop - task.start, STAGES[task.stage], task.batch) for task in run.tasks
        if task.batch < batches and task.worker == worker] for worker in WORKERS}
        for name, run in runs.items()}
    figure, axes = timetables(rows, f"time, measured; the first {batches} batches", title=title,
                              width=8.2)
    written(axes.xaxis, units.seconds)
    key(figure, {"send, fetch" if stage == "send" else stage: {"color": color}
                 for stage, color in STAGES.items() if stage != "fetch"})
    return Picture(figure, f"{title} Measured: {' '.join(f'{run!r}.' for run in runs.values())}")


def placements(step):
    """Seconds of a placement.Step against the link's bandwidth, modelled, for each placement.

    The step's own link is left out of account. Dotted: the link from which on the hybrid pays.
    """
    pays = break_even(step)
    between = [pays] if LINKS[0] < pays < LINKS[-1] else []
    links = np.unique([*np.geomspace(LINKS[0], LINKS[-1], 21), *between, *SPOKEN])
    took = {link: step_seconds(replace(step, link_bandwidth=link)) for link in links}
    fitting = [name for name in LINES if math.isfinite(took[links[0]][name])]
    absent = ", ".join(name for name in LINES if name not in fitting)
    spoken = {name: ", ".join(f"{units.seconds(took[at][name])} at {units.rate(at, 'B/s')}"
                              for at in SPOKEN) if name in fitting else "no room"
              for name in LINES}
    picture = log_lines(
        [(name, links, [took[link][name] for link in links],
          {"color": LINES[name], "linewidth": 1.6}) for name in fitting],
        ("link" + f"; no room: {absent}" * bool(absent), lambda rate: units.rate(rate, "B/s")),
        ("a step (modelled)", units.seconds),
        title=f"Modelled, {units.count(step.rows)} rows: {evens(pays)}",
        spoken=f"{listed(spoken)}. The GPU has room for {units.count(largest_rows(step))} rows.",
    )
    picture.axes.minorticks_off()  # it is drawn for many positions of the sliders
    if between:
        picture.axes.axvline(pays, color=INK, linewidth=0.8, linestyle=":")
    return picture


def evens(pays):
    """From which link on the hybrid beats all CPU, in a sentence."""
    if math.isinf(pays):
        return "no link is fast enough for the hybrid to beat all CPU."
    return f"the hybrid beats all CPU from a link of {units.rate(pays, 'B/s')} on."
