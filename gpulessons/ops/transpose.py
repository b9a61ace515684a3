"""Transpose: no arithmetic at all, and every way to move bytes badly.

    transpose(x)[j, i] = x[i, j]

Rows are read along memory and written across it, or the other way round: one of the two is always
scattered. The cure is a tile: fetch a small square in order, turn it where turning is free (a
CPU's cache, a GPU's shared memory), and write it in order. The kernels are those of Harris, "An
Efficient Matrix Transpose in CUDA C/C++", 2013.
"""

from functools import partial

import numpy as np
from numba import cuda, float32, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .common import SIZES, ceil_div, grid

TILE = 32  # one warp wide
PADDED = TILE + 1  # one spare column puts a tile's column into 32 different banks
THREADS_DOWN = 8  # a block of 32 × 8 threads: each moves four elements


def rectangle(size, rng):
    """x: (rows, columns) float32 of about `size` elements, neither square nor a multiple of 32."""
    rows = max(1, int((size / 2) ** 0.5))
    return (rng.standard_normal((rows, max(1, size // rows)), np.float32),)


@op(inputs=rectangle, flops=lambda x: 0, sizes=SIZES, rtol=0)
def transpose(x):
    """x with its rows as columns. x: (m, n) of any dtype; returns (n, m), in C order."""
    return np.ascontiguousarray(x.T)


@transpose.version("Numba, one core", on=host)
@njit
def one_core(x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[j, i] = x[i, j]


@transpose.version("Numba, tiled, every core", on=host)
@njit(parallel=True)
def tiled(x, out):
    rows, columns = x.shape
    for tile in prange(ceil_div(rows, TILE)):  # a strip of rows to each core, a square at a time
        i0 = tile * TILE
        for j0 in range(0, columns, TILE):
            for j in range(j0, min(j0 + TILE, columns)):
                for i in range(i0, min(i0 + TILE, rows)):
                    out[j, i] = x[i, j]


@cuda.jit
def naive_kernel(x, out):
    j, i = cuda.grid(2)  # threadIdx.x runs along a row: reads are coalesced, writes are not
    if i < x.shape[0] and j < x.shape[1]:
        out[j, i] = x[i, j]


@transpose.version("CUDA, naive", on=gpu)
def launch_naive(x, out):
    naive_kernel[grid(x.shape, THREADS_DOWN, TILE), (TILE, THREADS_DOWN)](x, out)


def tile_kernel(width):
    """Read a square along its rows, turn it in shared memory, write it along its rows."""

    @cuda.jit
    def through_tile(x, out):
        tile = cuda.shared.array((TILE, width), float32)
        lane, column, row = cuda.threadIdx.x, cuda.blockIdx.x * TILE, cuda.blockIdx.y * TILE
        for step in range(0, TILE, THREADS_DOWN):
            n = cuda.threadIdx.y + step
            if row + n < x.shape[0] and column + lane < x.shape[1]:
                tile[n, lane] = x[row + n, column + lane]
        cuda.syncthreads()  # the tile is complete
        for step in range(0, TILE, THREADS_DOWN):
            n = cuda.threadIdx.y + step
            if column + n < out.shape[0] and row + lane < out.shape[1]:
                out[column + n, row + lane] = tile[lane, n]  # down a column of the tile

    return through_tile


shared_kernel = tile_kernel(TILE)  # a column lies in one bank: 32 threads queue for it
padded_kernel = tile_kernel(PADDED)  # a column lies in 32 banks


def launcher(kernel):
    """A block for each tile, the last ones of a row and of a column only partly filled."""

    def launch(x, out):
        kernel[grid(x.shape, TILE, TILE), (TILE, THREADS_DOWN)](x, out)

    return launch


launch_padded = launcher(padded_kernel)
transpose.version("CUDA, shared tile", on=gpu)(launcher(shared_kernel))
transpose.version("CUDA, padded tile", on=gpu)(launch_padded)


@transpose.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@transpose.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def pytorch(x, out):
    return partial(out.copy_, x.T)
