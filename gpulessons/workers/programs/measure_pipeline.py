"""A program: how long does a minibatch take, schedule by schedule, and cut how finely?

Beside them worker 0 runs all the stages by itself, as a pipeline of one, with the same
micro-batches, while the others wait: that is the work. What a pipeline takes longer than its share
of it is waiting.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import itemgetter

import torch

from gpulessons.hardware.budget import repeated

from ..schedules import Task, named
from ..training import examples, slowest
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
    data, rank, world = (x[:batch], labels[:batch]), worker.rank, worker.world_size
    own = stages(hidden, blocks, world, torch.float32)[rank]
    (whole,) = stages(hidden, blocks, 1, torch.float32)
    groups, found = process_groups(), defaultdict(list)
    for done in range((rounds := repeated(rounds)) + 1):  # the first one warms up
        for micro in micros:
            for name in (ALONE, *schedules):  # in turn: a busy moment hits them all
                if name == ALONE:
                    stage = Stage(0, 1, whole, data, micro, groups, worker.device)
                    order = [] if rank else named("1F1B")(0, 1, micro)
                else:
                    stage = Stage(rank, world, own, data, micro, groups, worker.device)
                    order = named(name)(rank, world, micro)
                stage.run(order)
                lasted = slowest(max((task.stop for task in stage.tasks), default=0.0))
                found[name, micro].append((lasted, tuple(stage.tasks)))
        worker.progress(done, rounds, "rounds")
    return [
        Run(*key, *min(warm, key=itemgetter(0)), tuple(seconds for seconds, _ in warm))
        for key, (_, *warm) in found.items()
    ]
