"""Layer norm: every row brought to mean 0 and variance 1, then stretched and shifted as learned.

    layer_norm(x)[i, j] = gain[j] (x[i, j] - mean_i) / sqrt(variance_i + 1e-5) + bias[j]

Ba, Kiros & Hinton 2016. Mean and variance could come from one pass, from the sums of x and of x²;
but their difference cancels where the mean is large, to a variance of any sign. Welford's running
mean (1962) does not cancel, but divides at every number and is a chain. Here the mean comes first,
and then the variance around it: the second pass finds the row in the cache.

Backward goes along the rows for one gradient, and down the columns for two:

    unit  = (x - mean) / sqrt(variance + 1e-5)           slope = dy gain
    dx    = (slope - mean of slope - unit · mean of (unit slope)) / sqrt(variance + 1e-5)
    dgain = sum over rows of dy unit                     dbias = sum over rows of dy

dx needs sums along each row, which is dealt out by rows. dgain and dbias need sums over all rows:
dealt out the same way, everybody would add to the same few numbers at once.
"""

import math
from functools import partial

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .common import ONE, PARALLEL, REASSOCIATING, SERIAL, SIZES, THREADS, WARP, ZERO, ceil_div
from .reduce import block_reduce_sum, warp_reduce_sum
from .rows import ROW_EDGES, block_per_row, sum_of_row, warp_per_row, wide_rows

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
    centered, scale = standard(x)
    return centered * scale * gain + bias


def standard(x):
    """x minus its rows' means, and 1 / their standard deviations."""
    centered = x - x.mean(axis=1, keepdims=True)
    return centered, 1 / np.sqrt((centered * centered).mean(axis=1, keepdims=True) + EPS)


# -- On the CPU.


def moments(row):
    """Mean and 1 / standard deviation of a row, in plain Python."""
    mean = sum(row) / len(row)
    return mean, 1 / math.sqrt(sum((v - mean) ** 2 for v in row) / len(row) + EPS)


@layer_norm.version("Python loop", on=host)
def python_loop(x, gain, bias, out):
    for i, row in enumerate(x.tolist()):
        mean, scale = moments(row)
        for j, v in enumerate(row):
            out[i, j] = (v - mean) * scale * gain[j] + bias[j]


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


# -- On the GPU: a group of threads to a row, be it a block or a warp.


def moments_of(group_sum, group):
    """The device function that a group finds its row's mean and 1 / standard deviation with."""

    @cuda.jit(device=True)
    def find(x, i, t):
        share, total, squares = ONE / np.float32(x.shape[1]), ZERO, ZERO
        j = t
        while j < x.shape[1]:  # not range(): notebook 05 says why
            total += x[i, j]
            j += group
        mean, j = group_sum(total) * share, t
        while j < x.shape[1]:
            squares += (x[i, j] - mean) * (x[i, j] - mean)
            j += group
        return mean, ONE / math.sqrt(group_sum(squares) * share + EPS32)

    return find


block_moments = moments_of(block_reduce_sum, THREADS)
warp_moments = moments_of(warp_reduce_sum, WARP)


def layer_norm_kernel(find_moments, group):
    @cuda.jit
    def normalize(x, gain, bias, out):
        i = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
        j = t = cuda.threadIdx.x & (group - 1)  # &: it is not negative
        if i < x.shape[0]:  # the whole group
            mean, scale = find_moments(x, i, t)
            while j < x.shape[1]:
                out[i, j] = (x[i, j] - mean) * scale * gain[j] + bias[j]
                j += group

    return normalize


block_kernel = layer_norm_kernel(block_moments, THREADS)
warp_kernel = layer_norm_kernel(warp_moments, WARP)


@layer_norm.version("CUDA, a block per row", on=gpu)
def launch_block(x, gain, bias, out):
    block_kernel[block_per_row(x.shape[0])](x, gain, bias, out)


@layer_norm.version("CUDA, a warp per row", on=gpu)
def launch_warp(x, gain, bias, out):
    warp_kernel[warp_per_row(x.shape[0])](x, gain, bias, out)


# -- PyTorch.


@layer_norm.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@layer_norm.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def pytorch(x, gain, bias):
    import torch

    return partial(torch.layer_norm, x, gain.shape, gain, bias, EPS)


# -- Backward.


def rows_and_slopes(size, rng):
    """x: wide rows; gain: (columns,); dy: like x."""
    x, gain, _ = rows_and_gains(size, rng)
    return x, gain, rng.standard_normal(x.shape, np.float32)


@op(inputs=rows_and_slopes, flops=lambda x, gain, dy: 16 * x.size, sizes=SIZES, rtol=5e-5,
    edge_cases=ROW_EDGES, signature="(rows, columns), (columns,), (rows, columns)")  # fmt: skip
def layer_norm_backward(x, gain, dy):
    """The gradients by x (rows, columns), gain and bias (columns,), from that by the result, dy."""
    centered, scale = standard(x)
    unit, slope = centered * scale, dy * gain
    along = (unit * slope).mean(axis=1, keepdims=True)
    dx = scale * (slope - slope.mean(axis=1, keepdims=True) - unit * along)
    return dx, (dy * unit).sum(axis=0), dy.sum(axis=0)


@layer_norm_backward.version("Python loop", on=host)
def backward_python(x, gain, dy, out):
    (dx, dgain, dbias), columns = out, range(x.shape[1])
    dgain[:], dbias[:] = 0, 0
    for i, row in enumerate(x.tolist()):
        mean, scale = moments(row)
        unit = [(v - mean) * scale for v in row]
        slope = [dy[i, j] * gain[j] for j in columns]
        level = sum(slope) / len(row)
        along = sum(unit[j] * slope[j] for j in columns) / len(row)
        for j in columns:
            dx[i, j] = scale * (slope[j] - level - unit[j] * along)
            dgain[j] += dy[i, j] * unit[j]
            dbias[j] += dy[i, j]


# -- Backward, on the CPU.


@njit(**REASSOCIATING)
def backward_row(x, gain, dy, dx, dgain, dbias):
    """One row's dx; what it adds to dgain and dbias is added there."""
    mean, scale = row_moments(x)
    share, level, along = ONE / np.float32(x.size), ZERO, ZERO
    for j in range(x.size):
        level += dy[j] * gain[j]
        along += dy[j] * gain[j] * (x[j] - mean)
    level, along = level * share, along * share * scale
    for j in range(x.size):
        unit = (x[j] - mean) * scale
        dx[j] = scale * (dy[j] * gain[j] - level - unit * along)
        dgain[j] += dy[j] * unit
        dbias[j] += dy[j]


STRIP = 64  # rows that share a running sum over rows: cores must not write to the same one


@njit(**PARALLEL)
def backward_rows(x, gain, dy, dx, dgains, dbiases):
    for strip in prange(len(dgains)):
        for i in range(strip * STRIP, min(len(x), strip * STRIP + STRIP)):
            backward_row(x[i], gain, dy[i], dx[i], dgains[strip], dbiases[strip])


@layer_norm_backward.version("Numba, every core", on=host)
def backward_numba(x, gain, dy, out):
    dx, dgain, dbias = out
    partial = np.zeros((2, ceil_div(len(x), STRIP), gain.size), np.float32)  # of each strip
    backward_rows(x, gain, dy, dx, *partial)
    dgain[:], dbias[:] = partial.sum(axis=1)


# -- Backward, on the GPU.


@cuda.jit
def dx_kernel(x, gain, dy, dx, means, scales):
    """Along the rows, a warp each; the moments are kept for those who go down the columns."""
    i = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    j = lane = cuda.threadIdx.x & (WARP - 1)
    if i >= x.shape[0]:
        return
    mean, scale = warp_moments(x, i, lane)
    if lane == 0:
        means[i], scales[i] = mean, scale
    share, level, along = ONE / np.float32(x.shape[1]), ZERO, ZERO
    while j < x.shape[1]:
        level += dy[i, j] * gain[j]
        along += dy[i, j] * gain[j] * (x[i, j] - mean)
        j += WARP
    level, along = warp_reduce_sum(level) * share, warp_reduce_sum(along) * share * scale
    j = lane
    while j < x.shape[1]:
        dx[i, j] = scale * (dy[i, j] * gain[j] - level - (x[i, j] - mean) * scale * along)
        j += WARP


@cuda.jit
def columns_kernel(x, dy, means, scales, dgain, dbias):
    """Down the columns, a thread each, over 64 rows; then one atomic addition."""
    j, i = cuda.grid(1), cuda.blockIdx.y * STRIP
    if j < x.shape[1]:
        gains, biases, end = ZERO, ZERO, min(i + STRIP, x.shape[0])
        while i < end:  # neighbors read neighbors
            gains += dy[i, j] * (x[i, j] - means[i]) * scales[i]
            biases += dy[i, j]
            i += 1
        cuda.atomic.add(dgain, j, gains)
        cuda.atomic.add(dbias, j, biases)


@cuda.jit
def zero_kernel(x, y):
    j = cuda.grid(1)
    if j < x.size:
        x[j], y[j] = ZERO, ZERO


@layer_norm_backward.version("CUDA, along rows, then down columns", on=gpu, prepares=True)
def launch_backward(x, gain, dy, out):
    (rows, columns), (dx, dgain, dbias) = x.shape, out
    means, scales = (gpu.empty(rows, x.dtype) for _ in range(2))
    across = ceil_div(columns, THREADS)

    def call():
        dx_kernel[warp_per_row(rows)](x, gain, dy, dx, means, scales)
        zero_kernel[across, THREADS](dgain, dbias)
        grid = across, ceil_div(rows, STRIP)
        columns_kernel[grid, THREADS](x, dy, means, scales, dgain, dbias)

    return call


@layer_norm_backward.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@layer_norm_backward.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def backward_pytorch(x, gain, dy):
    """PyTorch keeps the moments of the forward pass; here they are computed anew, as above. Its
    operators, since no public function takes dy and the moments: autograd alone calls them.
    """
    import torch

    forward, backward = torch.ops.aten.native_layer_norm, torch.ops.aten.native_layer_norm_backward
    zeros, needed = torch.zeros_like(gain), [True, True, True]

    def call():
        _, mean, scale = forward(x, gain.shape, gain, None, EPS)
        return backward(dy, x, gain.shape, mean, scale, gain, zeros, needed)

    return call
