"""The last step of the ladder: the matrix product on tensor cores, in TF32.

As before, a block stages tiles of x and y in shared memory, and each thread keeps its sums in
registers. New is what multiplies: a whole warp, by `mma` (mma.py), 2,048 FLOPs an instruction. A
warp computes 64 × 32 results, as 4 × 4 times mma's 16 × 8: from 24 numbers that a thread reads in
shared memory come 16 instructions, 512 multiply-adds of its own. Now it is the loading that takes
the time; so the kernel loads the next tiles, into registers, while it multiplies these.
"""

from numba import cuda, float32, uint32

from .common import grid
from .mma import accumulator_place, check_tensor_cores, left_fragment, mma, right_fragment, tf32

BM, BN, SLICE = 128, 128, 32  # a block computes 128 × 128 results, from 32 columns of x at a time
BLOCK_WARPS = 8  # in two rows of four, each with its 64 × 32 results
Y_PADDED = BN + 8  # rows so long put a fragment into 32 different banks


@cuda.jit(device=True)
def number(matrix, row, column):
    """Outside the matrix, zero."""
    i, j = uint32(row), uint32(column)  # unsigned: no index counts from the end
    return matrix[i, j] if i < matrix.shape[0] and j < matrix.shape[1] else float32(0)


@cuda.jit(device=True)
def store(out, row, column, sums):
    """This lane's part of its warp's 64 × 32 results, which begin at (row, column)."""
    for s in range(16):
        for n in range(4):
            r, c = accumulator_place(row + 16 * (s // 4), column + 8 * (s % 4), n)
            if r < out.shape[0] and c < out.shape[1]:
                out[r, c] = sums[s, n]


X_STEP, Y_STEP = BLOCK_WARPS, BLOCK_WARPS * 32 // BN  # rows of a tile that all threads load at once
LOADED = SLICE // Y_STEP  # what a thread loads of either tile
X_PADDED = SLICE + 4  # so long for the same reason as Y_PADDED


@cuda.jit(device=True)
def load(matrix, row, column, step, numbers):
    """Every step-th number down a column from (row, column) on."""
    for n in range(LOADED):
        numbers[n] = number(matrix, row + n * step, column)


@cuda.jit(device=True)
def put(numbers, tile, row, column, step):
    """The same in shared memory, rounded once for all who will read it."""
    for n in range(LOADED):
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
    xs = cuda.shared.array((BM, X_PADDED), float32)
    ys = cuda.shared.array((SLICE, Y_PADDED), float32)
    next_x, next_y = cuda.local.array(LOADED, float32), cuda.local.array(LOADED, float32)
    sums = cuda.local.array((16, 4), float32)  # all three in registers: every index is known
    lane, warp = cuda.threadIdx.x & 31, cuda.threadIdx.y & 7  # & says: these are not negative
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    j, i = lane + 32 * (warp & 3), warp >> 2  # this thread's part of a tile of y; of x: lane, warp
    row, column = 64 * (warp >> 2), 32 * (warp & 3)  # and this warp's results
    for s in range(16):
        for n in range(4):
            sums[s, n] = 0
    load(x, top + warp, lane, X_STEP, next_x)
    load(y, i, left + j, Y_STEP, next_y)
    for k in range(SLICE, x.shape[1] + SLICE, SLICE):
        put(next_x, xs, warp, lane, X_STEP)
        put(next_y, ys, i, j, Y_STEP)
        cuda.syncthreads()  # both tiles are complete
        load(x, top + warp, k + lane, X_STEP, next_x)
        load(y, k + i, left + j, Y_STEP, next_y)
        multiply(xs, ys, row, column, sums)
        cuda.syncthreads()  # and have been read by all, before the next two
    store(out, top + row, left + column, sums)


def launch_tf32(x, y, out):
    check_tensor_cores()
    tensor_core_kernel[grid(out.shape, BM, BN), (32, BLOCK_WARPS)](x, y, out)
