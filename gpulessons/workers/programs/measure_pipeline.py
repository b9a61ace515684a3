"""A program: how long does a minibatch take, schedule by schedule, and cut how finely?

Beside them worker 0 runs all the stages by itself, with the same micro-batches, while the others
wait: that is the work. What a pipeline takes longer than its share of it is waiting.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

import torch
from torch import Tensor

from gpulessons.hardware.budget import repeated

from ..schedules import Order, Task, named
from ..training import common_start, examples, mean_loss, settle, slowest
from ..worker import Worker
from .pipeline import Stage, process_groups, stages

ALONE = "alone"


@dataclass(frozen=True)
class Run:
    """One minibatch, forward and backward: the quickest of several rounds."""

    schedule: str  # or ALONE
    micro: int  # micro-batches it was cut into
    seconds: float  # until the last worker was done
    tasks: tuple[Task, ...] = field(repr=False)  # this worker's
    rounds: tuple[float, ...] = field(default=(), repr=False)  # seconds of every round


def main(
    worker: Worker, micros: Sequence[int] = (1, 2, 4, 8, 16, 32),
    schedules: Sequence[str] = ("GPipe", "1F1B"), batch: int = 256, hidden: int = 512,
    blocks: int = 8, rounds: int = 5,
) -> list[Run]:  # fmt: skip
    """Returns [Run], for each of the schedules, and ALONE, with each number of micro-batches."""
    (x, labels), _ = examples()
    x, labels = x[:batch].to(worker.device), labels[:batch].to(worker.device)
    own = stages(hidden, blocks, worker.world_size, torch.float32)[worker.rank].to(worker.device)
    (whole,) = stages(hidden, blocks, 1, torch.float32)
    whole = whole.to(worker.device)
    orders = {name: named(name) for name in schedules}
    groups, found = process_groups(), defaultdict[tuple[str, int], list[Run]](list)
    for done in range((rounds := repeated(rounds)) + 1):  # the first one warms up
        for micro in micros:
            parts = x.tensor_split(micro), labels.tensor_split(micro)
            for name in (ALONE, *schedules):  # in turn: a busy moment hits them all
                if name == ALONE:
                    run = alone(worker, whole, *parts)
                else:
                    order = orders[name](worker.rank, worker.world_size, micro)
                    stage = Stage(worker, own, *parts, hidden, groups)
                    run = piped(stage, name, order)
                if done:
                    found[name, micro].append(run)
        worker.progress(done, rounds, "rounds")
    return [quickest(runs) for runs in found.values()]


def quickest(runs: Sequence[Run]) -> Run:
    """The least disturbed round, and how long all took."""
    best = min(runs, key=lambda run: run.seconds)
    return replace(best, rounds=tuple(run.seconds for run in runs))


def alone(
    worker: Worker, whole: torch.nn.Module, x: Sequence[Tensor], labels: Sequence[Tensor]
) -> Run:
    total = sum(map(len, x))
    common_start(x[0].device)
    began = perf_counter()
    if worker.rank == 0:
        for part, wanted in zip(x, labels, strict=True):
            mean_loss(whole, part, wanted, total).backward()
        settle()
    return Run(ALONE, len(x), slowest(perf_counter() - began), ())


def piped(stage: Stage, schedule: str, order: Order) -> Run:
    stage.run(order)
    lasted = slowest(max(task.stop for task in stage.tasks))
    return Run(schedule, len(stage.x), lasted, tuple(stage.tasks))
