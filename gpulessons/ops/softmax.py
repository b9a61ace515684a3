"""Softmax: scores into shares, row by row.

    softmax(x)[i, j] = exp(x[i, j] - max of row i) / sum over k of exp(x[i, k] - max of row i)

Without the maximum, exp overflows at 89; with it nothing does, and the result is the same. A row
has to be read for its maximum, for its sum and for its result. Or only twice: a sum whose maximum
turns out too small is mended by a factor, exp(old - new), as it grows (Milakov & Gimelshein 2018,
"Online normalizer calculation for softmax"). Attention rests on that.
"""

import math

import numpy as np
from numba import cuda, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op
from gpulessons.ops.activations import aten, blocks, exp32
from gpulessons.ops.rows import (
    AWKWARD,
    FULL,
    LOWEST,
    NOTHING,
    ONE,
    SIZES,
    THREADS,
    WARP,
    ZERO,
    any_order,
    block_max,
    block_per_row,
    block_sum,
    every_core,
    in_order,
    row_dot,
    row_max,
    warp_per_row,
    warp_sum,
    wide_rows,
)


def overflowing(x):
    """Softmax as the textbook has it: NaN as soon as a score passes 88. Not a version: wrong."""
    powers = np.exp(x)
    return powers / powers.sum(axis=-1, keepdims=True)


def shares_and_slopes(size, rng):
    """y: rows of shares that add up to one; dy: what the loss asks of each."""
    (x,) = wide_rows(size, rng)
    return softmax(x), rng.standard_normal(x.shape, np.float32)


@op(inputs=wide_rows, flops=lambda x: 5 * x.size, sizes=SIZES, rtol=1e-6, awkward=AWKWARD,
    signature="(rows, columns)")  # fmt: skip
def softmax(x):
    """exp(x) over its row's sum of exp(x). x: (rows, columns), float; returns like x."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@op(inputs=shares_and_slopes, flops=lambda y, dy: 4 * y.size, sizes=SIZES, awkward=AWKWARD,
    signature="(rows, columns), (rows, columns)")  # fmt: skip
def softmax_backward(y, dy):
    """The gradient by x, of y = softmax(x), from that by y: (rows, columns) each."""
    return y * (dy - (y * dy).sum(axis=-1, keepdims=True))


# -- On the CPU: three passes over a row, which stays in the first cache meanwhile.


@softmax.version("Python loop", on=host)
def python_loop(x, out):
    for i, row in enumerate(x.tolist()):
        top = max(row)
        powers = [math.exp(v - top) for v in row]
        total = sum(powers)
        out[i] = [power / total for power in powers]


@any_order
def exp_row(x, top, out):
    """out = exp(x - top), for one row; returns its sum."""
    total = ZERO
    for j in range(x.size):
        out[j] = exp32(x[j] - top)
        total += out[j]
    return total


def three_passes(x, out):
    for i in prange(x.shape[0]):
        scale = ONE / exp_row(x[i], row_max(x[i]), out[i])
        for j in range(x.shape[1]):
            out[i, j] *= scale


softmax.version("Numba, three passes, one core", on=host)(in_order(three_passes))
softmax.version("Numba, three passes", on=host)(every_core(three_passes))


# -- Online: a running maximum, and the running sum of exp(x - that maximum).


def join(exp):
    """Two parts of a row, each as its (maximum, sum), into one: the smaller is scaled down."""

    def join_parts(top, total, other_top, other_total):
        new = max(top, other_top)
        return new, total * exp(top - new) + other_total * exp(other_top - new)

    return join_parts


join_cpu, join_gpu = in_order(join(exp32)), cuda.jit(device=True)(join(math.exp))


@softmax.version("Numba, online", on=host)
@every_core
def online(x, out):
    for i in prange(x.shape[0]):
        top, total = LOWEST, ZERO
        for j in range(x.shape[1]):  # a chain: each number waits for the one before
            top, total = join_cpu(top, total, x[i, j], ONE)
        for j in range(x.shape[1]):
            out[i, j] = exp32(x[i, j] - top) / total


@softmax_backward.version("Python loop", on=host)
def backward_python(y, dy, out):
    for i, (shares, slopes) in enumerate(zip(y.tolist(), dy.tolist(), strict=True)):
        mean = sum(share * slope for share, slope in zip(shares, slopes, strict=True))
        out[i] = [share * (slope - mean) for share, slope in zip(shares, slopes, strict=True)]


def backward_rows(y, dy, out):
    for i in prange(y.shape[0]):
        mean = row_dot(y[i], dy[i])
        for j in range(y.shape[1]):
            out[i, j] = y[i, j] * (dy[i, j] - mean)


softmax_backward.version("Numba, one core", on=host)(in_order(backward_rows))
softmax_backward.version("Numba, every core", on=host)(every_core(backward_rows))


# -- On the GPU: a thread, a block or a warp to a row.


@cuda.jit
def thread_kernel(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        top, total = LOWEST, ZERO
        for j in range(x.shape[1]):  # neighbors read a whole row apart: nothing is coalesced
            top, total = join_gpu(top, total, x[i, j], ONE)
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - top) / total


@cuda.jit
def block_kernel(x, out):
    i, t, columns = cuda.blockIdx.x, cuda.threadIdx.x, x.shape[1]
    top, total = LOWEST, ZERO
    for j in range(t, columns, THREADS):
        top = max(top, x[i, j])
    top = block_max(top)
    for j in range(t, columns, THREADS):
        total += math.exp(x[i, j] - top)
    total = block_sum(total)
    for j in range(t, columns, THREADS):
        out[i, j] = math.exp(x[i, j] - top) / total


@cuda.jit(device=True)
def entry(x, i, j):
    return x[i, j] if j < x.shape[1] else NOTHING


@cuda.jit
def warp_kernel(x, out):
    """Online, four numbers a turn: four loads under way at once, and one mending for all four."""
    i, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    if i >= x.shape[0]:
        return  # the whole warp
    top, total = LOWEST, ZERO
    for j in range(lane, x.shape[1], 4 * WARP):
        a, b = x[i, j], entry(x, i, j + WARP)
        c, d = entry(x, i, j + 2 * WARP), entry(x, i, j + 3 * WARP)
        new = max(top, max(max(a, b), max(c, d)))
        four = math.exp(a - new) + math.exp(b - new) + math.exp(c - new) + math.exp(d - new)
        top, total = new, total * math.exp(top - new) + four
    for step in (16, 8, 4, 2, 1):
        other_top = cuda.shfl_xor_sync(FULL, top, step)
        top, total = join_gpu(top, total, other_top, cuda.shfl_xor_sync(FULL, total, step))
    for j in range(lane, x.shape[1], WARP):
        out[i, j] = math.exp(x[i, j] - top) / total


@cuda.jit
def backward_kernel(y, dy, out):
    i, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    if i >= y.shape[0]:
        return
    mean = ZERO
    for j in range(lane, y.shape[1], WARP):
        mean += y[i, j] * dy[i, j]
    mean = warp_sum(mean)
    for j in range(lane, y.shape[1], WARP):
        out[i, j] = y[i, j] * (dy[i, j] - mean)


@softmax.version("CUDA, a thread per row, uncoalesced", on=gpu)
def launch_thread(x, out):
    thread_kernel[blocks(x.shape[0], THREADS), THREADS](x, out)


@softmax.version("CUDA, a block per row", on=gpu)
def launch_block(x, out):
    block_kernel[block_per_row(x.shape[0])](x, out)


@softmax.version("CUDA, a warp per row, online", on=gpu)
def launch_warp(x, out):
    warp_kernel[warp_per_row(x.shape[0])](x, out)


@softmax_backward.version("CUDA, a warp per row", on=gpu)
def launch_backward(y, dy, out):
    backward_kernel[warp_per_row(y.shape[0])](y, dy, out)


# -- PyTorch.


softmax.version("PyTorch on GPU", on=torch_gpu)(aten("_softmax", 1, False))
softmax.version("PyTorch on CPU", on=torch_cpu)(aten("_softmax", 1, False))


@softmax_backward.version("PyTorch on GPU", on=torch_gpu)
@softmax_backward.version("PyTorch on CPU", on=torch_cpu)
def backward_pytorch(y, dy, out):
    import torch

    torch.ops.aten._softmax_backward_data.out(dy, y, 1, dy.dtype, grad_input=out)
