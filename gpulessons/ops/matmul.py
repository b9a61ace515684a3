"""Matrix product: the arithmetic that deep learning is made of.

    matmul(x, y)[i, j] = sum over k of x[i, k] y[k, j]

2 m k n operations on m k + k n + m n numbers: each number is used again and again, hundreds of
times. Whoever fetches it anew for every use waits for memory; all that follows is one idea, to use
a number as often as possible while it is close: in a register, in a cache, in shared memory.
"""

from functools import partial

import numpy as np
from numba import njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from . import matmul_fp16 as fp16
from . import matmul_kernels as kernels
from . import matmul_tensor_cores as tensor_cores
from .common import PARALLEL, SERIAL, aligned_empty, ceil_div
from .mma import refuse_older_gpus


def matrices(m, rng, k=None, n=None):
    """x: (m, k), y: (k, n) float32, squares by default; the product's entries are around 1."""
    k, n = k or m, n or m
    x, y = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    return x, y / np.float32(k**0.5)


@op(
    inputs=matrices,
    flops=lambda x, y: 2 * x.shape[0] * x.shape[1] * y.shape[1],
    sizes=(64, 256, 1024),
    rtol=2e-5,  # 4096 float32 additions in a row lose 1.2e-5; NumPy's blocked ones 2e-6
    unit="rows and columns",
    edge_cases=(Case(33, k=16, n=36), Case(19, k=9, n=22), Case(70, k=35, n=73), Case(1, k=1, n=4)),
    signature="(m, k), (k, n)",
)
def matmul(x, y, out=None):
    """The product of x (m, k) and y (k, n): (m, n), of their dtype."""
    return np.matmul(x, y, out=out)


@matmul.version("Python loop", on=host)
def python_loop(x, y, out):
    columns = list(zip(*y.tolist(), strict=True))  # lists: an array makes an object of each number
    for i, row in enumerate(x.tolist()):
        for j, column in enumerate(columns):
            total = 0.0
            for value, factor in zip(row, column, strict=True):
                total += value * factor
            out[i, j] = total


@matmul.version("NumPy, row by row", on=host)
def row_by_row(x, y, out):
    for i in range(x.shape[0]):
        out[i] = (x[i, :, None] * y).sum(axis=0)  # a column of factors times all of y


@matmul.version("Numba, one core, ijk", on=host)
@njit(**SERIAL)
def ijk(x, y, out):
    for i in range(x.shape[0]):
        for j in range(y.shape[1]):
            total = np.float32(0)
            for k in range(x.shape[1]):
                total += x[i, k] * y[k, j]  # down a column of y: a cache line for every number
            out[i, j] = total


@matmul.version("Numba, one core, ikj", on=host)
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
    """The tile of out = x y that starts at (i, j), on one core. Whoever has more to do with these
    numbers does it next, while they are close: out[i : i + ROWS, j : j + COLUMNS].
    """
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
    """out = x y, of any shapes (m, k), (k, n) and (m, n); fastest where rows lie in order, as NumPy
    makes them.
    """
    down, across = ceil_div(out.shape[0], ROWS), ceil_div(out.shape[1], COLUMNS)
    if out.shape[0] < 4 and y.flags.c_contiguous:
        ikj(x, y, out)  # y is used too little to be worth copying
    else:
        for tile in prange(down * across):
            multiply_tile(x, y, out, tile // across * ROWS, tile % across * COLUMNS)


multiply_one_core = njit(**SERIAL)(in_tiles)
multiply = njit(**PARALLEL)(in_tiles)
matmul.version("Numba, blocked, one core", on=host)(multiply_one_core)
matmul.version("Numba, blocked, every core", on=host)(multiply)


# -- On the GPU: the ladder of matmul_kernels.py, one idea a rung. Grids are (columns, rows).


def launcher(kernel, bm, bn, threads):
    """A block of so many threads for each bm rows and bn columns of the result."""

    def launch(x, y, out):
        m, n = out.shape
        kernel[(ceil_div(n, bn), ceil_div(m, bm)), threads](x, y, out)

    return launch


def launcher_of_fours(kernel):
    """A read of 16 bytes begins at a multiple of 16: other rows take the rung below."""
    of_fours = launcher(kernel, kernels.BM, kernels.BN, kernels.THREADS)

    def launch(x, y, out):
        fits = x.shape[1] % 4 == 0 and y.shape[1] % 4 == 0
        (of_fours if fits else launch_square)(x, y, out)

    return launch


T, BM, BN = kernels.T, kernels.BM, kernels.BN
launch_tile = launcher(kernels.tile_kernel, T, T, (T, T))
launch_square = launcher(kernels.square_kernel, BM, BN, kernels.THREADS)


@matmul.version("CUDA, naive", on=gpu)
def launch_naive(x, y, out):
    m, n = out.shape
    kernels.naive_kernel[(ceil_div(m, T), ceil_div(n, T)), (T, T)](x, y, out)  # (rows, columns)


matmul.version("CUDA, coalesced", on=gpu)(launcher(kernels.coalesced_kernel, T, T, (T, T)))
matmul.version("CUDA, shared tile", on=gpu)(launch_tile)
matmul.version("CUDA, 1-D register tile", on=gpu)(
    launcher(kernels.column_kernel, kernels.BM_1D, kernels.BN_1D, kernels.THREADS_1D)
)
matmul.version("CUDA, 2-D register tile", on=gpu)(launch_square)
matmul.version("CUDA, vectorized loads", on=gpu)(launcher_of_fours(kernels.vector_kernel))
matmul.version("CUDA, double buffering", on=gpu)(launcher_of_fours(kernels.double_kernel))


# rtol: factors in TF32 put most results off by 3e-4, and the worst of a million by 1.5e-3.
@matmul.version("CUDA, tensor cores (TF32)", on=gpu, rtol=3e-3, arithmetic="TF32")
def launch_tensor_cores(x, y, out):
    refuse_older_gpus("TF32")
    m, n = out.shape
    grid = ceil_div(n, tensor_cores.BN), ceil_div(m, tensor_cores.BM)
    tensor_cores.tensor_core_kernel[grid, (32, tensor_cores.WARPS)](x, y, out)


# As many digits as TF32, where numbers are neither huge nor tiny.
@matmul.version("CUDA, tensor cores (fp16)", on=gpu, rtol=3e-3, arithmetic="fp16")
def launch_fp16(x, y, out):
    refuse_older_gpus("fp16")
    m, n = out.shape
    fp16.fp16_kernel[(ceil_div(n, fp16.BN), ceil_div(m, fp16.BM)), (32, fp16.WARPS)](x, y, out)


# -- PyTorch.


@matmul.version("PyTorch, TF32, GPU", on=torch_gpu, rtol=5e-3, arithmetic="TF32", prepares=True)
@matmul.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@matmul.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def pytorch(x, y, out):
    import torch

    return partial(torch.mm, x, y, out=out)


def torch_half(name):
    """A product of 16-bit numbers. The casts there and back belong to it, and to its time."""

    def cast_and_multiply(x, y, out):
        import torch

        half = getattr(torch, name)
        return lambda: out.copy_(x.to(half) @ y.to(half))

    return cast_and_multiply


for name, half, rtol in (("bf16", "bfloat16", 3e-2), ("fp16", "float16", 5e-3)):
    matmul.version(
        f"PyTorch, cast to {name}, GPU", on=torch_gpu, rtol=rtol, arithmetic=name, prepares=True
    )(torch_half(half))
