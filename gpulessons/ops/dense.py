"""The dense layer: every output looks at every input.

    dense(x, w, b) = sigmoid(x wᵀ + b)

A row of x is one example, a row of w the weights of one output (PyTorch lays them out like this).
For a single example each weight is fetched, used once and forgotten: memory is the wait. For a
batch it may be used for every example: the layer is a matrix product, with a sigmoid behind it that
nobody need wait for, if it is done while the sums are still at hand.
"""

import math

import numpy as np
from numba import cuda, float32, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op
from gpulessons.ops.activations import (
    THREADS,
    ZERO,
    blocks,
    cuda_per_element,
    exp32,
    inline,
    python_exp,
    sigmoid,
    sigmoid_body,
)
from gpulessons.ops.matmul import COLUMNS, ROWS, multiply, multiply_tile
from gpulessons.ops.matmul_kernels import T, layer_kernel
from gpulessons.ops.reduce import warp_sum
from gpulessons.ops.transpose import tiled

WIDTH = 256  # inputs and outputs of the layer that is timed, unless `sized` says otherwise


def layer(examples, rng):
    """x: (examples, inputs), w: (outputs, inputs), b: (outputs,); float32, a few sums very wide.

    256 inputs and outputs where the batch is a power of two; else a small layer of awkward widths,
    so that a version that mixes up its axes is found.
    """
    even = examples & (examples - 1) == 0
    inputs, outputs = (WIDTH, WIDTH) if even else (examples + 6, examples // 2 + 1)
    return layer_of(examples, inputs, outputs, rng)


def layer_of(examples, inputs, outputs, rng):
    x = rng.standard_normal((examples, inputs), np.float32)
    x[1::16] *= 10
    w = rng.standard_normal((outputs, inputs), np.float32) / np.float32(inputs**0.5)
    return x, w, rng.standard_normal(outputs, np.float32)


def sized(inputs, outputs):
    """The inputs of a layer of this width, for `dense.like(sized(4096, 1024))`."""
    return lambda examples, rng: layer_of(examples, inputs, outputs, rng)


@op(
    inputs=layer,
    flops=lambda x, w, b: (2 * x.shape[1] + 5) * x.shape[0] * w.shape[0],  # 4 in a sigmoid
    sizes=(1, 64, 4096),
    rtol=2e-5,
    unit="examples",
    awkward=(33, 19, 3),
    signature="(examples, inputs), (outputs, inputs), (outputs,)",
)
def dense(x, w, b):
    """sigmoid(x wᵀ + b). x: (examples, inputs), w: (outputs, inputs), b: (outputs,), floats.

    Returns (examples, outputs).
    """
    return sigmoid(x @ w.T + b)


scalar_sigmoid = sigmoid_body(python_exp, None)
vector_sigmoid = inline(sigmoid_body(exp32, None))
device_sigmoid = cuda.jit(device=True)(sigmoid_body(math.exp, None))


@dense.version("Python loop", on=host)
def python_loop(x, w, b, out):
    rows, biases = w.tolist(), b.tolist()
    for i, example in enumerate(x.tolist()):
        for j, row in enumerate(rows):
            total = biases[j]
            for value, weight in zip(example, row, strict=True):
                total += value * weight
            out[i, j] = scalar_sigmoid(total)


# -- On the CPU: for one example, a pass over the weights; for many, a product.

every_core = njit(parallel=True, error_model="numpy", fastmath={"contract"})


@dense.version("Numba, a row of weights at a time", on=host)
@njit(parallel=True, error_model="numpy", fastmath={"contract", "reassoc", "nsz"})
def row_at_a_time(x, w, b, out):
    for j in prange(w.shape[0]):
        for i in range(x.shape[0]):  # the row is in the first cache from the second example on
            total = ZERO
            for k in range(x.shape[1]):
                total += x[i, k] * w[j, k]
            out[i, j] = vector_sigmoid(total + b[j])


def turned(x):
    """xᵀ, row after row, as a product wants it."""
    out = np.empty(x.shape[::-1], x.dtype)
    tiled(x, out)
    return out


def turn_and_activate(sums, b, out):
    for i in prange(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = vector_sigmoid(sums[j, i] + b[j])


activate, activate_tile = every_core(turn_and_activate), inline(turn_and_activate)


@dense.version("Numba, product, then sigmoid", on=host)
def product_then_sigmoid(x, w, b, out):
    sums = np.empty(out.shape[::-1], out.dtype)
    multiply(w, turned(x), sums)  # w xᵀ: it is the smaller factor that is turned
    activate(sums, b, out)


@every_core
def each_tile(w, xt, b, out):
    down, across = -(-w.shape[0] // ROWS), -(-xt.shape[1] // COLUMNS)
    for tile in prange(down * across):
        j, i = tile // across * ROWS, tile % across * COLUMNS
        outputs, examples = slice(j, j + ROWS), slice(i, i + COLUMNS)
        weights, inputs = w[outputs], xt[:, examples]
        sums = np.empty((weights.shape[0], inputs.shape[1]), out.dtype)
        multiply_tile(weights, inputs, sums, 0, 0)
        activate_tile(sums, b[outputs], out[examples, outputs])  # the sums never leave the cache


@dense.version("Numba, fused", on=host)
def fused(x, w, b, out):
    each_tile(w, turned(x), b, out)


# -- On the GPU: the product of matmul_kernels.py, with a step added at its end.

WARPS = 8  # in a block


@cuda.jit(device=True)
def as_it_is(value):
    return value


sums_kernel, fused_kernel = layer_kernel(as_it_is), layer_kernel(device_sigmoid)
sigmoid_kernel = cuda_per_element(device_sigmoid)


@cuda.jit
def warp_kernel(x, w, b, out):
    """A warp for each output: its lanes read along a row of weights, side by side."""
    i, j = cuda.blockIdx.x, cuda.blockIdx.y * WARPS + cuda.threadIdx.y
    if j < w.shape[0]:
        total = float32(0)
        for k in range(cuda.threadIdx.x, w.shape[1], 32):
            total += x[i, k] * w[j, k]
        total = warp_sum(total)
        if cuda.threadIdx.x == 0:
            out[i, j] = device_sigmoid(total + b[j])


def tiles(out):
    """The grid: a block for each tile of the result, a thread for each of its numbers."""
    return (blocks(out.shape[1], T), blocks(out.shape[0], T)), (T, T)


@dense.version("CUDA, a warp per output", on=gpu)
def launch_warps(x, w, b, out):
    warp_kernel[(x.shape[0], blocks(w.shape[0], WARPS)), (32, WARPS)](x, w, b, out)


@dense.version("CUDA, product, then sigmoid", on=gpu)
def launch_two(x, w, b, out):
    sums_kernel[tiles(out)](x, w, b, out)
    flat = out.ravel()
    sigmoid_kernel[blocks(flat.size, THREADS), THREADS](flat, flat)


@dense.version("CUDA, fused", on=gpu)
def launch_fused(x, w, b, out):
    fused_kernel[tiles(out)](x, w, b, out)


@dense.version("PyTorch on GPU", on=torch_gpu)
@dense.version("PyTorch on CPU", on=torch_cpu)
def pytorch(x, w, b, out):
    import torch

    torch.addmm(b, x, w.T, out=out)
    torch.sigmoid(out, out=out)
