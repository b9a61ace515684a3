"""Rows: what softmax, layer norm and attention share.

Every row is a problem of its own; within a row, every number needs all the others. So rows are
dealt out, to cores or to teams of threads, and a team has to put its findings together.
"""

import numpy as np
from numba import cuda, float32, njit

from gpulessons.ops.activations import blocks

SIZES = (1_000, 100_000, 10_000_000)
AWKWARD = (31, 257, 10_007, 1)  # one row; a few; rows longer than a block of threads; one number
COLUMNS = 1009  # a layer's width; a prime, so that no team divides it
THREADS, WARP, WARPS = 256, 32, 8
FULL = 0xFFFFFFFF  # every lane of a warp takes part
LOWEST = np.float32(np.finfo(np.float32).min)  # where a maximum starts: minus infinity minus itself
ZERO, ONE, NOTHING = np.float32(0), np.float32(1), np.float32(-np.inf)  # … would not be a number


def wide_rows(size, rng):
    """x: (rows, columns) float32, at most `size` elements; odd rows reach ±300, even ones ±3."""
    rows = max(1, int((size / 8) ** 0.5))
    columns = min(size // rows, COLUMNS)
    x = rng.standard_normal((size // columns, columns), np.float32)
    x[1::2] *= 3
    x[1::2, ::16] *= 30
    return (x,)


# -- On the CPU. What may be reordered is said for each function: only sums.

in_order = njit(error_model="numpy", fastmath={"contract"})
every_core = njit(error_model="numpy", fastmath={"contract"}, parallel=True)
any_order = njit(error_model="numpy", fastmath={"contract", "reassoc", "nsz"})


SIGN, REST, LEAST = np.int32(31), np.int32(0x7FFFFFFF), np.int32(-(2**31))


@in_order
def sortable(bits):
    """A float's bits as an integer that sorts like the float; and back again."""
    return np.int32(bits ^ (bits >> SIGN & REST))  # a negative one grows as its bits do


@in_order
def row_max(x):
    """The largest of x: (n,), n > 0. A NaN's rules keep a maximum of floats out of the vector
    units; a maximum of integers has none.
    """
    top = LEAST
    for j in range(x.size):
        top = max(top, sortable(np.float32(x[j]).view(np.int32)))
    return np.int32(sortable(top)).view(np.float32)


@any_order
def row_sum(x):
    total = ZERO
    for j in range(x.size):
        total += x[j]
    return total


@any_order
def row_dot(x, y):
    total = ZERO
    for j in range(x.size):
        total += x[j] * y[j]
    return total


# -- On the GPU. A butterfly: lanes 16 apart exchange, then 8, 4, 2, 1, and all know the result.


@cuda.jit(device=True)
def warp_max(value):
    for step in (16, 8, 4, 2, 1):
        value = max(value, cuda.shfl_xor_sync(FULL, value, step))
    return value


@cuda.jit(device=True)
def warp_sum(value):
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(FULL, value, step)
    return value


def block_wide(warp_wide, start):
    """The same for a block of 256 threads: its warps meet in shared memory."""

    @cuda.jit(device=True)
    def combine(value):
        part = cuda.shared.array(WARPS, float32)
        lane, warp = cuda.threadIdx.x % WARP, cuda.threadIdx.x // WARP
        value = warp_wide(value)
        if lane == 0:
            part[warp] = value
        cuda.syncthreads()
        value = warp_wide(part[lane] if lane < WARPS else start)  # in every warp: all know it
        cuda.syncthreads()  # all have read: the next call may write
        return value

    return combine


block_max, block_sum = block_wide(warp_max, LOWEST), block_wide(warp_sum, ZERO)


def warp_per_row(rows):
    """(grid, block): eight rows to a block, each with its warp."""
    return blocks(rows, WARPS), (WARP, WARPS)


def block_per_row(rows):
    return rows, THREADS
