"""The last rung of the ladder: the matrix product on tensor cores, in TF32.

As before, a block stages tiles of x and y in shared memory, and each thread keeps its sums in
registers. New is who multiplies: a whole warp, by `mma` (mma.py), 2,048 FLOPs
an instruction. A warp computes 64 × 32 results, as 4 × 4 times mma's 16 × 8: from 24 numbers that a
thread reads in shared memory come 16 instructions, 512 multiply-adds of its own. Now it is the
fetching that takes the time; so the next tiles are on their way while these are multiplied.
"""

from numba import cuda, float32, uint32

from .mma import accumulator_place, left_fragment, mma, right_fragment, tf32

BM, BN, SLICE = 128, 128, 32  # a block computes 128 × 128 results, from 32 columns of x at a time
WARPS = 8  # in two rows of four, each with its 64 × 32 results
X_STEP, Y_STEP = WARPS, WARPS * 32 // BN  # rows of a tile that all threads fetch side by side
FETCHED = SLICE // Y_STEP  # what a thread fetches of either tile
SLICE_PADDED, BN_PADDED = SLICE + 4, BN + 8  # rows so long put a fragment into 32 different banks


@cuda.jit(device=True)
def fetch(matrix, row, column, step, numbers):
    """Every step-th number down a column from (row, column) on; outside the matrix, zeros."""
    for n in range(FETCHED):
        i, j = uint32(row + n * step), uint32(column)  # unsigned: no index counts from the end
        numbers[n] = matrix[i, j] if i < matrix.shape[0] and j < matrix.shape[1] else float32(0)


@cuda.jit(device=True)
def put(numbers, tile, row, column, step):
    """The same in shared memory, rounded once for all who will read it."""
    for n in range(FETCHED):
        tile[row + n * step, column] = tf32(numbers[n])


@cuda.jit(device=True)
def multiply(xs, ys, row, column, sums):
    """Add the product of two tiles to this warp's 64 × 32 sums, which begin at (row, column)."""
    right = cuda.local.array((4, 2), float32)
    for k in range(0, SLICE, 8):
        for j in range(4):
            right[j, 0], right[j, 1] = right_fragment(ys, k, column + 8 * j)
        for i in range(4):
            left = left_fragment(xs, row + 16 * i, k)
            for j in range(4):
                s, factors = sums[4 * i + j], (right[j, 0], right[j, 1])
                s[0], s[1], s[2], s[3] = mma(left, factors, (s[0], s[1], s[2], s[3]))


@cuda.jit
def tensor_core_kernel(x, y, out):
    """1/64 global, 3/64 shared. Blocks of (32, 8) threads: threadIdx.y is the warp."""
    xs = cuda.shared.array((BM, SLICE_PADDED), float32)
    ys = cuda.shared.array((SLICE, BN_PADDED), float32)
    next_x, next_y = cuda.local.array(FETCHED, float32), cuda.local.array(FETCHED, float32)
    sums = cuda.local.array((16, 4), float32)  # all three in registers: every index is known
    lane, warp = cuda.threadIdx.x & 31, cuda.threadIdx.y & 7  # & says: these are not negative
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    j, i = lane + 32 * (warp & 3), warp >> 2  # this thread's part of a tile of y; of x: lane, warp
    row, column = 64 * (warp >> 2), 32 * (warp & 3)  # and this warp's results
    for s in range(16):
        for n in range(4):
            sums[s, n] = 0
    fetch(x, top + warp, lane, X_STEP, next_x)
    fetch(y, i, left + j, Y_STEP, next_y)
    for k in range(SLICE, x.shape[1] + SLICE, SLICE):
        put(next_x, xs, warp, lane, X_STEP)
        put(next_y, ys, i, j, Y_STEP)
        cuda.syncthreads()  # both tiles are complete
        fetch(x, top + warp, k + lane, X_STEP, next_x)
        fetch(y, k + i, left + j, Y_STEP, next_y)
        multiply(xs, ys, row, column, sums)
        cuda.syncthreads()  # and have been read by all, before the next two
    for s in range(16):
        for n in range(4):
            r, c = accumulator_place(top + row + 16 * (s // 4), left + column + 8 * (s % 4), n)
            if r < out.shape[0] and c < out.shape[1]:
                out[r, c] = sums[s, n]
