"""Pictures of data parallelism: who works and who sends, what is learned from how many bytes."""

from itertools import pairwise

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import LOOKS, listed, log_lines, timetables
from gpulessons.plots.picture import BLUE, INK, ORANGE, Picture, blank
from gpulessons.workers.batches import critical

from .drawings import Drawing, drawing

KINDS = {"compute": BLUE, "communicate": ORANGE}


def rounds() -> Drawing:
    """Who of four workers sends to whom, round by round; an arrow is as thick as its share of a
    vector."""
    return drawing("rounds_naive_tree_ring")


def timeline(runs) -> Picture:
    """One step of each way, as its workers logged it: {way: [Trained of each worker]}.

    Refused (ValueError) where one worker's sum is there before another has begun to send.
    """
    told = {way: units.seconds(workers[0].seconds) for way, workers in runs.items()}
    title = f"Time of a step, emulated, {listed(told)}."
    rows = {}
    for way, workers in runs.items():
        if effects_first(workers):
            raise ValueError(f"{way}: a sum ends before a worker begins: no common clock.")
        told[way] += f", {overlap(workers):.0%} of the sending while computing"
        rows[f"{way}: {told[way]}"] = one_step(workers)
    figure, axes = timetables(
        rows, "time in a step of median length (emulated)", title=title)
    written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} {listed(told)}.")


def spans(worker, kind):
    """[(start, stop)] of what a worker did of one kind, in order."""
    return sorted((start, stop) for what, start, stop in worker.events if what == kind)


def effects_first(workers):
    """Whether any all-reduce ends for one worker before another has begun it."""
    sent = zip(*(spans(worker, "communicate") for worker in workers), strict=True)
    return any(max(start for start, _ in each) > min(stop for _, stop in each) for each in sent)


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


def overlap(workers):
    """Of the time in which something is sent, the share in which the same worker computes."""
    both = total = 0.0
    for worker in workers:
        cuts = sorted({at for _, *ends in worker.events for at in ends})
        for start, stop in pairwise(cuts):
            doing = {what for what, began, ended in worker.events if began <= start < ended}
            if "communicate" in doing:
                total += stop - start
                both += (stop - start) * ("compute" in doing)
    return both / total if total else 0.0


def speedups(found, foretold) -> Picture:
    """{link: {workers: times one's speed}}, emulated (marks), and by a model(link, workers)."""
    most = max(max(times) for times in found.values())
    drawn, fine = [], range(1, most + 1)
    for (name, times), look in zip(found.items(), LOOKS, strict=False):
        drawn += [(f"{name}, emulated", *zip(*times.items(), strict=True),
                   {**look, "linestyle": "none"}),
                  (f"{name}, modelled", fine, [foretold(name, n) for n in fine],
                   {"color": look["color"], "linewidth": 1})]
    told = "; ".join(f"{units.ratio(times[most])} ({units.ratio(foretold(name, most))}) over {name}"
                     for name, times in found.items())
    return log_lines(drawn, ("workers", units.count), ("times one worker's speed", units.ratio),
                     title=f"{most} workers, emulated (modelled): {told}.",
                     ticks=(1, 2, 4, 8), base=2)


def returns(found) -> Picture:
    """Steps to the same loss against the batch: a list of workers.batches.Reached."""
    sizes, steps = np.array([r.batch for r in found]), [r.steps for r in found]
    least, bend = critical(found)
    bends = f"the curve bends near a batch of {bend:.2g}" if least else "no bend yet"
    title = (f"{units.count(sizes[-1] / sizes[0])} times the batch, "
             f"{units.ratio(steps[0] / steps[-1])} fewer steps: {bends}.")
    figure, axes = blank(height=4, title=title)
    log_axes(axes, x=("examples in the batch", units.count), ticks=sizes,
             y=("steps to the same loss", units.count))
    linear = steps[0] * sizes[0] / sizes
    axes.plot(sizes, linear, ":", color=INK, linewidth=1, label="if it were linear")
    if least:
        fine = np.geomspace(sizes[0], sizes[-1], 60)
        axes.plot(fine, least * (1 + bend / fine), color=INK, linewidth=1,
                  label=f"{least:.0f} × (1 + {bend:.2g} / batch), fitted")
    axes.plot(sizes, steps, "o", color=BLUE, markersize=6)
    for one in found:
        axes.plot([one.batch] * len(one.runs), one.runs, "_", color=BLUE, markersize=9)
        axes.annotate(f"rate {one.rate:g}", (one.batch, one.steps), (0, 9), color=INK,
                      textcoords="offset points", ha="center", fontsize=9)
    axes.legend(frameon=False, labelcolor=INK, fontsize=9, loc="lower left")
    axes.yaxis.get_major_locator().set_params(subs=(1, 2, 5))
    spoken = "; ".join(f"{r.batch}: {units.count(r.steps)} steps, rate {r.rate:g}" for r in found)
    return Picture(figure, f"{title} Live: {spoken}.")
