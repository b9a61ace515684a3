"""A program: answer many questions. Every worker has the network and a share of the questions."""

from dataclasses import dataclass
from time import perf_counter

import torch
import torch.distributed as dist

from ..training import examples, network
from ..worker import Worker

BATCH = 256
ROUNDS = 5


@dataclass(frozen=True)
class Answered:
    """What one worker has answered."""

    labels: tuple[int, ...]  # of its share
    # (seconds for its share while the others answer theirs, for all questions while they wait: 0
    # on every worker but the first) of each round
    rounds: tuple[tuple[float, float], ...]


def main(worker: Worker, hidden: int = 1024, questions: int = 8192) -> Answered:
    """Read this many digits, a share on each worker and then all on the first. An Answered."""
    (x, _), _ = examples()
    x = x[torch.arange(questions) % len(x)].to(worker.device)
    model = network(hidden).to(worker.device)
    together, alone = [], []
    for _ in range(ROUNDS):
        dist.barrier()
        mine, seconds = answers(model, x[worker.rank :: worker.world_size])
        together.append(seconds)
        dist.barrier()
        alone.append(answers(model, x)[1] if worker.rank == 0 else 0.0)
    dist.barrier()
    return Answered(mine, tuple(zip(together, alone, strict=True)))


def answers(model: torch.nn.Module, x: torch.Tensor) -> tuple[tuple[int, ...], float]:
    """(the labels, seconds); BATCH at a time, so that a longer share is only more of the same."""
    began, found = perf_counter(), list[int]()
    with torch.no_grad():
        for batch in x.split(BATCH):
            found += model(batch).argmax(1).tolist()
    return tuple(found), perf_counter() - began
