"""Layer norm: every row brought to mean 0 and variance 1, then stretched and shifted as learned.

    layer_norm(x)[i, j] = gain[j] (x[i, j] - mean_i) / sqrt(variance_i + 1e-5) + bias[j]

Ba, Kiros & Hinton 2016. Mean and variance could come from one pass, from the sums of x and of x²;
but their difference cancels where the mean is large, to a variance of any sign. Welford's running
mean (1962) does not cancel, but divides at every number and is a chain. Here the mean comes first,
and then the variance around it: the second pass finds the row in the cache.
"""

import math

import numpy as np
from numba import njit, prange

from gpulessons.backends import host
from gpulessons.operation import op

from .common import ONE, PARALLEL, REASSOCIATING, SERIAL, SIZES, ZERO
from .rows import ROW_EDGES, sum_of_row, wide_rows

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
