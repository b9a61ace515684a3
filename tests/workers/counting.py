"""A program for the tests: all add one to the same number, slowly, with a lock or without."""

import time

import numpy as np
import torch.distributed as dist

from gpulessons.workers.memory import locked, shared


def main(worker, turns, lock):
    """What the number is when all have added theirs."""
    number, guard = shared(worker, 1 + lock, np.int64), locked(worker)
    dist.barrier()
    for _ in range(turns):
        if lock:
            with guard:
                slowly(number)
        else:
            slowly(number)
    dist.barrier()
    return int(number[0])


def slowly(number):
    before = number[0]
    time.sleep(2e-4)
    number[0] = before + 1
