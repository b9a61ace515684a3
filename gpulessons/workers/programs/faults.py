"""A program: what goes wrong in a training step without a crash.

slow      worker 1 takes longer over each step     everybody waits for it
skipped   worker 1 leaves out one of its calls     the next one is taken for it; the last hangs
"""

from collections.abc import Sequence
from datetime import timedelta
from time import perf_counter, sleep

import torch
import torch.distributed as dist

from ..worker import Worker


def main(
    worker: Worker, steps: int = 20, work: float = 0.01, slow: float = 0.03, patience: float = 2.0
) -> tuple[list[float], list[float], str]:
    """([seconds of a step: all alike, and with a slow one], the sums got, what the error said)"""
    seconds = [pace(worker, steps, work, late) for late in (0.0, slow)]
    sums, error = skipped(worker, (1.0, 10.0, 100.0), patience)
    return seconds, sums, error


def pace(worker: Worker, steps: int, work: float, late: float) -> float:
    """Seconds of a step; worker 1 is so much later each time. Work is slept: no core is short."""
    dist.barrier()
    began = perf_counter()
    for _ in range(steps):
        sleep(work + late * (worker.rank == 1))
        dist.all_reduce(torch.ones(1))
    return (perf_counter() - began) / steps


def skipped(worker: Worker, gradients: Sequence[float], patience: float) -> tuple[list[float], str]:
    """Sum these over the workers, one by one; worker 1 leaves out the first."""
    group, sums = dist.new_group(timeout=timedelta(seconds=patience)), list[float]()
    for number, value in enumerate(gradients):
        if number == 0 and worker.rank == 1:
            continue  # as by an `if` on its own data
        gradient = torch.tensor(value)
        try:
            dist.all_reduce(gradient, group=group)
        except RuntimeError as trouble:
            return sums, f"{type(trouble).__name__}: {trouble}"
        sums.append(gradient.item())
    sleep(2 * patience)  # it is done, and lives, while the others wait
    return sums, ""
