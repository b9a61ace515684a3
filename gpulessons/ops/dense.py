"""The dense layer: every output looks at every input.

    dense(x, w, b) = sigmoid(z), z = x wᵀ + b     z: the preactivations

A row of x is one example, a row of w the weights of one output, as in PyTorch. For a single example
each weight is fetched, used once and forgotten: memory is the wait. For a batch it may be used for
every example: the layer is a matrix product, with a sigmoid behind it that costs next to nothing,
if it is done while the preactivations are still at hand.

Backward takes two more products, and so twice the work (Rumelhart, Hinton & Williams 1986): from
dz, the gradient of the loss by the preactivations, come those by inputs and weights, see
`gradients`.
"""

from functools import partial

import numpy as np
from numba import cuda, float32, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from .activations_more import device_sigmoid, sigmoid, vector_sigmoid
from .common import PARALLEL, REASSOCIATING, SERIAL, ZERO, grid
from .vectors import full_width


def layer(examples, rng, inputs=256, outputs=256):
    """x: (examples, inputs), w: (outputs, inputs), b: (outputs,); float32; some of x far out."""
    x = rng.standard_normal((examples, inputs), np.float32)
    x[1::16] *= 10
    w = rng.standard_normal((outputs, inputs), np.float32) / np.float32(inputs**0.5)
    return x, w, rng.standard_normal(outputs, np.float32)


def sized(inputs, outputs):
    """The inputs of a layer of this width, for `dense.like(sized(4096, 1024))`."""
    return partial(layer, inputs=inputs, outputs=outputs)


@op(inputs=layer, sizes=(1, 64, 4096), rtol=2e-5, unit="examples",
    flops=lambda x, w, b: (2 * x.shape[1] + 5) * x.shape[0] * w.shape[0],  # 4 in a sigmoid
    edge_cases=[Case(n, inputs=n + 6, outputs=n // 2 + 1) for n in (33, 19, 3)],
    signature="(examples, inputs), (outputs, inputs), (outputs,)")  # fmt: skip
def dense(x, w, b):
    """sigmoid(x wᵀ + b). x: (examples, inputs), w: (outputs, inputs), b: (outputs,), floats;
    returns (examples, outputs).
    """
    return sigmoid(x @ w.T + b)


# -- On the CPU: for one example, a pass over the weights; for many, a product.


@dense.version("Numba, a row of weights at a time", on=host)
@njit(**PARALLEL | REASSOCIATING)
def row_at_a_time(x, w, b, out):
    for j in prange(w.shape[0]):
        for i in range(x.shape[0]):  # the row is in the first cache from the second example on
            total = ZERO
            for k in range(x.shape[1]):
                total += x[i, k] * w[j, k]
            out[i, j] = vector_sigmoid(total + b[j])


@njit(**SERIAL)
def add_and_squash(b, row):
    full_width()
    for j in range(row.size):
        row[j] = vector_sigmoid(row[j] + b[j])


@njit(**PARALLEL)
def finish(b, out):
    for i in prange(out.shape[0]):
        add_and_squash(b, out[i])


@dense.version("BLAS, then sigmoid", on=host)
def product_then_sigmoid(x, w, b, out):
    np.matmul(x, w.T, out=out)  # the library's product: w stays as it lies
    finish(b, out)  # one pass, in place


# -- On the GPU: the shared tile of matmul.py with one step more.

T = 16  # a thread for each result, in blocks of T × T
T_PADDED = T + 2  # rows this long put the column of a tile into different banks


def tiles(rows, columns):
    """Grid and block for a thread per result of a matrix, in tiles of T by T."""
    return grid((rows, columns), T, T), (T, T)


@cuda.jit(device=True)
def tile_dot(x, w):
    """x[i] · w[j] for thread (j, i) of a grid of blocks (T, T), all of whose threads call this.

    x: (m, depth), w: (n, depth). Both are read along their rows, which is coalesced; the tile of w
    is transposed on its way into shared memory.
    """
    xs = cuda.shared.array((T, T), float32)
    ws = cuda.shared.array((T, T_PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    i, row = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + ty
    total = float32(0)
    for start in range(0, x.shape[1], T):
        k = start + tx
        xs[ty, tx] = x[i, k] if i < x.shape[0] and k < x.shape[1] else float32(0)
        ws[tx, ty] = w[row, k] if row < w.shape[0] and k < x.shape[1] else float32(0)
        cuda.syncthreads()
        for k in range(T):
            total += xs[ty, k] * ws[k, tx]
        cuda.syncthreads()
    return total


def layer_kernel(finish):
    """out = finish(x wᵀ + b), in one pass: `finish`, a device function, is the activation."""

    @cuda.jit
    def layer(x, w, b, out):
        j, i = cuda.grid(2)
        total = tile_dot(x, w)
        if i < out.shape[0] and j < out.shape[1]:
            out[i, j] = finish(total + b[j])  # while the number is at hand

    return layer


@cuda.jit(device=True)
def identity(value):
    return value


linear_kernel, fused_kernel = layer_kernel(identity), layer_kernel(device_sigmoid)


@dense.version("CUDA, fused", on=gpu)
def launch_fused(x, w, b, out):
    fused_kernel[tiles(*out.shape)](x, w, b, out)


@dense.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@dense.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def pytorch(x, w, b, out):
    from torch import addmm, sigmoid

    wt = w.T

    def call():
        addmm(b, x, wt, out=out)
        sigmoid(out, out=out)

    return call


# -- Backward: two more products.


def gradients(x, w, dz):
    """dx, dw and db of x wᵀ + b, from dz."""
    return dz @ w, dz.T @ x, dz.sum(0)
