"""Copy and triad: no arithmetic worth the name, so their speed is the memory's.

    copy(x)        = x
    triad(a, b, s) = a + s b                       STREAM (McCalpin 1995)

Every memory-bound op of this course is measured against them. A write may cost a read as well (the
cache line is fetched before it is changed); like STREAM, we count only the bytes asked for.
"""

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op
from gpulessons.ops.activations import SIZES, THREADS, blocks

SCALE = np.float32(3)


def one_array(size, rng):
    return (rng.standard_normal(size, np.float32),)


def two_arrays(size, rng):
    return rng.standard_normal(size, np.float32), rng.standard_normal(size, np.float32), SCALE


@op(inputs=one_array, flops=lambda x: 0, sizes=SIZES, rtol=0)
def copy(x, out=None):
    """Every element of x, unchanged. x: (n,); returns the same shape and dtype."""
    out = np.empty_like(x) if out is None else out
    np.copyto(out, x)
    return out


@op(inputs=two_arrays, flops=lambda a, b, s: 2 * a.size, sizes=SIZES)
def triad(a, b, s):
    """a + s b. a, b: (n,); s: a number of their dtype; returns (n,)."""
    return a + s * b


@copy.version("Python loop", on=host)
def copy_python(x, out):
    for i in range(x.size):
        out[i] = x[i]


@triad.version("Python loop", on=host)
def triad_python(a, b, s, out):
    for i in range(a.size):
        out[i] = a[i] + s * b[i]


def copy_loop(x, out):
    for i in prange(x.size):
        out[i] = x[i]


def triad_loop(a, b, s, out):
    for i in prange(a.size):
        out[i] = a[i] + s * b[i]


copy.version("Numba, one core", on=host)(njit(copy_loop))
copy.version("Numba, every core", on=host)(njit(copy_loop, parallel=True))
triad.version("Numba, one core", on=host)(njit(triad_loop, fastmath={"contract"}))
triad.version("Numba, every core", on=host)(njit(triad_loop, parallel=True, fastmath={"contract"}))


@cuda.jit
def copy_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


@copy.version("CUDA, a thread per element", on=gpu)
def copy_launch(x, out):
    copy_kernel[blocks(x.size, THREADS), THREADS](x, out)


@cuda.jit
def copy_stride_kernel(x, out):
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i]


@copy.version("CUDA, grid-stride", on=gpu)
def copy_stride_launch(x, out):
    copy_stride_kernel[min(blocks(x.size, THREADS), 2048), THREADS](x, out)


@cuda.jit
def triad_kernel(a, b, s, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + s * b[i]


@triad.version("CUDA, a thread per element", on=gpu)
def triad_launch(a, b, s, out):
    triad_kernel[blocks(a.size, THREADS), THREADS](a, b, s, out)


@copy.version("PyTorch on GPU", on=torch_gpu)
@copy.version("PyTorch on CPU", on=torch_cpu)
def copy_pytorch(x, out):
    out.copy_(x)


@triad.version("PyTorch on GPU", on=torch_gpu)
@triad.version("PyTorch on CPU", on=torch_cpu)
def triad_pytorch(a, b, s, out):
    import torch

    torch.add(a, b, alpha=float(s), out=out)
