"""The matrix product on tensor cores without TF32, those of a T4: its factors in fp16.

As on newer ones (matmul_tensor_cores.py), with two numbers in each word of a tile: half the
room in shared memory, and half the reads. Which two? Those that one instruction multiplies with the
same two of the other matrix, and a sum may take them in any order: number k of a tile is paired
with k + 16, and not with its neighbor, so that a warp still reads neighbors from memory.
"""

from numba import cuda, float32, uint32

from .mma import accumulator_place, left_pairs, mma_fp16, pair, right_pair

BM, BN, SLICE = 128, 128, 32  # a block computes 128 × 128 results, from 32 columns of x at a time
WORDS = SLICE // 2  # words in a row of x's tile, and rows of words in y's
WARPS = 8  # in two rows of four, each with its 64 × 32 results
WORDS_EACH = 8  # words of either tile that a thread fetches
I_STEP, P_STEP = BM // WORDS_EACH, WORDS // WORDS_EACH  # between their rows
X_PADDED, Y_PADDED = WORDS + 4, BN + 8  # rows so long put a fragment into 32 different banks


@cuda.jit(device=True)
def number(matrix, row, column):
    """Outside the matrix, zero."""
    i, j = uint32(row), uint32(column)  # unsigned: no index counts from the end
    return matrix[i, j] if i < matrix.shape[0] and j < matrix.shape[1] else float32(0)


@cuda.jit(device=True)
def multiply(xs, ys, row, column, sums):
    """Add the product of two tiles to this warp's 64 × 32 sums, which begin at (row, column)."""
    right = cuda.local.array(4, uint32)
    for k in range(0, WORDS, 4):
        for j in range(4):
            right[j] = right_pair(ys, k, column + 8 * j)
        for i in range(4):
            left = left_pairs(xs, row + 16 * i, k)
            for j in range(4):
                s = sums[4 * i + j]
                s[0], s[1], s[2], s[3] = mma_fp16(left, right[j], (s[0], s[1], s[2], s[3]))


@cuda.jit
def fp16_kernel(x, y, out):
    """1/64 global, 3/128 shared. Blocks of (32, 8) threads: threadIdx.y is the warp.

    Here no next tiles are on their way: that spares registers, so that two blocks fit where one
    did, and one of them multiplies while the other fetches.
    """
    xs = cuda.shared.array((BM, X_PADDED), uint32)
    ys = cuda.shared.array((WORDS, Y_PADDED), uint32)
    sums = cuda.local.array((16, 4), float32)  # in registers: every index is known
    lane, warp = cuda.threadIdx.x & 31, cuda.threadIdx.y & 7  # & says: these are not negative
    top, left = cuda.blockIdx.y * BM, cuda.blockIdx.x * BN
    # This thread's words. Half a warp has a row of x's tile, and the other half one 4 below it,
    # which lies in the other 16 banks; a warp has 32 words of a row of y's.
    xi, xp = (warp & 3) + 8 * (warp >> 2) + 4 * (lane >> 4), lane & 15
    yp, yj = warp >> 2, lane + 32 * (warp & 3)
    row, column = 64 * (warp >> 2), 32 * (warp & 3)  # and this warp's results
    for s in range(16):
        for n in range(4):
            sums[s, n] = 0
    for k in range(0, x.shape[1], SLICE):
        for n in range(WORDS_EACH):
            i = xi + n * I_STEP
            low, high = number(x, top + i, k + xp), number(x, top + i, k + xp + WORDS)
            xs[i, xp] = pair(low, high)
        for n in range(WORDS_EACH):
            p = yp + n * P_STEP
            low, high = number(y, k + p, left + yj), number(y, k + p + WORDS, left + yj)
            ys[p, yj] = pair(low, high)
        cuda.syncthreads()  # both tiles are complete
        multiply(xs, ys, row, column, sums)
        cuda.syncthreads()  # and have been read by all, before the next two
    for s in range(16):
        for n in range(4):
            r, c = accumulator_place(top + row + 16 * (s // 4), left + column + 8 * (s % 4), n)
            if r < out.shape[0] and c < out.shape[1]:
                out[r, c] = sums[s, n]
