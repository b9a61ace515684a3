"""Block turnover: the clocks from one wave of blocks to the next, when there is nothing to do.

Where a block ends, another begins in its place: warps, registers and shared memory are given back
and given out. The time of a launch against its number of waves is a line, and its slope is that.
"""

from statistics import median
from typing import NamedTuple

import numpy as np
from numba import cuda

from gpulessons.backends import gpu
from gpulessons.measure.results import quartiles
from warplens.model.occupancy import occupancy

ZERO = np.float32(0)
THREADS = (128, 256, 512, 1024)  # of a block; the smaller, the more of them there are in a wave
FEW, MANY = 64, 1024  # waves: what a launch costs is in both, and not in their difference
ROUNDS = 15
REGISTERS = 16  # at most, of kernels as short as these: they limit no occupancy
LAUNCHES = 300


class Turnover(NamedTuple):
    """Clocks from one wave of blocks to the next when blocks have next to nothing to do."""

    work: str  # "nothing" or "one load"
    threads: int  # of a block
    blocks: int  # of a wave: as many as the whole GPU holds
    clocks: float  # the median, at the clock that the model reckons with
    quartiles: tuple[float, float]


@cuda.jit
def nothing_kernel(x, y, out):
    pass


@cuda.jit
def load_kernel(x, y, out):
    if x[0] < ZERO:  # never: but the load has to be waited for
        out[0] = y[0]


KERNELS = {"nothing": nothing_kernel, "one load": load_kernel}


def turnovers(device):
    """A Turnover for each kernel and size of block; device: the GPU that the model takes it for."""
    return tuple(
        turnover(work, kernel, threads, device)
        for work, kernel in KERNELS.items()
        for threads in THREADS
    )


def turnover(work, kernel, threads, device):
    blocks = device.multiprocessors * occupancy(threads, REGISTERS, 0, device).blocks
    arrays = ones()
    seconds_of(kernel, MANY * blocks, threads, arrays)  # compiles; raises the clock
    slopes = []
    for _ in range(ROUNDS):
        few, many = (seconds_of(kernel, n * blocks, threads, arrays) for n in (FEW, MANY))
        slopes.append(device.boost * (many - few) / (MANY - FEW))
    return Turnover(work, threads, blocks, median(slopes), quartiles(slopes))


def launching():
    """Seconds that one launch takes its caller, where the kernel itself takes next to none."""
    arrays = ones()
    seconds_of(nothing_kernel, 1, 32, arrays)
    return median(seconds_of(nothing_kernel, 1, 32, arrays, LAUNCHES) for _ in range(ROUNDS))


def ones():
    return [gpu.put(np.ones(1, np.float32)) for _ in range(3)]


def seconds_of(kernel, blocks, threads, arrays, launches=1):
    """Seconds of a launch, by the GPU's own clock."""
    gpu.sync()
    start = gpu.mark()
    for _ in range(launches):
        kernel[blocks, threads](*arrays)
    stop = gpu.mark()
    gpu.sync()
    return gpu.elapsed(start, stop) / launches
