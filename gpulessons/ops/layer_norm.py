"""Layer norm: every row brought to mean 0 and variance 1, then stretched and shifted as learned.

    layer_norm(x)[i, j] = gain[j] (x[i, j] - mean_i) / sqrt(variance_i + 1e-5) + bias[j]

Ba, Kiros & Hinton 2016. Mean and variance could come from one pass, from the sums of x and of x²;
but their difference cancels where the mean is large, to a variance of any sign. Welford's running
mean (1962) does not cancel, but divides at every number and is a chain. Here the mean comes first,
and then the variance around it: the second pass finds the row in the cache.
"""

import math
from functools import partial

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .common import ONE, PARALLEL, REASSOCIATING, SERIAL, SIZES, WARP, ZERO
from .reduce import warp_reduce_sum
from .rows import ROW_EDGES, sum_of_row, warp_per_row, wide_rows

EPS = 1e-5  # PyTorch's: a row of equal numbers has no variance to divide by
EPS32 = np.float32(EPS)


def rows_and_gains(size, rng):
    """x: wide rows; gain, bias: (columns,) float32."""
    (x,) = wide_rows(size, rng)
    gain, bias = rng.standard_normal((2, x.shape[1]), np.float32)
    return x, ONE + gain / 4, bias


@op(inputs=rows_and_gains, flops=lambda x, gain, bias: 7 * x.size, sizes=SIZES, rtol=5e-6,
    edge_cases=ROW_EDGES, signature="(rows, columns), (columns,), (columns,)")  # fmt: skip
def layer_norm(x, gain, bias):
    """x: (rows, columns); gain, bias: (columns,). Returns like x; eps is 1e-5."""
    centered = x - x.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((centered * centered).mean(axis=1, keepdims=True) + EPS)
    return centered * scale * gain + bias


@njit(**REASSOCIATING)
def row_moments(x):
    """Mean and 1 / standard deviation of one row, in two passes over it."""
    share = ONE / np.float32(x.size)
    mean, squares = sum_of_row(x) * share, ZERO
    for j in range(x.size):
        squares += (x[j] - mean) * (x[j] - mean)
    return mean, ONE / math.sqrt(squares * share + EPS32)


def normalize_rows(x, gain, bias, out):
    for i in prange(x.shape[0]):
        mean, scale = row_moments(x[i])
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]


layer_norm.version("Numba, one core", on=host)(njit(**SERIAL)(normalize_rows))
layer_norm.version("Numba, every core", on=host)(njit(**PARALLEL)(normalize_rows))


# -- On the GPU: a warp to a row, which it reads three times, the last two from a cache.


@cuda.jit
def warp_kernel(x, gain, bias, out):
    i = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    j = lane = cuda.threadIdx.x & (WARP - 1)  # &: it is not negative
    if i >= x.shape[0]:
        return  # the whole warp
    share, total, squares = ONE / np.float32(x.shape[1]), ZERO, ZERO
    while j < x.shape[1]:  # not range(): notebook 05 says why
        total += x[i, j]
        j += WARP
    mean, j = warp_reduce_sum(total) * share, lane
    while j < x.shape[1]:
        squares += (x[i, j] - mean) * (x[i, j] - mean)
        j += WARP
    scale, j = ONE / math.sqrt(warp_reduce_sum(squares) * share + EPS32), lane
    while j < x.shape[1]:
        out[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]
        j += WARP


@layer_norm.version("CUDA, a warp per row", on=gpu)
def launch_warp(x, gain, bias, out):
    warp_kernel[warp_per_row(x.shape[0])](x, gain, bias, out)


@layer_norm.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@layer_norm.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def pytorch(x, gain, bias):
    import torch

    return partial(torch.layer_norm, x, gain.shape, gain, bias, EPS)
