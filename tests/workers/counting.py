"""A program for the tests: all add one to the same number, slowly, with a lock or without."""

import time
from contextlib import nullcontext

import numpy as np
import torch.distributed as dist

from gpulessons.workers.memory import locked, shared


def main(worker, turns, lock):
    """What the number is when all have added theirs."""
    number, guard = shared(worker, 1 + lock, np.int64), locked(worker) if lock else nullcontext()
    dist.barrier()
    for turn in range(turns):
        with guard:
            before = number[0]
            if lock or turn:
                time.sleep(2e-4)
            else:
                dist.barrier()  # all have read before anybody writes, however busy the machine
            number[0] = before + 1
    dist.barrier()
    return int(number[0])
