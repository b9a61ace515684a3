"""Rows: what softmax, layer norm and attention share.

Every row is a problem of its own; within a row, every number needs all the others. So rows are
distributed, to cores or to groups of threads, and a group combines what it finds.
"""

import numpy as np
from numba import njit

from .common import REASSOCIATING, SERIAL, WARP, ZERO, ceil_div
from .reduce import WARPS

ROW_EDGES = (31, 257, 10_007, 1)  # one row; a few; rows longer than a block of threads; one number
WIDTH = 1009  # a layer's width; a prime, so that no group of threads divides it
LOWEST = np.float32(np.finfo(np.float32).min)  # where a maximum starts: minus infinity minus itself
NOTHING = np.float32(-np.inf)  # … would not be a number


def wide_rows(size, rng):
    """x: (rows, columns) float32, at most `size` elements; odd rows reach ±300, even ones ±3."""
    rows = max(1, int((size / 8) ** 0.5))
    columns = min(size // rows, WIDTH)
    x = rng.standard_normal((size // columns, columns), np.float32)
    x[1::2] *= 3
    x[1::2, ::16] *= 30
    return (x,)


# -- On the CPU. What may be reordered is said for each function: only sums.

SIGN, LOW_BITS, LEAST = np.int32(31), np.int32(0x7FFFFFFF), np.int32(-(2**31))


@njit(**SERIAL)
def sortable(bits):
    """A float's bits as an integer that sorts like the float; and back again."""
    return np.int32(bits ^ (bits >> SIGN & LOW_BITS))  # a negative one grows as its bits do


@njit(**SERIAL)
def max_of_row(x):
    """The largest of x: (n,), n > 0, as integers: a NaN's rules keep floats out of vector units."""
    largest = LEAST
    for j in range(x.size):
        largest = max(largest, sortable(np.float32(x[j]).view(np.int32)))
    return np.int32(sortable(largest)).view(np.float32)


@njit(**REASSOCIATING)
def sum_of_row(x):
    total = ZERO
    for j in range(x.size):
        total += x[j]
    return total


@njit(**REASSOCIATING)
def dot_of_rows(x, y):
    total = ZERO
    for j in range(x.size):
        total += x[j] * y[j]
    return total


# -- On the GPU.


def warp_per_row(rows):
    """(grid, block): eight rows to a block, each with its warp."""
    return ceil_div(rows, WARPS), (WARP, WARPS)
