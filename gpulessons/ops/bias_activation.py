"""Bias and activation, fused: do to a number all you have to while you hold it.

    bias_gelu(x, b) = gelu(x + b)

Two passes read x, write x + b, read it back and write the result: four trips over the data. One
pass makes two. The arithmetic is the same; only the traffic is halved.
"""

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .activations_more import device_gelu, gelu, gelu_kernel, vector_gelu
from .common import PARALLEL, SERIAL, SIZES, THREADS, WARP, ceil_div
from .rows import WIDTH
from .vectors import full_width


def layer(size, rng):
    """x: (rows, columns) float32 with at most `size` elements; b: (columns,) float32."""
    columns = min(size, WIDTH)
    x = rng.normal(0, 3, (size // columns, columns)).astype(np.float32)
    x[:, ::16] *= 30
    return x, rng.normal(0, 1, columns).astype(np.float32)


@op(inputs=layer, flops=lambda x, b: 10 * x.size, sizes=SIZES,
    signature="(rows, columns), (columns,)")  # fmt: skip
def bias_gelu(x, b):
    """gelu(x + b), one bias for every row. x: (rows, columns), b: (columns,); returns like x."""
    return gelu(x + b)


def fused_loop(x, b, out):
    for row in prange(x.shape[0]):
        for column in range(x.shape[1]):
            full_width()
            out[row, column] = vector_gelu(x[row, column] + b[column])


bias_gelu.version("Numba, fused, one core", on=host)(njit(**SERIAL)(fused_loop))
bias_gelu.version("Numba, fused", on=host)(njit(**PARALLEL)(fused_loop))


# -- On the GPU: two kernels, then one. The bias is read so often that it never leaves the cache.


def tiles(x):
    """A grid of two axes: blocks of 32 columns by 8 rows."""
    return (ceil_div(x.shape[1], WARP), ceil_div(x.shape[0], 8)), (WARP, 8)


@cuda.jit
def bias_kernel(x, b, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[row, column] = x[row, column] + b[column]


@bias_gelu.version("CUDA, two kernels", on=gpu, prepares=True)
def launch_two(x, b, out):
    grid, flat = ceil_div(x.size, THREADS), out.ravel()

    def call():
        bias_kernel[tiles(x)](x, b, out)
        gelu_kernel[grid, THREADS](flat, flat)

    return call


@cuda.jit
def fused_kernel(x, b, out):
    column, row = cuda.grid(2)
    if row < x.shape[0] and column < x.shape[1]:
        out[row, column] = device_gelu(x[row, column] + b[column])


@bias_gelu.version("CUDA, fused", on=gpu, prepares=True)
def launch_fused(x, b, out):
    return lambda: fused_kernel[tiles(x)](x, b, out)


@bias_gelu.version("PyTorch, two operators, GPU", on=torch_gpu, prepares=True)
@bias_gelu.version("PyTorch, two operators, CPU", on=torch_cpu, prepares=True)
def torch_eager(x, b, out):
    from torch import add
    from torch.nn.functional import gelu

    def call():
        add(x, b, out=out)
        gelu(out, approximate="tanh", out=out)

    return call
