"""The matrix product on a CPU: two orders of three loops, and the blocked product.

    out = x y      x: (m, k), y: (k, n), out: (m, n), float32

Other ops multiply by `multiply`, on every core, and `multiply_tile`, a part of it on one.
"""

import numpy as np
from numba import njit, prange

from .common import PARALLEL, SERIAL, aligned_empty, ceil_div


@njit(**SERIAL)
def ijk(x, y, out):
    for i in range(x.shape[0]):
        for j in range(y.shape[1]):
            total = np.float32(0)
            for k in range(x.shape[1]):
                total += x[i, k] * y[k, j]  # down a column of y: a cache line for every number
            out[i, j] = total


@njit(**SERIAL)
def ikj(x, y, out):
    for i in range(x.shape[0]):
        out[i] = 0
        for k in range(x.shape[1]):
            for j in range(y.shape[1]):
                out[i, j] += x[i, k] * y[k, j]  # along rows: in vectors


# -- Blocked: a tile of the result to a core, and what it needs copied close, piece by piece (Goto &
# -- van de Geijn 2008, "Anatomy of High-Performance Matrix Multiplication"). The same plan as in a
# -- GPU's shared memory, with a cache in its place.

ROWS, COLUMNS = 128, 256  # of a tile: 128 KB, in the second cache
DEPTH = 64  # and 64 KB of y beside it; four of its rows, and four of the tile's, in the first


@njit(**SERIAL)
def multiply_tile(x, y, out, i, j):
    """The tile of out = x y that starts at (i, j), on one core; it is in a cache afterwards."""
    rows, columns = min(ROWS, out.shape[0] - i), min(COLUMNS, out.shape[1] - j)
    tile = padded_zeros(rows, columns, out.dtype)
    for k in range(0, x.shape[1], DEPTH):
        add_product(padded(x, i, k, ROWS, DEPTH), padded(y, k, j, DEPTH, COLUMNS), tile)
    for row in range(rows):
        copy_row(tile[row, :columns], out[i + row, j : j + columns])


@njit(**SERIAL)
def padded(source, i, j, rows, columns):
    """A copy of source[i : i + rows, j : j + columns], in order; zeros where the source ends."""
    rows, columns = min(rows, source.shape[0] - i), min(columns, source.shape[1] - j)
    copy = padded_zeros(rows, columns, source.dtype)
    for row in range(rows):
        copy_row(source[i + row, j : j + columns], copy[row])
    return copy


@njit(**SERIAL)
def padded_zeros(rows, columns, dtype):
    """Zeros, rounded up to blocks of 4 rows and 16 columns, so that the hot loop has no edges."""
    zeros = aligned_empty(((rows + 3) & -4, (columns + 15) & -16), dtype)
    zeros[...] = 0
    return zeros


@njit(**SERIAL)
def copy_row(row, to):
    for j in range(row.size):
        to[j] = row[j]


@njit(**SERIAL)
def add_product(x, y, out):
    """out += x y, all three padded (m and k to fours, n to sixteens). Four rows of out meet four
    rows of y: sixteen numbers of x wait in registers, and every eight loads and four stores buy
    sixteen multiply-adds.
    """
    for i in range(0, out.shape[0], 4):
        for k in range(0, y.shape[0], 4):
            x0, x1, x2, x3 = four(x, i, k), four(x, i + 1, k), four(x, i + 2, k), four(x, i + 3, k)
            for j in range(out.shape[1] & -16):  # a multiple of 16, as the compiler can see
                column = y[k, j], y[k + 1, j], y[k + 2, j], y[k + 3, j]
                out[i, j] = add_dot(out[i, j], x0, column)
                out[i + 1, j] = add_dot(out[i + 1, j], x1, column)
                out[i + 2, j] = add_dot(out[i + 2, j], x2, column)
                out[i + 3, j] = add_dot(out[i + 3, j], x3, column)


@njit(**SERIAL)
def four(x, i, k):
    return x[i, k], x[i, k + 1], x[i, k + 2], x[i, k + 3]


@njit(**SERIAL)
def add_dot(total, x, y):  # from left to right: four fused multiply-adds
    return total + x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3]


def in_tiles(x, y, out):
    """out = x y, of any shapes; fastest where rows lie in order, as NumPy makes them."""
    down, across = ceil_div(out.shape[0], ROWS), ceil_div(out.shape[1], COLUMNS)
    if out.shape[0] < 4 and y.flags.c_contiguous:
        ikj(x, y, out)  # y is used too little to be worth copying
    else:
        for tile in prange(down * across):
            multiply_tile(x, y, out, tile // across * ROWS, tile % across * COLUMNS)


multiply_one_core = njit(**SERIAL)(in_tiles)
multiply = njit(**PARALLEL)(in_tiles)
