"""A program for the tests: data-parallel training whose second worker comes late from barriers."""

import time

import torch.distributed as dist

from gpulessons.workers.programs import data_parallel


def main(worker, ways=("one by one", "DDP")):
    """[Trained] of each way."""
    barrier = dist.barrier

    def late(*args, **options):
        barrier(*args, **options)
        time.sleep(0.3 * worker.rank)

    dist.barrier = late
    return [data_parallel.main(worker, how=how, batch=8, steps=4, hidden=4) for how in ways]
