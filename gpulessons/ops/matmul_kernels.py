"""The ladder of the matrix product on a GPU: each kernel adds one idea to the one before.

out (m, n) = x (m, k) times y (k, n), float32, any shape: what lies outside a matrix counts as zero.
Behind each name, what one multiply-add costs in reads, of global memory and of shared memory. After
S. Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance", 2022.
"""

from numba import cuda, float32

from .common import ZERO, ceil_div
from .load4 import load4, store4

# Tile sizes, named as usual for a GEMM: a block of threads computes BM × BN results from tiles BK
# deep, and each of its threads TM × TN of them.
T = 16  # the first kernels: BM = BN = BK = T, and a thread for each result
T_PADDED = T + 2  # rows this long put the column of a tile into different banks
BM, BN, BK, TM, TN, THREADS = 128, 128, 8, 8, 8, 256
BM_PADDED = BM + 4  # writes down a column meet different banks; rows still begin at 16 bytes
BM_1D, BN_1D, THREADS_1D = 64, 64, 512  # of the first kernel with more than one result a thread
# Of a shared array that begins at 16 bytes (its last argument) the compiler may join four reads.
# `t & 255` is t, but tells the compiler that t is not negative, a case that Numba would provide for
# at each t in an index. That spares up to 40 registers: two blocks of 256 fit where one did.
LAST, LAST_1D = THREADS - 1, THREADS_1D - 1
ZEROS = (ZERO,) * 4


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


@cuda.jit(device=True)
def tile_dot(x, w):
    """x[i] · w[j] for thread (j, i) of a grid of blocks (T, T): tile_kernel for x wᵀ.

    x: (m, depth), w: (n, depth). Both are read along their rows, which is coalesced; the tile of w
    is transposed on its way into shared memory. All threads of a block have to call this.
    """
    xs = cuda.shared.array((T, T), float32)
    ws = cuda.shared.array((T, T_PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i, row = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + ty
    total = float32(0)
    for start in range(0, x.shape[1], T):
        k = start + tx
        xs[ty, tx] = x[i, k] if i < x.shape[0] and k < x.shape[1] else float32(0)
        ws[tx, ty] = w[row, k] if row < w.shape[0] and k < x.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(T):
            total += xs[ty, k] * ws[k, tx]
        cuda.syncthreads()
    return total


def layer_kernel(finish):
    """A layer of a network: out = finish(x wᵀ + b), in one pass over memory.

    x: (examples, inputs), w: (outputs, inputs), b: (outputs,), out: (examples, outputs); `finish`
    is a device function of one number, the activation. Blocks of (T, T) threads.
    """

    @cuda.jit
    def layer(x, w, b, out):
        j, i = cuda.grid(2)
        total = tile_dot(x, w)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = finish(total + b[j])  # while the number is at hand

    return layer


@cuda.jit(device=True)
def identity(value):
    return value


linear_kernel = layer_kernel(identity)


def tiles(rows, columns):
    """Grid and block for a thread per result of a matrix, in tiles of T by T."""
    return (ceil_div(columns, T), ceil_div(rows, T)), (T, T)


@cuda.jit
def column_kernel(x, y, out):
    """1/32 global, 9/8 shared. A thread computes 8 results of a column: y's numbers serve all 8."""
    xs = cuda.shared.array((BM_1D, BK), float32, 16)
    ys = cuda.shared.array((BK, BN_1D), float32)
    b = cuda.local.array(BK, float32)  # small arrays, and indices known once loops are unrolled:
    totals = cuda.local.array(TM, float32)  # the compiler keeps them in registers
    for r in range(TM):
        totals[r] = 0
    t, (m, depth), n = cuda.threadIdx.x & LAST_1D, x.shape, y.shape[1]
    top, left = cuda.blockIdx.y * BM_1D, cuda.blockIdx.x * BN_1D
    row, column = t // BN_1D * TM, t % BN_1D  # of the thread's first result, in the block
    xi, xk = t // BK, t % BK  # the number of each tile that this thread fetches
    yk, yj = t // BN_1D, t % BN_1D
    for start in range(0, depth, BK):
        inside = top + xi < m and start + xk < depth
        xs[xi, xk] = x[top + xi, start + xk] if inside else float32(0)
        inside = start + yk < depth and left + yj < n
        ys[yk, yj] = y[start + yk, left + yj] if inside else float32(0)
        cuda.syncthreads()
        for k in range(BK):
            b[k] = ys[k, column]
        for r in range(TM):
            for k in range(BK):
                totals[r] += xs[row + r, k] * b[k]
        cuda.syncthreads()
    for r in range(TM):
        if top + row + r < m and left + column < n:
            out[top + row + r, left + column] = totals[r]


@cuda.jit
def square_kernel(x, y, out):
    """1/64 global, 1/4 shared. A thread computes 8 by 8 results: 16 numbers, 64 multiply-adds."""
    xs = cuda.shared.array((BM, BK), float32)
    ys = cuda.shared.array((BK, BN), float32)
    a, b = cuda.local.array((TM, BK), float32), cuda.local.array((BK, TN), float32)
    totals = cuda.local.array((TM, TN), float32)
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
                a[r, k], b[k, r] = xs[row + 16 * r, k], ys[k, column + 16 * r]
        for r in range(TM):
            for s in range(TN):
                for k in range(BK):
                    totals[r, s] += a[r, k] * b[k, s]
        cuda.syncthreads()
    for r in range(TM):
        for s in range(TN):
            i, j = top + row + 16 * r, left + column + 16 * s
            if i < m and j < n:
                out[i, j] = totals[r, s]


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


@cuda.jit
def double_kernel(x, y, out):
    """1/256 global, 1/16 shared, one barrier a tile instead of two: while a pair of tiles is
    multiplied, the next is on its way, into registers first and then into a second pair.
    """
    xs = cuda.shared.array((2, BK, BM_PADDED), float32, 16)
    ys = cuda.shared.array((2, BK, BN), float32, 16)
    a, b = cuda.local.array((BK, TM), float32), cuda.local.array((BK, TN), float32)
    totals = cuda.local.array((TM, TN), float32)
    for r in range(TM):
        for s in range(TN):
            totals[r, s] = 0
    t = cuda.threadIdx.x & LAST
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    row, column = t // 16 * 4, t % 16 * 4
    i, u, v, j = t // 2, t % 2 * 4, t // 32, t % 32 * 4  # this thread's four of x, its four of y
    xs[0, u, i], xs[0, u + 1, i], xs[0, u + 2, i], xs[0, u + 3, i] = fetch4(x, top + i, u)
    store4(ys, (0, v, j), fetch4(y, v, left + j))
    cuda.syncthreads()
    now = 0
    for start in range(BK, x.shape[1] + BK, BK):  # of the next tiles; the last are all zeros
        next_x, next_y = fetch4(x, top + i, start + u), fetch4(y, start + v, left + j)
        for k in range(BK):
            a[k, 0], a[k, 1], a[k, 2], a[k, 3] = load4(xs, (now, k, row))
            a[k, 4], a[k, 5], a[k, 6], a[k, 7] = load4(xs, (now, k, row + 64))
            b[k, 0], b[k, 1], b[k, 2], b[k, 3] = load4(ys, (now, k, column))
            b[k, 4], b[k, 5], b[k, 6], b[k, 7] = load4(ys, (now, k, column + 64))
        for r in range(TM):
            for s in range(TN):
                for k in range(BK):
                    totals[r, s] += a[k, r] * b[k, s]
        now = start // BK & 1  # the pair that nobody reads: 1, 0, 1, …
        xs[now, u, i], xs[now, u + 1, i], xs[now, u + 2, i], xs[now, u + 3, i] = next_x
        store4(ys, (now, v, j), next_y)
        cuda.syncthreads()
    store_totals(out, top + row, left + column, totals)
