"""Layer norm, backward: along the rows for one gradient, down the columns for two.

    unit  = (x - mean) / sqrt(variance + 1e-5)           slope = dy gain
    dx    = (slope - mean of slope - unit · mean of (unit slope)) / sqrt(variance + 1e-5)
    dgain = sum over rows of dy unit                     dbias = sum over rows of dy

dx needs sums along each row, which is dealt out by rows. dgain and dbias need sums over all rows:
dealt out the same way, everybody would add to the same few numbers at once.
"""

import numpy as np
from numba import cuda, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op
from gpulessons.ops.activations import blocks
from gpulessons.ops.layer_norm import (
    EPS,
    moments,
    row_moments,
    rows_and_gains,
    standard,
    warp_moments,
)
from gpulessons.ops.rows import (
    AWKWARD,
    ONE,
    SIZES,
    THREADS,
    WARP,
    ZERO,
    any_order,
    every_core,
    warp_per_row,
    warp_sum,
)


def rows_and_slopes(size, rng):
    """x: wide rows; gain: (columns,); dy: like x."""
    x, gain, _ = rows_and_gains(size, rng)
    return x, gain, rng.standard_normal(x.shape, np.float32)


@op(inputs=rows_and_slopes, flops=lambda x, gain, dy: 16 * x.size, sizes=SIZES, rtol=5e-5,
    awkward=AWKWARD, signature="(rows, columns), (columns,), (rows, columns)")  # fmt: skip
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


# -- On the CPU.


@any_order
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


@every_core
def backward_rows(x, gain, dy, dx, dgains, dbiases):
    for strip in prange(len(dgains)):
        for i in range(strip * STRIP, min(len(x), strip * STRIP + STRIP)):
            backward_row(x[i], gain, dy[i], dx[i], dgains[strip], dbiases[strip])


@layer_norm_backward.version("Numba, every core", on=host)
def backward_numba(x, gain, dy, out):
    dx, dgain, dbias = out
    sums = np.zeros((2, blocks(len(x), STRIP), gain.size), np.float32)  # of each strip
    backward_rows(x, gain, dy, dx, *sums)
    dgain[:], dbias[:] = sums.sum(axis=1)


# -- On the GPU.


@cuda.jit
def dx_kernel(x, gain, dy, dx, means, scales):
    """Along the rows, a warp each; the moments are kept for those who go down the columns."""
    i, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    if i >= x.shape[0]:
        return
    mean, scale = warp_moments(x, i, lane)
    if lane == 0:
        means[i], scales[i] = mean, scale
    share, level, along = ONE / np.float32(x.shape[1]), ZERO, ZERO
    for j in range(lane, x.shape[1], WARP):
        level += dy[i, j] * gain[j]
        along += dy[i, j] * gain[j] * (x[i, j] - mean)
    level, along = warp_sum(level) * share, warp_sum(along) * share * scale
    for j in range(lane, x.shape[1], WARP):
        dx[i, j] = scale * (dy[i, j] * gain[j] - level - (x[i, j] - mean) * scale * along)


@cuda.jit
def columns_kernel(x, dy, means, scales, dgain, dbias):
    """Down the columns, a thread each, over 64 rows; then one atomic addition."""
    j, first = cuda.grid(1), cuda.blockIdx.y * STRIP
    if j < x.shape[1]:
        gains, biases = ZERO, ZERO
        for i in range(first, min(first + STRIP, x.shape[0])):  # neighbors read neighbors
            gains += dy[i, j] * (x[i, j] - means[i]) * scales[i]
            biases += dy[i, j]
        cuda.atomic.add(dgain, j, gains)
        cuda.atomic.add(dbias, j, biases)


@cuda.jit
def zero_kernel(x, y):
    j = cuda.grid(1)
    if j < x.size:
        x[j], y[j] = ZERO, ZERO


@layer_norm_backward.version("CUDA, along rows, then down columns", on=gpu)
def launch_backward(x, gain, dy, out):
    (rows, columns), (dx, dgain, dbias) = x.shape, out
    means, scales = (gpu.empty(rows, x.dtype) for _ in range(2))
    dx_kernel[warp_per_row(rows)](x, gain, dy, dx, means, scales)
    across = blocks(columns, THREADS)
    zero_kernel[across, THREADS](dgain, dbias)
    grid = across, blocks(rows, STRIP)
    columns_kernel[grid, THREADS](x, dy, means, scales, dgain, dbias)


# -- PyTorch.


@layer_norm_backward.version("PyTorch on GPU", on=torch_gpu)
@layer_norm_backward.version("PyTorch on CPU", on=torch_cpu)
def backward_pytorch(x, gain, dy):
    """PyTorch keeps the moments of the forward pass; here they are computed anew, as above."""
    import torch

    aten = torch.ops.aten
    _, mean, scale = aten.native_layer_norm(x, gain.shape, gain, None, EPS)
    needed = [True, True, True]
    return aten.native_layer_norm_backward(
        dy, x, gain.shape, mean, scale, gain, torch.zeros_like(gain), needed
    )
