"""The kernels of attention.py: two with all scores in memory between them, and one without.

float32 throughout, so no tensor cores: the multiply-adds are each thread's own, and what limits it
is how often a number fetched from shared memory is used. Here four times, once for each query.
"""

import math
from functools import cache

from numba import cuda, float32

from gpulessons.ops.rows import FULL, LOWEST, NOTHING, ZERO

# -- Naive: the scores are a matrix in memory, written once, read and written again, read again.


@cuda.jit
def scores_kernel(q, k, causal, scale, scores):
    """Thread (j, i): what query i asks key j. scores: (heads × length, keys)."""
    j, i = cuda.grid(2)
    head, length = cuda.blockIdx.z, q.shape[1]
    if i < length and j < k.shape[1]:
        score = ZERO
        for c in range(q.shape[2]):
            score += q[head, i, c] * k[head, j, c]
        scores[head * length + i, j] = NOTHING if causal and j > i else score * scale


@cuda.jit
def mixture_kernel(shares, v, out):
    """Thread (c, i): column c of query i's mixture of the values."""
    c, i = cuda.grid(2)
    head, length = cuda.blockIdx.z, out.shape[1]
    if i < length and c < v.shape[2]:
        total = ZERO
        for j in range(v.shape[1]):
            total += shares[head * length + i, j] * v[head, j, c]
        out[head, i, c] = total


# -- Tiled: what is asked and what is answered so far stay in registers; keys and values pass by in
# -- shared memory. A team of threads has four queries, and each member a part of their columns.

THREADS, ROWS = 128, 4
TILE = 2048  # numbers in a tile of keys, 8 KiB; as many of values


def team_for(width):
    """(members, columns of each) for heads so wide: up to 8 each, as long as a warp suffices."""
    team = next(size for size in (1, 2, 4, 8, 16, 32) if 8 * size >= width or size == 32)
    return team, -(-width // (4 * team)) * 4  # in fours: 16 bytes are one load


def queries_per_block(team):
    return THREADS // team * ROWS


@cache
def tiled_kernel(team, part):
    """For heads of up to team × part columns: what lies in registers needs a size known before."""
    width = team * part
    keys = max(1, TILE // width)
    queries = queries_per_block(team)

    @cuda.jit(device=True)
    def column(member, c):
        """Where a member's column lies: in fours, the members' in turn, so no banks collide."""
        return c // 4 * (4 * team) + 4 * member + c % 4

    @cuda.jit
    def attend(q, k, v, causal, scale, out):
        k_tile = cuda.shared.array((keys, width), float32, alignment=16)
        v_tile = cuda.shared.array((keys, width), float32, alignment=16)
        asked = cuda.local.array((ROWS, part), float32)
        answer = cuda.local.array((ROWS, part), float32)
        top, total = cuda.local.array(ROWS, float32), cuda.local.array(ROWS, float32)
        near, score = cuda.local.array(part, float32), cuda.local.array(ROWS, float32)
        head, t, length, last = cuda.blockIdx.y, cuda.threadIdx.x, q.shape[1], k.shape[1]
        member, first = t & (team - 1), cuda.blockIdx.x * queries + t // team * ROWS
        for r in range(ROWS):
            top[r], total[r] = LOWEST, ZERO
            for c in range(part):
                i, j = first + r, column(member, c)
                asked[r, c] = q[head, i, j] * scale if i < length and j < q.shape[2] else ZERO
                answer[r, c] = ZERO
        if causal:  # no query of this block sees a later key
            last = min(last, (cuda.blockIdx.x + 1) * queries)
        for start in range(0, last, keys):
            cuda.syncthreads()  # everybody is done with the tiles before
            for e in range(t, keys * width, THREADS):
                j, c = e // width, e % width
                inside = start + j < last and c < q.shape[2]
                k_tile[j, c] = k[head, start + j, c] if inside else ZERO
                v_tile[j, c] = v[head, start + j, c] if inside else ZERO
            cuda.syncthreads()
            for j in range(min(keys, last - start)):
                for c in range(part):
                    near[c] = k_tile[j, column(member, c)]
                for r in range(ROWS):
                    score[r] = ZERO
                    for c in range(part):
                        score[r] += asked[r, c] * near[c]
                for r in range(ROWS):
                    step = team // 2
                    while step > 0:
                        score[r] += cuda.shfl_xor_sync(FULL, score[r], step)
                        step //= 2
                for c in range(part):
                    near[c] = v_tile[j, column(member, c)]
                for r in range(ROWS):
                    if causal and start + j > first + r:
                        score[r] = NOTHING
                    if score[r] > top[r]:
                        mend = math.exp(top[r] - score[r])
                        top[r] = score[r]
                        total[r] *= mend
                        for c in range(part):
                            answer[r, c] *= mend
                    share = math.exp(score[r] - top[r])
                    total[r] += share
                    for c in range(part):
                        answer[r, c] += share * near[c]
        for r in range(ROWS):
            for c in range(part):
                i, j = first + r, column(member, c)
                if i < length and j < q.shape[2]:
                    out[head, i, j] = answer[r, c] / total[r]

    return attend
