"""The dense layer, backward: two more products.

    dz = dy y (1 − y)            how fast the loss grows with each sum
    dx = dz w                    … with each input: a product
    dw = dzᵀ x                   … with each weight, over all the examples: another one
    db = the sum of dz's rows    … with each bias

The gradients of a loss, by the chain rule: Rumelhart, Hinton and Williams 1986. y is the layer's
output and dy the loss's gradient with respect to it; the sums themselves need not be kept, because
a sigmoid's slope is known from its value. Forward is one product; backward has twice its work.
"""

import numpy as np
from numba import cuda, float32, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op
from gpulessons.ops.activations import ONE, THREADS, ZERO, blocks
from gpulessons.ops.dense import dense, every_core, layer, tiles, turned
from gpulessons.ops.matmul import launch_tile, multiply
from gpulessons.ops.transpose import launch_padded


def layer_and_gradient(examples, rng, layer=layer):
    """x, w, y = dense(x, w, b) and dy: the gradient of a mean, so that dw stays around one."""
    x, w, b = layer(examples, rng)
    dy = rng.standard_normal((examples, w.shape[0]), np.float32)
    return x, w, dense(x, w, b), dy / np.float32(examples)


def gradients(x, w, dz):
    """dx, dw and db of x wᵀ + b, from dz. For NumPy's arrays and for PyTorch's."""
    return dz @ w, dz.T @ x, dz.sum(0)


@op(
    inputs=layer_and_gradient,
    flops=lambda x, w, y, dy: 4 * (x.shape[1] + 1) * y.size,
    sizes=(1, 64, 4096),
    rtol=2e-5,
    unit="examples",
    awkward=(33, 19, 3),
    signature="(examples, inputs), (outputs, inputs), (examples, outputs), (examples, outputs)",
)
def dense_backward(x, w, y, dy):
    """dx, dw, db of y = sigmoid(x wᵀ + b), from dy, the gradient with respect to y.

    x: (examples, inputs), w: (outputs, inputs), y and dy: (examples, outputs). The gradients are
    shaped like x, w and b.
    """
    return gradients(x, w, dy * y * (1 - y))


@dense_backward.version("Python loop", on=host)
def python_loop(x, w, y, dy, out):
    dx, dw, db = out
    dx[:], dw[:], db[:] = 0, 0, 0
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            dz = dy[i, j] * y[i, j] * (1 - y[i, j])
            db[j] += dz
            for k in range(x.shape[1]):
                dx[i, k] += dz * w[j, k]
                dw[j, k] += dz * x[i, k]


# -- On the CPU.


@every_core
def slope(y, dy, dz):
    for i in prange(y.shape[0]):
        for j in range(y.shape[1]):
            dz[i, j] = dy[i, j] * y[i, j] * (ONE - y[i, j])


@every_core
def sum_rows(dz, db):
    for j in prange(dz.shape[1]):
        total = ZERO
        for i in range(dz.shape[0]):
            total += dz[i, j]
        db[j] = total


def numba_gradients(x, w, dz, dx, dw, db):
    multiply(dz, w, dx)
    multiply(turned(dz), x, dw)
    sum_rows(dz, db)


@dense_backward.version("Numba", on=host)
def numba_backward(x, w, y, dy, out):
    dz = np.empty_like(y)
    slope(y, dy, dz)
    numba_gradients(x, w, dz, *out)


# -- On the GPU.


@cuda.jit
def slope_kernel(y, dy, dz):
    j, i = cuda.grid(2)
    if i < y.shape[0] and j < y.shape[1]:
        dz[i, j] = dy[i, j] * y[i, j] * (float32(1) - y[i, j])


@cuda.jit
def sum_rows_kernel(dz, db):
    j = cuda.grid(1)  # neighbors take neighboring columns, and read along each row together
    if j < dz.shape[1]:
        total = float32(0)
        for i in range(dz.shape[0]):
            total += dz[i, j]
        db[j] = total


def cuda_gradients(x, w, dz, dx, dw, db):
    dzt = cuda.device_array(dz.shape[::-1], dz.dtype)
    launch_padded(dz, dzt)
    launch_tile(dz, w, dx)
    launch_tile(dzt, x, dw)
    sum_rows_kernel[blocks(db.size, THREADS), THREADS](dz, db)


@dense_backward.version("CUDA, tiles", on=gpu)
def launch_backward(x, w, y, dy, out):
    dz = cuda.device_array_like(y)
    slope_kernel[tiles(dz)](y, dy, dz)
    cuda_gradients(x, w, dz, *out)


@dense_backward.version("PyTorch on GPU", on=torch_gpu)
@dense_backward.version("PyTorch on CPU", on=torch_cpu)
def pytorch(x, w, y, dy):
    return gradients(x, w, dy * y * (1 - y))
