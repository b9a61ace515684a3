"""Matrix product: the arithmetic that deep learning is made of.

    matmul(x, y)[i, j] = sum over k of x[i, k] y[k, j]

2 m k n operations on m k + k n + m n numbers: each is used hundreds of times. A program that loads
it anew for every use waits for memory; all that follows is one idea, to use a number as often as
possible while it is close: in a register, in a cache, in shared memory.

The CPU's loops are those of matmul_cpu.py. The ladder on a GPU is here, each kernel with one idea
more than the one before, and behind its name what one multiply-add costs in reads, of global memory
and of shared memory. Its last step, tensor cores, is in matmul_tensor_cores.py. After S. Boehm,
"How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance", 2022.
"""

import numpy as np
from numba import cuda, float32

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from .common import THREADS, ZERO, grid, torch_call
from .load4 import load4, store4
from .matmul_cpu import multiply, multiply_one_core
from .matmul_tensor_cores import launch_tf32


def matrices(m, rng, k=None, n=None):
    """x: (m, k), y: (k, n) float32, squares by default; the product's entries are around 1."""
    k, n = k or m, n or m
    x, y = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    return x, y / np.float32(k**0.5)


# rtol: 4096 float32 additions in a row lose 1.2e-5; NumPy's blocked ones 2e-6.
@op(inputs=matrices, flops=lambda x, y: 2 * x.shape[0] * x.shape[1] * y.shape[1],
    sizes=(64, 256, 1024), rtol=2e-5, unit="rows and columns", signature="(m, k), (k, n)",
    edge_cases=(Case(33, k=16, n=36), Case(19, k=9, n=22), Case(70, k=35, n=73), Case(1, k=1, n=4)),
)  # fmt: skip
def matmul(x, y, out=None):
    """The product of x (m, k) and y (k, n): (m, n), of their dtype."""
    return np.matmul(x, y, out=out)


matmul.version("Numba, registers, one core", on=host)(multiply_one_core)
matmul.version("Numba, registers, every core", on=host)(multiply)


# -- On the GPU: a thread for each result, in blocks of T × T. Any shape will do: what lies outside
# -- a matrix counts as zero. Grids are (columns, rows).

T = 16


@cuda.jit
def naive_kernel(x, y, out):
    """2 global. A thread per result, threadIdx.x down the rows: a warp reads 16 rows at a time."""
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total, k = float32(0), 0
        while k < x.shape[1]:  # not range(): notebook 05 says why
            total += x[i, k] * y[k, j]
            k += 1
        out[i, j] = total


@matmul.version("CUDA, naive", on=gpu)
def launch_naive(x, y, out):
    m, n = out.shape
    naive_kernel[grid((n, m), T, T), (T, T)](x, y, out)  # (down, across)


@cuda.jit
def coalesced_kernel(x, y, out):
    """2 global. threadIdx.x along a row: the same reads, but a warp's are neighbors."""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total, k = float32(0), 0
        while k < x.shape[1]:  # not range(): notebook 05 says why
            total += x[i, k] * y[k, j]
            k += 1
        out[i, j] = total


@matmul.version("CUDA, coalesced", on=gpu)
def launch_coalesced(x, y, out):
    coalesced_kernel[grid(out.shape, T, T), (T, T)](x, y, out)


# -- Shared memory. Of a shared array that begins at 16 bytes (its last argument) the compiler may
# -- join four reads.


@cuda.jit
def tile_kernel(x, y, out):
    """1/8 global, 2 shared. A block fetches a tile of x and one of y; all its threads use both."""
    xs = cuda.shared.array((T, T), float32, 16)
    ys = cuda.shared.array((T, T), float32, 16)
    tx, ty = cuda.threadIdx.x & (T - 1), cuda.threadIdx.y & (T - 1)  # &: neither is negative
    j, i = cuda.grid(2)
    (m, depth), n = x.shape, y.shape[1]
    total, start = float32(0), 0
    while start < depth:
        xs[ty, tx] = x[i, start + tx] if i < m and start + tx < depth else float32(0)
        ys[ty, tx] = y[start + ty, j] if start + ty < depth and j < n else float32(0)
        cuda.syncthreads()  # both tiles are complete
        for k in range(T):
            total += xs[ty, k] * ys[k, tx]
        cuda.syncthreads()  # and have been read by all, before the next two
        start += T
    if i < m and j < n:
        out[i, j] = total


@matmul.version("CUDA, shared tile", on=gpu)
def launch_tile(x, y, out):
    tile_kernel[grid(out.shape, T, T), (T, T)](x, y, out)


# -- Registers. Tile sizes are named as usual for a GEMM: a block of threads computes BM × BN
# -- results from tiles BK deep, and each of its threads TM × TN of them.
# -- `t & 255` is t, but tells the compiler that t is not negative, a case that Numba would provide
# -- for at each t in an index. That spares up to 40 registers: two blocks of 256 fit where one did.

BK, TM, TN = 8, 8, 8
BM, BN, LAST = 128, 128, THREADS - 1


@cuda.jit
def square_kernel(x, y, out):
    """1/64 global, 1/4 shared. A thread computes 8 by 8 results: 16 numbers, 64 multiply-adds."""
    xs = cuda.shared.array((BM, BK), float32)
    ys = cuda.shared.array((BK, BN), float32)
    a, b = cuda.local.array(TM, float32), cuda.local.array(TN, float32)  # small, and indices known
    totals = cuda.local.array((TM, TN), float32)  # once loops are unrolled: these are registers
    for r in range(TM):
        for s in range(TN):
            totals[r, s] = 0
    t, (m, depth), n = cuda.threadIdx.x & LAST, x.shape, y.shape[1]
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    row, column = t // 16, t % 16  # of the thread's first result; the others are 16 apart
    for start in range(0, depth, BK):
        for step in range(4):  # 256 threads fetch 1,024 numbers of each matrix
            i, k = t // BK + 32 * step, t % BK
            inside = top + i < m and start + k < depth
            xs[i, k] = x[top + i, start + k] if inside else float32(0)
            k, j = t // BN + 2 * step, t % BN
            inside = start + k < depth and left + j < n
            ys[k, j] = y[start + k, left + j] if inside else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            for r in range(TM):
                a[r], b[r] = xs[row + 16 * r, k], ys[k, column + 16 * r]
            for r in range(TM):
                for s in range(TN):
                    totals[r, s] += a[r] * b[s]
        cuda.syncthreads()
    for r in range(TM):
        for s in range(TN):
            i, j = top + row + 16 * r, left + column + 16 * s
            if i < m and j < n:
                out[i, j] = totals[r, s]


@matmul.version("CUDA, 2-D register tile", on=gpu)
def launch_square(x, y, out):
    square_kernel[grid(out.shape, BM, BN), THREADS](x, y, out)


# -- Four numbers in one request. A read of 16 bytes begins at a multiple of 16: rows that are no
# -- whole fours take the version above.

ZEROS = (ZERO,) * 4
BM_PADDED = BM + 4  # writes down a column meet different banks; rows still begin at 16 bytes


def whole_fours(x, y):
    return x.shape[1] % 4 == 0 and y.shape[1] % 4 == 0


@cuda.jit(device=True)
def fetch4(x, i, j):
    """Four numbers of row i from column j on, in one request; zeros outside the matrix."""
    return load4(x, (i, j)) if i < x.shape[0] and j < x.shape[1] else ZEROS


@cuda.jit(device=True)
def store_totals(out, i, j, totals):
    """8 by 8 results, four to a write: rows i to i + 3 and 64 further down, columns likewise."""
    for r in range(TM):
        for s in range(0, TN, 4):
            row, column = i + r + r // 4 * 60, j + s // 4 * 64
            if row < out.shape[0] and column < out.shape[1]:
                four = totals[r, s], totals[r, s + 1], totals[r, s + 2], totals[r, s + 3]
                store4(out, (row, column), four)


@cuda.jit
def vector_kernel(x, y, out):
    """1/256 global, 1/16 shared: the same numbers, four to a read. Rows must be whole fours.

    x's tile is transposed, so that four rows' numbers lie side by side.
    """
    xs = cuda.shared.array((BK, BM_PADDED), float32, 16)
    ys = cuda.shared.array((BK, BN), float32, 16)
    a, b = cuda.local.array((BK, TM), float32), cuda.local.array((BK, TN), float32)
    totals = cuda.local.array((TM, TN), float32)
    for r in range(TM):
        for s in range(TN):
            totals[r, s] = 0
    t = cuda.threadIdx.x & LAST
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    row, column = t // 16 * 4, t % 16 * 4  # of the first four; the other four are 64 apart
    for start in range(0, x.shape[1], BK):
        i, k = t // 2, t % 2 * 4
        xs[k, i], xs[k + 1, i], xs[k + 2, i], xs[k + 3, i] = fetch4(x, top + i, start + k)
        k, j = t // 32, t % 32 * 4
        store4(ys, (k, j), fetch4(y, start + k, left + j))
        cuda.syncthreads()
        for k in range(BK):
            a[k, 0], a[k, 1], a[k, 2], a[k, 3] = load4(xs, (k, row))
            a[k, 4], a[k, 5], a[k, 6], a[k, 7] = load4(xs, (k, row + 64))
            b[k, 0], b[k, 1], b[k, 2], b[k, 3] = load4(ys, (k, column))
            b[k, 4], b[k, 5], b[k, 6], b[k, 7] = load4(ys, (k, column + 64))
        for r in range(TM):
            for s in range(TN):
                for k in range(BK):
                    totals[r, s] += a[k, r] * b[k, s]
        cuda.syncthreads()
    store_totals(out, top + row, left + column, totals)


@matmul.version("CUDA, vectorized loads", on=gpu)
def launch_vector(x, y, out):
    kernel = vector_kernel if whole_fours(x, y) else square_kernel
    kernel[grid(out.shape, BM, BN), THREADS](x, y, out)


# -- Tensor cores. TF32 puts most results off by 3e-4, and the worst of a million by 1.5e-3.

matmul.version("CUDA, tensor cores (TF32)", on=gpu, rtol=3e-3, arithmetic="TF32")(launch_tf32)


mm = torch_call("mm")
matmul.version("PyTorch on CPU", on=torch_cpu, prepares=True)(mm)
matmul.version("PyTorch on GPU", on=torch_gpu, prepares=True)(mm)
matmul.version("PyTorch, TF32, GPU", on=torch_gpu, rtol=5e-3, arithmetic="TF32", prepares=True)(mm)
