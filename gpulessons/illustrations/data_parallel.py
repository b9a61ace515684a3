"""Pictures of data parallelism: who works and who sends, what is learned from how many bytes."""

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import written
from gpulessons.plots.forms import listed, log_lines, timetables
from gpulessons.plots.picture import BLUE, INK, ORANGE, Picture
from gpulessons.workers.batches import critical

from .drawings import Drawing, drawing

KINDS = {"compute": BLUE, "communicate": ORANGE}


def rounds() -> Drawing:
    """Who of four workers sends to whom, round by round; an arrow is as thick as its share of a
    vector."""
    return drawing("rounds_naive_tree_ring")


def timeline(runs) -> Picture:
    """One step of each way, as its workers logged it: {way: [Trained of each worker]}."""
    told = {way: units.seconds(workers[0].seconds) for way, workers in runs.items()}
    title = f"Time of a step, emulated, {listed(told)}."
    rows = {f"{way}: {told[way]}": one_step(workers) for way, workers in runs.items()}
    figure, axes = timetables(
        rows, "time in a step of median length (emulated)", title=title)
    written(axes.xaxis, units.seconds)
    return Picture(figure, title)


def spans(worker, kind):
    """[(start, stop)] of what a worker did of one kind, in order."""
    return sorted((start, stop) for what, start, stop in worker.events if what == kind)


def one_step(workers):
    """What each worker computes and sends in the step of median length, as `timetables` has it."""
    lengths = [stop - start for start, stop in steps(workers[0])]
    middling = int(np.argsort(lengths)[len(lengths) // 2])
    first, rows = min(steps(worker)[middling][0] for worker in workers), {}
    for rank, worker in enumerate(workers):
        start, stop = steps(worker)[middling]
        for does, (kind, color) in zip(("computes", "sends"), KINDS.items(), strict=True):
            rows[f"worker {rank} {does}"] = [(a - first, b - a, color, "")
                                             for a, b in spans(worker, kind) if start <= a < stop]
    return rows


def steps(worker):
    """[(start, stop)] of a worker's steps: each computes twice, the second time is the update."""
    computed = spans(worker, "compute")
    return [(a, b) for (a, _), (_, b) in zip(computed[::2], computed[1::2], strict=True)]


def returns(found) -> Picture:
    """Steps to the same loss against the batch: a list of workers.batches.Reached."""
    sizes, steps = np.array([r.batch for r in found]), [r.steps for r in found]
    least, bend = critical(found)
    bends = f"the curve bends near a batch of {bend:.2g}" if least else "no bend yet"
    title = (f"{units.count(sizes[-1] / sizes[0])} times the batch, "
             f"{units.ratio(steps[0] / steps[-1])} fewer steps: {bends}.")
    thin, runs = {"color": INK, "linewidth": 1}, [(r.batch, run) for r in found for run in r.runs]
    drawn = [("each run", *zip(*runs, strict=True), {"marker": "o", "linestyle": "none"}),
             ("if it were linear", sizes, steps[0] * sizes[0] / sizes, {**thin, "linestyle": ":"})]
    if least:
        drawn.append((f"{least:.0f} × (1 + {bend:.2g} / batch), fitted", sizes,
                      least * (1 + bend / sizes), thin))
    return log_lines(drawn, ("examples in the batch", units.count),
                     ("steps to the same loss", units.count), title=title, ticks=sizes)
