"""Attention: every query asks every key, and gets a mixture of the values.

    attention(q, k, v) = softmax(q kᵀ / sqrt(head size)) v                  Vaswani et al. 2017

The scores are a matrix of length × length: at 1,000 tokens 4 MB for each head, at 100,000 tokens
40 GB. But nobody wants to see them. Taken a tile of keys at a time, with a running maximum, a
running sum and a running result, mended whenever the maximum grows, they never exist all at once
(Rabe & Staats 2021; Dao et al. 2022, "FlashAttention").
"""

import math

import numpy as np
from numba import prange

from gpulessons.backends import allow_tf32, gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op
from gpulessons.ops import attention_kernels as kernels
from gpulessons.ops.activations import blocks, exp32
from gpulessons.ops.matmul import add_product, copy_row, padded
from gpulessons.ops.rows import (
    LOWEST,
    NOTHING,
    ONE,
    every_core,
    in_order,
    row_max,
    warp_per_row,
)
from gpulessons.ops.softmax import exp_row, softmax
from gpulessons.ops.softmax import warp_kernel as softmax_kernel


def heads(size, rng):
    """q, k, v: (4, size, 64) float32, where 16 divides the size; else an awkward shape, with more
    keys than queries. Every 7th query is a sharp one, that mostly sees one key. Odd: causal."""
    count, keys, width = (4, size, 64) if size % 16 == 0 else (2, size + 3, 20)
    q, k, v = (
        rng.standard_normal((count, length, width), np.float32) for length in (size, keys, keys)
    )
    q[:, ::7] *= 10
    return q, k, v, size % 2 == 1


def operations(q, k, v, causal):
    """Two products and a softmax, over the scores that count."""
    length, keys = q.shape[1], k.shape[1]
    scores = np.minimum(np.arange(length) + 1, keys).sum() if causal else length * keys
    return q.shape[0] * int(scores) * (4 * q.shape[2] + 5)


@op(inputs=heads, flops=operations, sizes=(64, 256, 1024), rtol=3e-5, unit="tokens",
    awkward=(33, 19, 70, 1),
    signature="(heads, length, width), (heads, keys, width), (heads, keys, width)")  # fmt: skip
def attention(q, k, v, causal):
    """q: (heads, length, head size); k, v: (heads, keys, head size); fold batches into the heads.

    causal: query i sees keys 0 to i only, counted from the start for both, as in PyTorch.
    Returns like q. All scores at once: memory grows as length × keys.
    """
    scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[2])
    if causal:
        scores[:, ~seen(q, 0, k.shape[1])] = -np.inf
    return softmax(scores) @ v


def seen(q, start, stop):
    """Which of the keys start to stop each query sees: (length, stop - start) bools."""
    return np.arange(start, stop) <= np.arange(q.shape[1])[:, None]


@attention.version("Python loop", on=host)
def python_loop(q, k, v, causal, out):
    scale = 1 / math.sqrt(q.shape[2])
    for head, queries in enumerate(q.tolist()):
        keys, values = k[head].tolist(), v[head].tolist()
        for i, query in enumerate(queries):
            visible = keys[: i + 1] if causal else keys
            scores = [sum(map(float.__mul__, query, key)) * scale for key in visible]
            top = max(scores)
            powers = [math.exp(score - top) for score in scores]
            total = sum(powers)
            for c, column in enumerate(zip(*values, strict=True)):
                out[head, i, c] = sum(map(float.__mul__, powers, column)) / total


@attention.version("NumPy, tiled", on=host)
def numpy_tiled(q, k, v, causal, out, tile=64):
    """The same, a tile of keys at a time: memory grows as length × tile."""
    scaled = q / q.dtype.type(math.sqrt(q.shape[2]))
    top = np.full((*q.shape[:2], 1), LOWEST)
    total, out[:] = np.zeros_like(top), 0
    for start in range(0, k.shape[1], tile):
        stop = min(start + tile, k.shape[1])
        scores = scaled @ k[:, start:stop].transpose(0, 2, 1)
        if causal:
            scores[:, ~seen(q, start, stop)] = -np.inf
        new = np.maximum(top, scores.max(axis=2, keepdims=True))
        powers, mend = np.exp(scores - new), np.exp(top - new)
        total = total * mend + powers.sum(axis=2, keepdims=True)
        out *= mend  # what was added up so far, as if the new maximum had always been there
        out += powers @ v[:, start:stop]
        top = new
    out /= total


# -- On the CPU: blocks of queries are dealt out to the cores; both products are matmul's.

QUERIES, KEYS = 64, 128  # of a tile: their scores are 32 KB, in the first cache


@in_order
def stretch(row, factor):
    for j in range(row.size):
        row[j] *= factor


@in_order
def attend(q, k, v, seen, out):
    """A block of queries of one head. Query i sees the first seen + i keys."""
    width, scaled = q.shape[1], padded(q, 0, 0, q.shape[0], q.shape[1])
    stretch(scaled.ravel(), ONE / np.float32(math.sqrt(width)))
    result = np.zeros(scaled.shape, np.float32)
    top, total = np.full(len(q), LOWEST), np.zeros(len(q), np.float32)
    for start in range(0, min(len(k), seen + len(q) - 1), KEYS):
        keys = padded(k.T, 0, start, width, KEYS)
        scores = np.zeros((len(scaled), keys.shape[1]), np.float32)
        add_product(scaled, keys, scores)
        for i in range(len(q)):
            row = scores[i, : len(k) - start]
            for j in range(max(0, seen + i - start), row.size):
                row[j] = NOTHING
            new = max(top[i], row_max(row))
            mend = exp32(top[i] - new)
            total[i] = total[i] * mend + exp_row(row, new, row)
            stretch(result[i], mend)
            top[i] = new
        add_product(scores, padded(v, start, 0, KEYS, width), result)
    for i in range(len(q)):
        stretch(result[i], ONE / total[i])
        copy_row(result[i, :width], out[i])


@attention.version("Numba, tiled, every core", on=host)
@every_core
def numba_tiled(q, k, v, causal, out):
    strips = -(-q.shape[1] // QUERIES)
    for part in prange(len(q) * strips):
        head, first = part // strips, part % strips * QUERIES
        last, seen = min(first + QUERIES, q.shape[1]), first + 1 if causal else k.shape[1]
        attend(q[head, first:last], k[head], v[head], seen, out[head, first:last])


# -- On the GPU.


@attention.version("CUDA, three kernels", on=gpu)
def launch_three(q, k, v, causal, out):
    (heads, length, width), keys, block = q.shape, k.shape[1], (32, 8)
    shares = gpu.empty((heads * length, keys), q.dtype)  # all scores at once
    grid = blocks(keys, 32), blocks(length, 8), heads
    kernels.scores_kernel[grid, block](q, k, causal, np.float32(1 / math.sqrt(width)), shares)
    softmax_kernel[warp_per_row(heads * length)](shares, shares)
    grid = blocks(width, 32), blocks(length, 8), heads
    kernels.mixture_kernel[grid, block](shares, v, out)


@attention.version("CUDA, tiled", on=gpu)
def launch_tiled(q, k, v, causal, out):
    heads, length, width = q.shape
    team, part = kernels.team_for(width)
    grid = blocks(length, kernels.queries_per_block(team)), heads
    scale = np.float32(1 / math.sqrt(width))
    kernels.tiled_kernel(team, part)[grid, kernels.THREADS](q, k, v, causal, scale, out)


# -- PyTorch, in float32 as it is: on a GPU, TF32 would round the factors to 11 bits.


@attention.version("PyTorch, fused, GPU", on=torch_gpu)
@attention.version("PyTorch, fused, CPU", on=torch_cpu)
def pytorch(q, k, v, causal):
    import torch

    attend = torch.nn.functional.scaled_dot_product_attention
    with allow_tf32(torch.backends.cuda.matmul, False):
        return attend(q[None], k[None], v[None], is_causal=causal)[0]
