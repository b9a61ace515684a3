"""Pictures of data parallelism: who works and who sends, what is learned from how many bytes."""

from itertools import pairwise

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import LOOKS, lines, listed, log_lines, timetables
from gpulessons.plots.picture import BLUE, INK, ORANGE, Picture, blank
from gpulessons.workers.batches import critical
from gpulessons.workers.links import Link

from .drawings import Drawing, drawing

KINDS = {"compute": BLUE, "communicate": ORANGE}
WAYS = dict(zip(("ring", "naive", "backend", "tree", "halving"), LOOKS, strict=False))
MANY = 1024  # workers


def rounds(*ways: str) -> Drawing:
    """Who of four workers sends to whom, round by round; an arrow is as thick as its share of a
    vector. There are "naive", "tree", "ring" and "ring", "halving"."""
    return drawing("_".join(["rounds", *ways]))


def timeline(runs) -> Picture:
    """One step of each way, as its workers logged it: {way: [Trained of each worker]}.

    Refused (ValueError) where one worker's sum is there before another has begun to send.
    """
    told = {way: units.seconds(workers[0].seconds) for way, workers in runs.items()}
    title = f"Time of a step. {listed(told)}."
    rows = {}
    for way, workers in runs.items():
        if effects_first(workers):
            raise ValueError(f"{way}: a sum ends before a worker begins: no common clock.")
        told[way] += f", {overlap(workers):.0%} of the sending while computing"
        rows[f"{way}: {told[way]}"] = one_step(workers)
    figure, axes = timetables(
        rows, "time in a step of median length (live: processes sharing one machine)", title=title)
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


def losses(runs) -> Picture:
    """The loss against steps, and against bytes handed over by one worker: {way: Trained}."""
    smooth = {way: [np.mean(run.losses[max(0, i - 9) : i + 1]) for i in range(len(run.losses))]
              for way, run in runs.items()}
    bytes_of = {way: run.bytes / len(run.losses) for way, run in runs.items()}
    least = min(bytes_of, key=bytes_of.get)
    first, ends = next(iter(runs)), {way: line[-1] for way, line in smooth.items()}
    title = (f"A loss of {ends[first]:.2g} at the end with {first}, of {ends[least]:.2g} with "
             f"{least}, for {units.ratio(bytes_of[first] / bytes_of[least])} fewer bytes.")
    figure, (left, right) = blank(width=8.2, height=3.8, title=title, ncols=2, sharey=True)
    for (way, line), look in zip(smooth.items(), LOOKS, strict=False):
        look = {**look, "marker": "", "linewidth": 1.8, "label": way}
        steps = np.arange(1, len(line) + 1)
        left.plot(steps, line, **look)
        right.plot(steps * bytes_of[way], line, **look)
    left.set(xlabel="steps", ylabel="loss (mean of ten steps)", ylim=(0, None))
    log_axes(right, x=("bytes handed over by one worker", lambda size: units.rate(size, "B")))
    left.legend(frameon=False, labelcolor=INK, fontsize=9)
    spoken = {way: f"{ends[way]:.3g} after {bytes_of[way]:,.0f} bytes a step" for way in runs}
    return Picture(figure, f"{title} Live: {listed(spoken)}.")


def fitted(link: Link, samples) -> Picture:
    """Measured all-reduces, and the model's lines, both axes on log scales."""
    rate = units.rate(link.bandwidth, "B/s") if link.bandwidth < 1e15 else "no limit on the bytes"
    drawn, workers = [], samples[0].workers
    for place, way in enumerate(dict.fromkeys(sample.algorithm for sample in samples)):
        beside = 1.12 ** (place - 1.5)  # or they would hide each other
        points = [(beside * s.bytes, s.seconds) for s in samples if s.algorithm == way]
        drawn.append((f"{way}, measured", *zip(*points, strict=True),
                      {**WAYS[way], "linestyle": "none"}))
    measured = sorted({s.bytes for s in samples})
    sizes = np.geomspace(measured[0], measured[-1], 100)
    for way in [way for way in ("backend", "naive") if way in {s.algorithm for s in samples}]:
        drawn.append((f"{way}, modelled", sizes, [link.seconds(way, workers, n) for n in sizes],
                      {"color": WAYS[way]["color"], "linewidth": 1}))
    spoken = "; ".join(f"{s.algorithm} at {units.size(s.bytes)}: {units.seconds(s.seconds)}"
                       for s in samples)
    title = (f"A latency of {units.seconds(link.latency)} and {rate} "
             f"fit the backend's times to within {link.off:.0%}, typically.")
    figure, axes = blank(height=4.2, title=title)
    log_axes(axes, x=("bytes of each worker's vector", units.size),
             y=("time of one all-reduce", units.seconds), ticks=measured)
    lines(axes, drawn)
    return Picture(figure, f"{title} Live, {workers} processes sharing one machine: {spoken}.")


def foretold(link: Link, samples, citation: str) -> Picture:
    """Published rings over the number of cards (open marks), and what a model fitted to two of them
    says of more (thin lines)."""
    drawn, off, most = [], {}, max(sample.workers for sample in samples)
    fine = range(2, most + 1)
    for size, look in zip(sorted({sample.bytes for sample in samples}), LOOKS, strict=False):
        rings = sorted((s.workers, s.seconds) for s in samples if s.bytes == size)
        off[units.size(size)] = link.seconds("ring", most, size) / rings[-1][1]
        drawn += [(f"{units.size(size)}, published", *zip(*rings, strict=True),
                   {**look, "linestyle": "none", "markerfacecolor": "none"}),
                  (f"{units.size(size)}, modelled", fine,
                   [link.seconds("ring", n, size) for n in fine],
                   {"color": look["color"], "linewidth": 1})]
    told = ", ".join(f"{times:.1f} for {size}" for size, times in off.items())
    return log_lines(drawn, ("cards", units.count), ("time of one all-reduce", units.seconds),
                     title=f"Fitted to two cards, the model's time over the published one of "
                           f"{most} is {told}. {citation}.", ticks=(2, 4, 8))  # fmt: skip


def switched(rows) -> Picture:
    """Published bus bandwidth over a vector's bytes where a switch adds, beside a ring at its best
    and the wire, which no ring can exceed. rows: of evidence.published."""
    (ring,) = (row for row in rows if row.what.endswith("a ring"))
    adding = sorted((row.sizes["bytes"], row.value) for row in rows if row is not ring)
    wire = 1e9 * float(ring.note.split()[-2])  # "NVLink 4, 450 GB/s"
    since = {what: next((units.size(size) for size, rate in adding if rate > limit), None)
             for what, limit in (("a ring's best", ring.value), ("what a ring could reach", wire))}
    said = " and ".join(f"beats {what} from {size} on" if size else f"never beats {what}"
                        for what, size in since.items())
    ends = [adding[0][0], adding[-1][0]]
    thin = {"color": INK, "linewidth": 1}
    return log_lines(
        [("the switch adds, published", *zip(*adding, strict=True),
          {"marker": "o", "markerfacecolor": "none"}),
         ("a ring's best, published", ends, [ring.value] * 2, {**thin, "linestyle": "--"}),
         ("the wire, by data sheet", ends, [wire] * 2, {**thin, "linestyle": ":"})],
        ("bytes of each card's vector", units.size),
        ("bus bandwidth", lambda rate: units.rate(rate, "B/s")), ticks=2.0 ** np.arange(15, 36, 5),
        title=f"A switch that adds {said}. {ring.sizes['cards']} × {ring.citation}.",
    )


def at_scale(link: Link, size: float, compute: float) -> Picture:
    """The share of a step that workers compute, modelled for 2, 4, … MANY of them.

    link: a workers.Link. size: bytes of gradients. compute: seconds of each step on each worker.
    """
    workers = 2 ** np.arange(1, MANY.bit_length())
    ways = {"halving": "halving", "ring": "a ring", "tree": "a tree", "naive": "the naive way"}
    shares = {way: [compute / (compute + link.seconds(way, int(n), size)) for n in workers]
              for way in ways}
    told = ", ".join(f"{shares[way][-1]:.0%} with {words}" for way, words in ways.items())
    title = f"Modelled: of their time {MANY:,} workers compute {told}."
    figure, axes = blank(height=4, title=title)
    log_axes(axes, x=("workers", units.count), ticks=workers[::2], base=2)
    axes.set(ylim=(0, 1.05), ylabel="computing (modelled)")
    written(axes.yaxis, "{:.0%}".format)
    lines(axes, [(f"{way}, modelled", workers, share,
                  {"color": WAYS[way]["color"], "linewidth": 1}) for way, share in shares.items()])
    return Picture(figure, title)


def returns(found) -> Picture:
    """Steps to the same loss against the batch, and seconds: a list of workers.batches.Reached."""
    sizes, steps = np.array([r.batch for r in found]), [r.steps for r in found]
    least, bend = critical(found)
    bends = f"the curve bends near a batch of {bend:.2g}" if least else "no bend yet"
    title = (f"{units.count(sizes[-1] / sizes[0])} times the batch, "
             f"{units.ratio(steps[0] / steps[-1])} fewer steps: {bends}. "
             f"On one core {quickest(found)} there first.")
    figure, (left, right) = blank(width=8.2, height=4, title=title, ncols=2)
    batch = ("examples in the batch", units.count)
    log_axes(left, x=batch, y=("steps to the same loss", units.count), ticks=sizes)
    log_axes(right, x=batch, y=("seconds on one core", units.seconds), ticks=sizes)
    linear = steps[0] * sizes[0] / sizes
    left.plot(sizes, linear, ":", color=INK, linewidth=1, label="if it were linear")
    if least:
        fine = np.geomspace(sizes[0], sizes[-1], 60)
        left.plot(fine, least * (1 + bend / fine), color=INK, linewidth=1,
                  label=f"{least:.0f} × (1 + {bend:.2g} / batch), fitted")
    left.legend(frameon=False, labelcolor=INK, fontsize=9, loc="lower left")
    left.plot(sizes, steps, "o", color=BLUE, markersize=6)
    for one in found:
        left.plot([one.batch] * len(one.runs), one.runs, "_", color=BLUE, markersize=9)
    right.plot(sizes, [r.seconds for r in found], "o-", color=BLUE)
    for axes in (left, right):
        axes.yaxis.get_major_locator().set_params(subs=(1, 2, 5))
    spoken = "; ".join(f"{r.batch}: {units.count(r.steps)} steps in {units.seconds(r.seconds)}, "
                       f"rate {r.rate:g}" for r in found)
    return Picture(figure, f"{title} Live: {spoken}.")


def quickest(found) -> str:
    """Who is there first in seconds, with those within a fifth of it: a noisy machine's tie."""
    least = min(one.seconds for one in found)
    first = [units.count(one.batch) for one in found if one.seconds <= 1.2 * least]
    return f"{first[0]} is" if len(first) == 1 else f"{', '.join(first)} (much alike) are"
