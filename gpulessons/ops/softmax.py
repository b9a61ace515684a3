"""Softmax: scores into probabilities, row by row.

    softmax(x)[i, j] = exp(x[i, j] - max of row i) / sum over k of exp(x[i, k] - max of row i)

Without the maximum, exp overflows at 89; with it nothing does, and the result is the same. A row
has to be read for its maximum, for its sum and for its result. Or only twice: a sum whose maximum
turns out too small is rescaled by exp(old - new), as it grows (Milakov & Gimelshein 2018,
"Online normalizer calculation for softmax"). Attention rests on that.
"""

import math

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .common import (
    FULL_MASK,
    ONE,
    PARALLEL,
    REASSOCIATING,
    SERIAL,
    SIZES,
    WARP,
    ZERO,
    exp32,
    torch_call,
)
from .rows import LOWEST, NOTHING, ROW_EDGES, max_of_row, warp_per_row, wide_rows
from .vectors import full_width


@op(inputs=wide_rows, flops=lambda x: 5 * x.size, sizes=SIZES, rtol=1e-6,
    edge_cases=ROW_EDGES, signature="(rows, columns)")  # fmt: skip
def softmax(x):
    """exp(x) over its row's sum of exp(x). x: (rows, columns), float; returns like x."""
    exps = np.exp(x - x.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


# -- On the CPU: three passes over a row, which stays in the first cache meanwhile.


@njit(**REASSOCIATING)
def exp_row(x, row_max, out):
    """out = exp(x - row_max), for one row; returns its sum."""
    full_width()
    total = ZERO
    for j in range(x.size):
        out[j] = exp32(x[j] - row_max)
        total += out[j]
    return total


def three_passes(x, out):
    for i in prange(x.shape[0]):
        scale = ONE / exp_row(x[i], max_of_row(x[i]), out[i])
        for j in range(x.shape[1]):
            out[i, j] *= scale


softmax.version("Numba, three passes, one core", on=host)(njit(**SERIAL)(three_passes))
softmax_on_every_core = njit(**PARALLEL)(three_passes)
softmax.version("Numba, three passes", on=host)(softmax_on_every_core)


# -- On the GPU, online: a warp to a row, whose lanes read neighbors and meet by shuffles. A lane
# -- has a running maximum, and the running sum of exp(x - that maximum).


@cuda.jit(device=True)
def merged(row_max, total, other_max, other_total):
    """Two parts of a row, each as its (maximum, sum), as one: the smaller is scaled down."""
    new_max = max(row_max, other_max)
    rescaled = total * math.exp(row_max - new_max)
    return new_max, rescaled + other_total * math.exp(other_max - new_max)


@cuda.jit(device=True)
def entry(x, i, j):
    return x[i, j] if j < x.shape[1] else NOTHING


@cuda.jit
def warp_kernel(x, out):
    """Online, four numbers a turn: four loads in flight, and one rescaling for all four."""
    i, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    if i >= x.shape[0]:
        return  # the whole warp
    row_max, total = LOWEST, ZERO
    for j in range(lane, x.shape[1], 4 * WARP):
        a, b = x[i, j], entry(x, i, j + WARP)
        c, d = entry(x, i, j + 2 * WARP), entry(x, i, j + 3 * WARP)
        new = max(row_max, max(max(a, b), max(c, d)))
        four = math.exp(a - new) + math.exp(b - new) + math.exp(c - new) + math.exp(d - new)
        row_max, total = new, total * math.exp(row_max - new) + four
    for step in (16, 8, 4, 2, 1):
        other_max = cuda.shfl_xor_sync(FULL_MASK, row_max, step)
        other_total = cuda.shfl_xor_sync(FULL_MASK, total, step)
        row_max, total = merged(row_max, total, other_max, other_total)
    for j in range(lane, x.shape[1], WARP):
        out[i, j] = math.exp(x[i, j] - row_max) / total


@softmax.version("CUDA, a warp per row, online", on=gpu)
def launch_warp(x, out):
    warp_kernel[warp_per_row(x.shape[0])](x, out)


softmax.version("PyTorch on GPU", on=torch_gpu, prepares=True)(torch_call("softmax", 1))
softmax.version("PyTorch on CPU", on=torch_cpu, prepares=True)(torch_call("softmax", 1))
