"""Copy and triad: no arithmetic worth the name, so their speed is the memory's.

    copy(x)        = x
    triad(a, b, s) = a + s b                   STREAM (McCalpin 1995)

Every memory-bound op of this course is measured against them. A write may cost a read as well (the
cache line is fetched before it is changed); like STREAM, we count only the bytes asked for.
"""

from functools import partial

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .common import PARALLEL, SERIAL, SIZES, THREADS, ceil_div

SCALE = np.float32(3)


def one_array(size, rng):
    return (rng.standard_normal(size, np.float32),)


def two_arrays(size, rng):
    return *one_array(size, rng), *one_array(size, rng), SCALE


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


def copy_loop(x, out):
    for i in prange(x.size):
        out[i] = x[i]


def triad_loop(a, b, s, out):
    for i in prange(a.size):
        out[i] = a[i] + s * b[i]


copy.version("Numba, one core", on=host)(njit(copy_loop))
copy.version("Numba, every core", on=host)(njit(copy_loop, parallel=True))
triad.version("Numba, one core", on=host)(njit(**SERIAL)(triad_loop))
triad.version("Numba, every core", on=host)(njit(**PARALLEL)(triad_loop))


@cuda.jit
def copy_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i]


@copy.version("CUDA, a thread per element", on=gpu)
def copy_launch(x, out):
    copy_kernel[ceil_div(x.size, THREADS), THREADS](x, out)


@cuda.jit
def triad_kernel(a, b, s, out):
    i = cuda.grid(1)
    if i < a.size:
        out[i] = a[i] + s * b[i]


@triad.version("CUDA, a thread per element", on=gpu)
def triad_launch(a, b, s, out):
    triad_kernel[ceil_div(a.size, THREADS), THREADS](a, b, s, out)


@copy.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@copy.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def copy_pytorch(x, out):
    return partial(out.copy_, x)


@triad.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@triad.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def triad_pytorch(a, b, s, out):
    import torch

    return partial(torch.add, a, b, alpha=float(s), out=out)
