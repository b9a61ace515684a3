"""Attention: every query asks every key, and gets a mixture of the values.

    attention(q, k, v) = softmax(q kᵀ / sqrt(head size)) v                  Vaswani et al. 2017

The scores are a matrix of length × length: at 1,000 tokens 4 MB for each head, at 100,000 tokens
40 GB. Taken a tile of keys at a time, with a running maximum, a running sum and a running result,
rescaled whenever the maximum grows, they never exist all at once (Rabe & Staats 2021; Dao et al.
2022, "FlashAttention").
"""

import math

import numpy as np
from numba import cuda, float32

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from .common import FULL_MASK, ZERO, ceil_div
from .load4 import load4
from .rows import LOWEST, NOTHING, warp_per_row
from .softmax import softmax
from .softmax import warp_kernel as softmax_kernel


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


# -- On the GPU: two products, of tiles that a block of 8 × 16 threads takes into shared memory.
# -- A thread has 4 × 2 scores or 4 × 8 results in registers. Between the products the scores are a
# -- matrix in memory (three kernels), or a tile that the block keeps (one).

ACROSS, DOWN = 8, 16  # threads of a block
ROWS, COLUMNS, WIDEST = 4 * DOWN, 2 * ACROSS, 64  # queries, keys, numbers of a head
WIDEST_PADDED, COLUMNS_PADDED = WIDEST + 4, COLUMNS + 8  # so that no banks collide


@cuda.jit(device=True)
def load(tile, wide, source, first, start):
    """tile[n, c] ← source[first + n, start + c] for c < wide, and zero where there is none."""
    n = cuda.threadIdx.y * ACROSS + cuda.threadIdx.x
    while n < tile.shape[0] * wide:
        row, c = n // wide, n % wide
        inside = first + row < source.shape[0] and start + c < source.shape[1]
        tile[row, c] = source[first + row, start + c] if inside else ZERO
        n += DOWN * ACROSS


@cuda.jit(device=True)
def clear(mine):
    for a in range(mine.shape[0]):
        for b in range(mine.shape[1]):
            mine[a, b] = ZERO


@cuda.jit(device=True)
def first_product(queries, keys, scores):
    """scores[a, b] ← query ty + 16 a · key tx + 8 b: six reads of four for 32 multiply-adds."""
    tx, ty, near = cuda.threadIdx.x, cuda.threadIdx.y, cuda.local.array((2, 4), float32)
    clear(scores)
    for c in range(0, WIDEST, 4):
        for b in range(2):
            near[b, 0], near[b, 1], near[b, 2], near[b, 3] = load4(keys, (tx + ACROSS * b, c))
        for a in range(4):
            w, x, y, z = load4(queries, (ty + DOWN * a, c))
            for b in range(2):
                total = scores[a, b] + w * near[b, 0] + x * near[b, 1]  # from the left: four FMAs
                scores[a, b] = total + y * near[b, 2] + z * near[b, 3]


@cuda.jit(device=True)
def scale_and_mask(scores, scale, first, start, keys, causal):
    """Query i sees the keys before `keys`, and where causal those up to i."""
    for a in range(4):
        for b in range(2):
            i, j = first + cuda.threadIdx.y + DOWN * a, start + cuda.threadIdx.x + ACROSS * b
            seen = j < keys and not (causal and j > i)
            scores[a, b] = scores[a, b] * scale if seen else NOTHING


@cuda.jit(device=True)
def column(b):
    """Of a thread's eight results in a row: four, and four more half a head further."""
    return 4 * cuda.threadIdx.x + b + b // 4 * (WIDEST // 2 - 4)


@cuda.jit(device=True)
def second_product(weights, values, output):
    """output[a, b] += row ty + 16 a of the weights · column(b) of the values."""
    near = cuda.local.array((4, 4), float32)
    for j in range(0, COLUMNS, 4):
        for a in range(4):
            row = cuda.threadIdx.y + DOWN * a
            near[a, 0], near[a, 1], near[a, 2], near[a, 3] = load4(weights, (row, j))
        for n in range(4):
            for b in range(0, 8, 4):
                w, x, y, z = load4(values, (j + n, column(b)))
                for a in range(4):
                    output[a, b] += near[a, n] * w
                    output[a, b + 1] += near[a, n] * x
                    output[a, b + 2] += near[a, n] * y
                    output[a, b + 3] += near[a, n] * z


@cuda.jit
def scores_kernel(q, k, causal, scale, scores):
    """A block's queries: their scores with all keys, a tile at a time, into memory."""
    queries = cuda.shared.array((ROWS, WIDEST_PADDED), float32, 16)
    keys = cuda.shared.array((COLUMNS, WIDEST_PADDED), float32, 16)
    mine = cuda.local.array((4, 2), float32)
    head, first, start = cuda.blockIdx.y, cuda.blockIdx.x * ROWS, 0
    load(queries, WIDEST, q[head], first, 0)
    while start < k.shape[1]:
        load(keys, WIDEST, k[head], start, 0)
        cuda.syncthreads()
        first_product(queries, keys, mine)
        scale_and_mask(mine, scale, first, start, k.shape[1], causal)
        for a in range(4):
            for b in range(2):
                i, j = first + cuda.threadIdx.y + DOWN * a, start + cuda.threadIdx.x + ACROSS * b
                if i < q.shape[1] and j < k.shape[1]:
                    scores[head, i, j] = mine[a, b]
        cuda.syncthreads()
        start += COLUMNS


@cuda.jit
def output_kernel(weights, v, out):
    """A block's queries: their weights of all keys times the values."""
    tile = cuda.shared.array((ROWS, COLUMNS), float32, 16)
    values = cuda.shared.array((COLUMNS, WIDEST), float32, 16)
    mine = cuda.local.array((4, 8), float32)
    head, first, start = cuda.blockIdx.y, cuda.blockIdx.x * ROWS, 0
    clear(mine)
    while start < v.shape[1]:
        load(tile, COLUMNS, weights[head], first, start)
        load(values, WIDEST, v[head], start, 0)
        cuda.syncthreads()
        second_product(tile, values, mine)
        cuda.syncthreads()
        start += COLUMNS
    for a in range(4):
        for b in range(8):
            i, c = first + cuda.threadIdx.y + DOWN * a, column(b)
            if i < out.shape[1] and c < out.shape[2]:
                out[head, i, c] = mine[a, b]


def blocks(q):
    """(of queries, heads); ValueError where a head is too wide for the tiles."""
    heads, length, width = q.shape
    if width > WIDEST:
        raise ValueError(f"its tiles fit in shared memory up to {WIDEST} numbers a head")
    return ceil_div(length, ROWS), heads


@attention.version("CUDA, three kernels", on=gpu, prepares=True)
def launch_three(q, k, v, causal, out):
    grid, scores = blocks(q), gpu.empty((*q.shape[:2], k.shape[1]), q.dtype)  # all at once
    rows, scale = scores.reshape(-1, k.shape[1]), np.float32(1 / math.sqrt(q.shape[2]))

    def call():
        scores_kernel[grid, (ACROSS, DOWN)](q, k, causal, scale, scores)
        softmax_kernel[warp_per_row(len(rows))](rows, rows)  # now they are attention weights
        output_kernel[grid, (ACROSS, DOWN)](scores, v, out)

    return call


@cuda.jit(device=True)
def over_eight(value, largest):
    """The largest of 8 neighboring lanes' values, or their sum, known to all of them."""
    for step in (4, 2, 1):
        other = cuda.shfl_xor_sync(FULL_MASK, value, step)
        value = max(value, other) if largest else value + other
    return value


@cuda.jit(device=True)
def take_in(scores, row_max, total, output):
    """The online softmax for a thread's four queries: scores become weights, and what was added up
    so far is rescaled. Eight lanes have a query's scores, and agree on its maximum."""
    for a in range(4):
        new_max = max(row_max[a], over_eight(max(scores[a, 0], scores[a, 1]), True))
        rescale, row_max[a] = math.exp(row_max[a] - new_max), new_max
        total[a] *= rescale
        for b in range(8):
            output[a, b] *= rescale
        for b in range(2):
            scores[a, b] = math.exp(scores[a, b] - new_max)
            total[a] += scores[a, b]


@cuda.jit
def tiled_kernel(q, k, v, causal, scale, out):
    """All keys, a tile at a time, for a block's queries: no score is ever in global memory."""
    queries = cuda.shared.array((ROWS, WIDEST_PADDED), float32, 16)
    keys = cuda.shared.array((COLUMNS, WIDEST_PADDED), float32, 16)
    values = cuda.shared.array((COLUMNS, WIDEST), float32, 16)
    weights = cuda.shared.array((ROWS, COLUMNS_PADDED), float32, 16)
    scores, output = cuda.local.array((4, 2), float32), cuda.local.array((4, 8), float32)
    row_max, total = cuda.local.array(4, float32), cuda.local.array(4, float32)
    tx, ty, head = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.y
    first = cuda.blockIdx.x * ROWS
    clear(output)
    for a in range(4):
        row_max[a], total[a] = LOWEST, ZERO
    load(queries, WIDEST, q[head], first, 0)
    last, start = min(k.shape[1], first + ROWS) if causal else k.shape[1], 0
    while start < last:
        load(keys, WIDEST, k[head], start, 0)
        load(values, WIDEST, v[head], start, 0)
        cuda.syncthreads()
        first_product(queries, keys, scores)
        scale_and_mask(scores, scale, first, start, last, causal)
        take_in(scores, row_max, total, output)
        for a in range(4):
            for b in range(2):
                weights[ty + DOWN * a, tx + ACROSS * b] = scores[a, b]
        cuda.syncthreads()
        second_product(weights, values, output)
        cuda.syncthreads()
        start += COLUMNS
    for a in range(4):
        i, whole = first + ty + DOWN * a, over_eight(total[a], False)
        for b in range(8):
            if i < q.shape[1] and column(b) < q.shape[2]:
                out[head, i, column(b)] = output[a, b] / whole


@attention.version("CUDA, tiled", on=gpu)
def launch_tiled(q, k, v, causal, out):
    scale = np.float32(1 / math.sqrt(q.shape[2]))
    tiled_kernel[blocks(q), (ACROSS, DOWN)](q, k, v, causal, scale, out)


@attention.version("PyTorch, fused, GPU", on=torch_gpu, prepares=True)
@attention.version("PyTorch, fused, CPU", on=torch_cpu, prepares=True)
def pytorch(q, k, v, causal):
    from torch.nn.functional import scaled_dot_product_attention as attend

    q, k, v = q[None], k[None], v[None]  # a batch of one problem
    return lambda: attend(q, k, v, is_causal=causal)[0]
