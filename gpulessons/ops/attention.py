"""Attention: every query asks every key, and gets a mixture of the values.

    attention(q, k, v) = softmax(q kᵀ / sqrt(head size)) v                  Vaswani et al. 2017

The scores are a matrix of length × length: at 1,000 tokens 4 MB for each head, at 100,000 tokens
40 GB. Taken a tile of keys at a time, with a running maximum, a running sum and a running result,
rescaled whenever the maximum grows, they never exist all at once (Rabe & Staats 2021; Dao et al.
2022, "FlashAttention").
"""

import math
from functools import cache

import numpy as np
from numba import cuda, float32, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from .common import FULL_MASK, ONE, PARALLEL, SERIAL, ZERO, aligned_empty, ceil_div, exp32, run_op
from .dense import T, tile_dot, tiles
from .matmul_cpu import SIX, add_product, add_six, pack, pack_rows, zeros
from .rows import LOWEST, NOTHING, warp_per_row
from .softmax import softmax
from .softmax import warp_kernel as softmax_kernel
from .vectors import LANES, full_width


def queries_keys_values(length, rng, keys=None, heads=4, width=64, causal=False):
    """q: (heads, length, width), k, v: (heads, keys, width) float32, by default as many keys as
    queries; causal. Every 7th query is a sharp one, that mostly sees one key."""
    lengths = length, keys or length, keys or length
    q, k, v = (rng.standard_normal((heads, n, width), np.float32) for n in lengths)
    q[:, ::7] *= 10
    return q, k, v, causal


def operations(q, k, v, causal):
    """Two products and a softmax, over the scores that count."""
    length, keys = q.shape[1], k.shape[1]
    scores = np.minimum(np.arange(length) + 1, keys).sum() if causal else length * keys
    return q.shape[0] * int(scores) * (4 * q.shape[2] + 5)


@op(inputs=queries_keys_values, flops=operations, sizes=(64, 256, 1024), rtol=3e-5, unit="tokens",
    edge_cases=[Case(n, keys=n + 3, heads=2, width=20, causal=n % 2 == 1) for n in (33, 19, 70, 1)],
    signature="(heads, length, width), (heads, keys, width), (heads, keys, width)")  # fmt: skip
def attention(q, k, v, causal):
    """q: (heads, length, head size); k, v: (heads, keys, head size); fold batches into the heads.

    causal: query i sees keys 0 to i only, as in PyTorch. Returns like q. Memory: length × keys.
    """
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[2])
    if causal:
        scores[:, ~causal_mask(q, 0, k.shape[1])] = -np.inf
    return softmax(scores) @ v


def causal_mask(q, start, stop):
    """Which of the keys start to stop each query sees: (length, stop - start) bools."""
    return np.arange(start, stop) <= np.arange(q.shape[1])[:, None]


@attention.version("NumPy, tiled", on=host)
def numpy_tiled(q, k, v, causal, out, tile=64):
    """The same, a tile of keys at a time: memory grows as length × tile."""
    scaled = q / q.dtype.type(math.sqrt(q.shape[2]))
    row_max = np.full((*q.shape[:2], 1), LOWEST)
    total, out[:] = np.zeros_like(row_max), 0
    for start in range(0, k.shape[1], tile):
        stop = min(start + tile, k.shape[1])
        scores = scaled @ k[:, start:stop].transpose(0, 2, 1)
        if causal:
            scores[:, ~causal_mask(q, start, stop)] = -np.inf
        new_max = np.maximum(row_max, scores.max(axis=2, keepdims=True))
        exps, rescale = np.exp(scores - new_max), np.exp(row_max - new_max)
        total = total * rescale + exps.sum(axis=2, keepdims=True)
        out *= rescale  # what was added up so far, as if the new maximum had always been there
        out += exps @ v[:, start:stop]
        row_max = new_max
    out /= total


# -- On the CPU: each core takes blocks of queries; both products are matmul's, six rows at once.
# -- Scores are made transposed: a row for each key, a column for each query. So a query's maximum,
# -- exps and sum are one lane's, and nothing is ever added up across a vector; and the exps of six
# -- queries stand side by side, as the second product wants them.

QUERIES, KEYS = 128, 96  # of a tile: their scores are 48 KB, in the second cache


@njit(**SERIAL)
def scale_row(row, factor):
    for j in range(row.size):
        row[j] *= factor


@njit(**SERIAL)
def update(scores, row_max, total, rescale):
    """The online softmax, down the columns; scores become exps."""
    full_width()
    rescale[:] = row_max
    for k in range(len(scores)):
        row = scores[k]
        for j in range(row_max.size):
            row_max[j] = max(row[j], row_max[j])
    for j in range(row_max.size):
        rescale[j] = exp32(rescale[j] - row_max[j])
        total[j] *= rescale[j]
    for k in range(len(scores)):
        row = scores[k]
        for j in range(row_max.size):
            row[j] = exp32(row[j] - row_max[j])
            total[j] += row[j]


@njit(**SERIAL)
def attend(q, keys, values, length, visible, out):
    """A block of queries of one head, its keys and values in panels. Query i sees the first
    visible + i of length keys.
    """
    width, columns = q.shape[1], ceil_div(len(q), LANES) * LANES
    queries = aligned_empty((columns // LANES, width, LANES), q.dtype)
    pack(q.T, queries)
    scale_row(queries.ravel(), ONE / np.float32(math.sqrt(width)))
    scores, result = zeros(KEYS, columns, q.dtype), zeros(len(q), width, q.dtype)
    row_max, total = np.full(columns, LOWEST), np.zeros(columns, np.float32)
    rescale = np.empty_like(total)
    last = min(length, visible + len(q) - 1)
    for start in range(0, last, KEYS):
        count = min(KEYS, last - start)
        scores[...] = 0
        add_product(keys[start // SIX : ceil_div(start + count, SIX)], queries, scores)
        for k in range(max(0, visible - start), count):
            scores[k, : start + k + 1 - visible] = NOTHING
        update(scores[:count], row_max, total, rescale)
        for i in range(len(q)):
            if rescale[i] != ONE:
                scale_row(result[i], rescale[i])
        for p in range(len(values)):
            for i in range(0, len(q), SIX):
                add_six(scores[:count], i, values[p, start:], 0, result, i, p * LANES)
    for i in range(len(q)):
        for j in range(width):
            out[i, j] = result[i, j] * (ONE / total[i])


@attention.version("Numba, tiled, every core", on=host)
@njit(**PARALLEL)
def numba_tiled(q, k, v, causal, out):
    heads, length, width = k.shape
    keys = aligned_empty((heads, ceil_div(length, SIX), width, SIX), k.dtype)
    values = aligned_empty((heads, ceil_div(width, LANES), length, LANES), v.dtype)
    for head in prange(heads):
        pack_rows(k[head], keys[head])
        pack(v[head], values[head])
    blocks = ceil_div(q.shape[1], QUERIES)
    for part in prange(heads * blocks):
        head, first = part // blocks, part % blocks * QUERIES
        block, visible = slice(first, first + QUERIES), first + 1 if causal else length
        attend(q[head, block], keys[head], values[head], length, visible, out[head, block])


# -- On the GPU, with notebook 05's shared tiles: the scores are a matrix in memory, written, read
# -- twice, written and read again.


@cuda.jit
def scores_kernel(q, k, causal, scale, scores):
    """Thread (j, i) of a block (T, T): query i · key j. scores: (heads × length, keys)."""
    j, i = cuda.grid(2)
    head, length = cuda.blockIdx.z, q.shape[1]
    score = tile_dot(q[head], k[head])
    if i < length and j < k.shape[1]:
        scores[head * length + i, j] = NOTHING if causal and j > i else score * scale


@cuda.jit
def mixture_kernel(probabilities, v, out):
    """Thread (c, i) of a block (T, T): column c of query i's mixture of the values."""
    ps = cuda.shared.array((T, T), float32, 16)
    vs = cuda.shared.array((T, T), float32, 16)
    tx, ty = cuda.threadIdx.x & (T - 1), cuda.threadIdx.y & (T - 1)  # &: neither is negative
    c, i = cuda.grid(2)
    head, (_, length, width), keys, total, start = cuda.blockIdx.z, out.shape, v.shape[1], ZERO, 0
    while start < keys:
        inside = i < length and start + tx < keys
        ps[ty, tx] = probabilities[head * length + i, start + tx] if inside else ZERO
        vs[ty, tx] = v[head, start + ty, c] if start + ty < keys and c < width else ZERO
        cuda.syncthreads()
        for j in range(T):
            total += ps[ty, j] * vs[j, tx]
        cuda.syncthreads()
        start += T
    if i < length and c < width:
        out[head, i, c] = total


@attention.version("CUDA, three kernels", on=gpu, prepares=True)
def launch_three(q, k, v, causal, out):
    (heads, length, width), keys = q.shape, k.shape[1]
    scores = gpu.empty((heads * length, keys), q.dtype)  # all of them at once
    across, block = tiles(length, keys)
    down, _ = tiles(length, width)
    scale = np.float32(1 / math.sqrt(width))

    def call():
        scores_kernel[(*across, heads), block](q, k, causal, scale, scores)
        softmax_kernel[warp_per_row(heads * length)](scores, scores)  # now they are probabilities
        mixture_kernel[(*down, heads), block](scores, v, out)

    return call


# -- Online: no scores in memory. A block takes a tile of keys and values into shared memory, for
# -- all of its queries. A group of lanes, as few as have room for a query in registers, has four
# -- queries at once, so that each number loaded from shared memory is used four times; each lane
# -- has a part of their columns. The kernel is compiled for a width: registers have no addresses.

BLOCK_THREADS, ROWS_EACH = 128, 4
TILE_NUMBERS = 2048  # numbers in a tile of keys, 8 KiB; as many of values


def lane_group(width):
    """(lanes, columns of each) for heads so wide: up to 8 each, as long as a warp suffices."""
    lanes = next(size for size in (1, 2, 4, 8, 16, 32) if 8 * size >= width or size == 32)
    return lanes, ceil_div(width, 4 * lanes) * 4  # in fours: 16 bytes are one load


def queries_per_block(lanes):
    return BLOCK_THREADS // lanes * ROWS_EACH


@cuda.jit(device=True)
def column(lanes, lane, c):
    """Where a lane's column lies: in fours, one lane's after another, so no banks collide."""
    return c // 4 * (4 * lanes) + 4 * lane + c % 4


@cuda.jit(device=True)
def group_sum(value, lanes):
    """The sum over a group of lanes, which all of them know: warp_reduce_sum for fewer lanes."""
    step = lanes // 2
    while step > 0:
        value += cuda.shfl_xor_sync(FULL_MASK, value, step)
        step //= 2
    return value


@cuda.jit(device=True)
def take_in(score, value, r, row_max, total, output):
    """The online softmax of a lane's query r: one more score, and the lane's part of its value."""
    if score > row_max[r]:  # seldom, after the first few keys
        rescale = math.exp(row_max[r] - score)
        row_max[r], total[r] = score, total[r] * rescale
        for c in range(value.size):
            output[r, c] *= rescale
    weight = math.exp(score - row_max[r])
    total[r] += weight
    for c in range(value.size):
        output[r, c] += weight * value[c]


@cache
def tiled_kernel(lanes, part):
    """For heads of up to lanes × part columns."""
    width, per_block = lanes * part, queries_per_block(lanes)
    keys = max(1, TILE_NUMBERS // width)

    @cuda.jit
    def tiled(q, k, v, causal, scale, out):
        k_tile = cuda.shared.array((keys, width), float32, alignment=16)
        v_tile = cuda.shared.array((keys, width), float32, alignment=16)
        queries = cuda.local.array((ROWS_EACH, part), float32)
        output = cuda.local.array((ROWS_EACH, part), float32)
        row_max, total = cuda.local.array(ROWS_EACH, float32), cuda.local.array(ROWS_EACH, float32)
        near, score = cuda.local.array(part, float32), cuda.local.array(ROWS_EACH, float32)
        head, t, length, last = cuda.blockIdx.y, cuda.threadIdx.x, q.shape[1], k.shape[1]
        lane, first = t & (lanes - 1), cuda.blockIdx.x * per_block + t // lanes * ROWS_EACH
        for r in range(ROWS_EACH):
            row_max[r], total[r] = LOWEST, ZERO
            for c in range(part):
                i, j = first + r, column(lanes, lane, c)
                queries[r, c] = q[head, i, j] * scale if i < length and j < q.shape[2] else ZERO
                output[r, c] = ZERO
        if causal:  # no query of this block sees a later key
            last = min(last, (cuda.blockIdx.x + 1) * per_block)
        for start in range(0, last, keys):
            cuda.syncthreads()  # all threads are done with the tiles before
            for e in range(t, keys * width, BLOCK_THREADS):
                j, c = e // width, e % width
                inside = start + j < last and c < q.shape[2]
                k_tile[j, c] = k[head, start + j, c] if inside else ZERO
                v_tile[j, c] = v[head, start + j, c] if inside else ZERO
            cuda.syncthreads()  # both tiles are complete
            for j in range(min(keys, last - start)):
                # The scores of four queries with key j, and its value's share in their results.
                for c in range(part):
                    near[c] = k_tile[j, column(lanes, lane, c)]
                for r in range(ROWS_EACH):
                    score[r] = ZERO
                    for c in range(part):
                        score[r] += queries[r, c] * near[c]
                for r in range(ROWS_EACH):
                    score[r] = group_sum(score[r], lanes)
                for c in range(part):
                    near[c] = v_tile[j, column(lanes, lane, c)]
                for r in range(ROWS_EACH):
                    if causal and start + j > first + r:
                        score[r] = NOTHING
                    take_in(score[r], near, r, row_max, total, output)
        for r in range(ROWS_EACH):
            for c in range(part):
                i, j = first + r, column(lanes, lane, c)
                if i < length and j < q.shape[2]:
                    out[head, i, j] = output[r, c] / total[r]

    return tiled


@attention.version("CUDA, tiled", on=gpu)
def launch_tiled(q, k, v, causal, out):
    heads, length, width = q.shape
    lanes, part = lane_group(width)
    grid = ceil_div(length, queries_per_block(lanes)), heads
    scale = np.float32(1 / math.sqrt(width))
    tiled_kernel(lanes, part)[grid, BLOCK_THREADS](q, k, v, causal, scale, out)


@attention.version("PyTorch, fused, GPU", on=torch_gpu, prepares=True)
@attention.version("PyTorch, fused, CPU", on=torch_cpu, prepares=True)
def pytorch(q, k, v, causal):
    from torch.nn.functional import scaled_dot_product_attention as attend

    q, k, v = q[None], k[None], v[None]  # a batch of one problem
    return lambda: attend(q, k, v, is_causal=causal)[0]


if __name__ == "__main__":
    run_op(attention)
