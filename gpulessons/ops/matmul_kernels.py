"""The ladder of the matrix product on a GPU: each kernel adds one idea to the one before.

out (m, n) = x (m, k) times y (k, n), float32, any shape: what lies outside a matrix counts as zero.
Behind each name, what one multiply-add costs in reads, of global memory and of shared memory.
"""

import numpy as np
from numba import cuda, float32

from gpulessons.wide import load4, store4

T = 16  # a tile is T by T, and so is a block of threads: one result each
T_TURNED = T + 2  # rows this long put the column of a tile into different banks
R = 8  # results of a thread, in a column or a square: R totals, or R by R
K = 8  # tiles of the later kernels are flat: K numbers deep
STRIP, STRIP_THREADS = 64, 512  # a block computes 64 by 64, R in a column to each thread
SIDE, SIDE_THREADS = 128, 256  # a block computes 128 by 128, R by R to each thread
SIDE_TURNED = SIDE + 4  # writes down a column meet different banks; rows still begin at 16 bytes
# `t & 255` is t, but tells the compiler that t is not negative, a case that Numba would provide for
# at each t in an index. That spares up to 40 registers: two blocks of 256 fit where one did.
LAST_OF_STRIP, LAST_OF_SIDE = STRIP_THREADS - 1, SIDE_THREADS - 1
ZEROS = (np.float32(0),) * 4


@cuda.jit
def naive_kernel(x, y, out):
    """2 global. A thread per result, threadIdx.x down the rows: a warp reads 16 rows at a time."""
    i, j = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(x.shape[1]):
            total += x[i, k] * y[k, j]
        out[i, j] = total


@cuda.jit
def coalesced_kernel(x, y, out):
    """2 global. threadIdx.x along a row: the same reads, but a warp's are neighbors."""
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = float32(0)
        for k in range(x.shape[1]):
            total += x[i, k] * y[k, j]
        out[i, j] = total


@cuda.jit
def tile_kernel(x, y, out):
    """1/8 global, 2 shared. A block fetches a tile of x and one of y; all its threads use both."""
    xs = cuda.shared.array((T, T), float32)
    ys = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    (m, depth), n = x.shape, y.shape[1]
    total = float32(0)
    for start in range(0, depth, T):
        xs[ty, tx] = x[i, start + tx] if i < m and start + tx < depth else float32(0)
        ys[ty, tx] = y[start + ty, j] if start + ty < depth and j < n else float32(0)
        cuda.syncthreads()  # both tiles are complete
        for k in range(T):
            total += xs[ty, k] * ys[k, tx]
        cuda.syncthreads()  # and have been read by all, before the next two
    if i < m and j < n:
        out[i, j] = total


def layer_kernel(finish):
    """tile_kernel for a layer of a network: out = finish(x wᵀ + b), in one pass over memory.

    x: (examples, inputs), w: (outputs, inputs), b: (outputs,), out: (examples, outputs); `finish`
    is a device function of one number, the activation. Blocks of (T, T) threads, as tile_kernel's.
    A tile of w is read along its rows, like all that is coalesced, and turned on its way in.
    """

    @cuda.jit
    def layer(x, w, b, out):
        xs = cuda.shared.array((T, T), float32)
        ws = cuda.shared.array((T, T_TURNED), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        j, i = cuda.grid(2)
        (m, depth), n, row = x.shape, w.shape[0], cuda.blockIdx.x * T + ty
        total = float32(0)
        for start in range(0, depth, T):
            xs[ty, tx] = x[i, start + tx] if i < m and start + tx < depth else float32(0)
            ws[tx, ty] = w[row, start + tx] if row < n and start + tx < depth else float32(0)
            cuda.syncthreads()
            for k in range(T):
                total += xs[ty, k] * ws[k, tx]
            cuda.syncthreads()
        if i < m and j < n:
            out[i, j] = finish(total + b[j])  # while the number is at hand

    return layer


@cuda.jit
def column_kernel(x, y, out):
    """1/32 global, 9/8 shared. A thread computes 8 results of a column: y's numbers serve all 8."""
    xs = cuda.shared.array((STRIP, K), float32)
    ys = cuda.shared.array((K, STRIP), float32)
    b = cuda.local.array(K, float32)  # small arrays, and indices known once loops are unrolled:
    totals = cuda.local.array(R, float32)  # the compiler keeps them in registers
    for r in range(R):
        totals[r] = 0
    t, (m, depth), n = cuda.threadIdx.x & LAST_OF_STRIP, x.shape, y.shape[1]
    top, left = cuda.blockIdx.y * STRIP, cuda.blockIdx.x * STRIP
    row, column = t // STRIP * R, t % STRIP  # of the thread's first result, in the block
    xi, xk = t // K, t % K  # the number of each tile that this thread fetches
    yk, yj = t // STRIP, t % STRIP
    for start in range(0, depth, K):
        inside = top + xi < m and start + xk < depth
        xs[xi, xk] = x[top + xi, start + xk] if inside else float32(0)
        inside = start + yk < depth and left + yj < n
        ys[yk, yj] = y[start + yk, left + yj] if inside else float32(0)
        cuda.syncthreads()
        for k in range(K):
            b[k] = ys[k, column]
        for r in range(R):
            for k in range(K):
                totals[r] += xs[row + r, k] * b[k]
        cuda.syncthreads()
    for r in range(R):
        if top + row + r < m and left + column < n:
            out[top + row + r, left + column] = totals[r]


@cuda.jit
def square_kernel(x, y, out):
    """1/64 global, 1/4 shared. A thread computes 8 by 8 results: 16 numbers, 64 multiply-adds."""
    xs = cuda.shared.array((SIDE, K), float32)
    ys = cuda.shared.array((K, SIDE), float32)
    a, b = cuda.local.array((R, K), float32), cuda.local.array((K, R), float32)
    totals = cuda.local.array((R, R), float32)
    for r in range(R):
        for s in range(R):
            totals[r, s] = 0
    t, (m, depth), n = cuda.threadIdx.x & LAST_OF_SIDE, x.shape, y.shape[1]
    top, left = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    row, column = t // 16, t % 16  # of the thread's first result; the others are 16 apart
    for start in range(0, depth, K):
        for step in range(4):  # 256 threads fetch 1,024 numbers of each matrix
            i, k = t // K + 32 * step, t % K
            inside = top + i < m and start + k < depth
            xs[i, k] = x[top + i, start + k] if inside else float32(0)
            k, j = t // SIDE + 2 * step, t % SIDE
            inside = start + k < depth and left + j < n
            ys[k, j] = y[start + k, left + j] if inside else float32(0)
        cuda.syncthreads()
        for k in range(K):
            for r in range(R):
                a[r, k], b[k, r] = xs[row + 16 * r, k], ys[k, column + 16 * r]
        for r in range(R):
            for s in range(R):
                for k in range(K):
                    totals[r, s] += a[r, k] * b[k, s]
        cuda.syncthreads()
    for r in range(R):
        for s in range(R):
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
    for r in range(R):
        for s in range(0, R, 4):
            row, column = i + r + r // 4 * 60, j + s // 4 * 64
            if row < out.shape[0] and column < out.shape[1]:
                four = totals[r, s], totals[r, s + 1], totals[r, s + 2], totals[r, s + 3]
                store4(out, (row, column), four)


@cuda.jit
def vector_kernel(x, y, out):
    """1/256 global, 1/16 shared: the same numbers, four to a read. Rows must be whole fours.

    x's tile is turned, so that four rows' numbers lie side by side.
    """
    xs = cuda.shared.array((K, SIDE_TURNED), float32, 16)
    ys = cuda.shared.array((K, SIDE), float32, 16)
    a, b = cuda.local.array((K, R), float32), cuda.local.array((K, R), float32)
    totals = cuda.local.array((R, R), float32)
    for r in range(R):
        for s in range(R):
            totals[r, s] = 0
    t = cuda.threadIdx.x & LAST_OF_SIDE
    top, left = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    row, column = t // 16 * 4, t % 16 * 4  # of the first four; the other four are 64 apart
    for start in range(0, x.shape[1], K):
        i, k = t // 2, t % 2 * 4
        xs[k, i], xs[k + 1, i], xs[k + 2, i], xs[k + 3, i] = fetch4(x, top + i, start + k)
        k, j = t // 32, t % 32 * 4
        store4(ys, (k, j), fetch4(y, start + k, left + j))
        cuda.syncthreads()
        for k in range(K):
            a[k, 0], a[k, 1], a[k, 2], a[k, 3] = load4(xs, (k, row))
            a[k, 4], a[k, 5], a[k, 6], a[k, 7] = load4(xs, (k, row + 64))
            b[k, 0], b[k, 1], b[k, 2], b[k, 3] = load4(ys, (k, column))
            b[k, 4], b[k, 5], b[k, 6], b[k, 7] = load4(ys, (k, column + 64))
        for r in range(R):
            for s in range(R):
                for k in range(K):
                    totals[r, s] += a[k, r] * b[k, s]
        cuda.syncthreads()
    store_totals(out, top + row, left + column, totals)


@cuda.jit
def double_kernel(x, y, out):
    """1/256 global, 1/16 shared, one barrier a tile instead of two: while a pair of tiles is
    multiplied, the next is on its way, into registers first and then into a second pair.
    """
    xs = cuda.shared.array((2, K, SIDE_TURNED), float32, 16)
    ys = cuda.shared.array((2, K, SIDE), float32, 16)
    a, b = cuda.local.array((K, R), float32), cuda.local.array((K, R), float32)
    totals = cuda.local.array((R, R), float32)
    for r in range(R):
        for s in range(R):
            totals[r, s] = 0
    t = cuda.threadIdx.x & LAST_OF_SIDE
    top, left = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    row, column = t // 16 * 4, t % 16 * 4
    i, u, v, j = t // 2, t % 2 * 4, t // 32, t % 32 * 4  # this thread's four of x, its four of y
    xs[0, u, i], xs[0, u + 1, i], xs[0, u + 2, i], xs[0, u + 3, i] = fetch4(x, top + i, u)
    store4(ys, (0, v, j), fetch4(y, v, left + j))
    cuda.syncthreads()
    now = 0
    for start in range(K, x.shape[1] + K, K):  # of the next tiles; the last are all zeros
        next_x, next_y = fetch4(x, top + i, start + u), fetch4(y, start + v, left + j)
        for k in range(K):
            a[k, 0], a[k, 1], a[k, 2], a[k, 3] = load4(xs, (now, k, row))
            a[k, 4], a[k, 5], a[k, 6], a[k, 7] = load4(xs, (now, k, row + 64))
            b[k, 0], b[k, 1], b[k, 2], b[k, 3] = load4(ys, (now, k, column))
            b[k, 4], b[k, 5], b[k, 6], b[k, 7] = load4(ys, (now, k, column + 64))
        for r in range(R):
            for s in range(R):
                for k in range(K):
                    totals[r, s] += a[k, r] * b[k, s]
        now = start // K & 1  # the pair that nobody reads: 1, 0, 1, …
        xs[now, u, i], xs[now, u + 1, i], xs[now, u + 2, i], xs[now, u + 3, i] = next_x
        store4(ys, (now, v, j), next_y)
        cuda.syncthreads()
    store_totals(out, top + row, left + column, totals)
