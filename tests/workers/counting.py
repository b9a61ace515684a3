"""A program for the tests: all add one to the same number, slowly, and nobody locks."""

import time

import numpy as np
import torch.distributed as dist

from gpulessons.workers.memory import shared


def main(worker, turns):
    """What the number is when all have added theirs."""
    number = shared(worker, 1, np.int64)
    dist.barrier()
    for turn in range(turns):
        before = number[0]
        if turn:
            time.sleep(2e-4)
        else:
            dist.barrier()  # all have read before anybody writes, however busy the machine
        number[0] = before + 1
    dist.barrier()
    return int(number[0])
