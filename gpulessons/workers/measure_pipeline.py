"""A program: how long does a minibatch take, schedule by schedule, and cut how finely?

Beside them worker 0 runs all the stages by itself, with the same micro-batches, while the others
wait: that is the work. What a pipeline takes longer than its share of it is waiting.
"""

from dataclasses import dataclass, field
from time import perf_counter

import torch

from gpulessons.budget import repeated
from gpulessons.workers.pipeline import Stage, directions, stages, together
from gpulessons.workers.schedules import Task, named
from gpulessons.workers.training import examples, mean_loss, settle, slowest

ALONE = "alone"


@dataclass(frozen=True)
class Run:
    """One minibatch, forward and backward: the quickest of several rounds."""

    schedule: str  # or ALONE
    micro: int  # micro-batches it was cut into
    seconds: float  # until the last worker was done
    tasks: tuple[Task, ...] = field(repr=False)  # this worker's


def main(
    worker, micros=(1, 2, 4, 8, 16, 32), schedules=("GPipe", "1F1B"), batch=256, hidden=512,
    blocks=8, rounds=5,
):  # fmt: skip
    """Returns [Run], for each of the schedules, and ALONE, with each number of micro-batches."""
    (x, labels), _ = examples()
    x, labels = x[:batch].to(worker.device), labels[:batch].to(worker.device)
    own = stages(hidden, blocks, worker.world, torch.float32)[worker.rank].to(worker.device)
    (whole,) = stages(hidden, blocks, 1, torch.float32)
    whole = whole.to(worker.device)
    orders = {name: named(name) for name in schedules}
    ways, best = directions(), {}
    for done in range((rounds := repeated(rounds)) + 1):  # the first one warms up
        for micro in micros:
            parts = x.tensor_split(micro), labels.tensor_split(micro)
            for name in (ALONE, *schedules):  # in turn: a busy moment hits them all
                if name == ALONE:
                    run = alone(worker, whole, *parts)
                else:
                    order = orders[name](worker.rank, worker.world, micro)
                    stage = Stage(worker, own, *parts, hidden, ways)
                    run = piped(stage, name, order)
                old = best.get((name, micro))
                if done and (old is None or run.seconds < old.seconds):
                    best[name, micro] = run
        worker.progress(done, rounds, "rounds")
    return list(best.values())


def alone(worker, whole, x, labels):
    total = sum(map(len, x))
    together(x[0].device)
    began = perf_counter()
    if worker.rank == 0:
        for part, wanted in zip(x, labels, strict=True):
            mean_loss(whole, part, wanted, total).backward()
        settle()
    return Run(ALONE, len(x), slowest(perf_counter() - began), ())


def piped(stage, schedule, order):
    stage.run(order)
    lasted = slowest(max(task.stop for task in stage.tasks))
    return Run(schedule, len(stage.x), lasted, tuple(stage.tasks))
