"""ReLU, every version of it spelled out. Read this file first.

    relu(x) = max(x, 0)                             Nair & Hinton 2010

An activation is one small function, applied to every element alone. No element needs another, so
the loop can be cut anywhere: into vectors, across cores, into a million threads. That is what
"embarrassingly parallel" means. activations_more.py has the other activations, whose loops differ
in their body alone.
"""

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .common import PARALLEL, SERIAL, SIZES, THREADS, ZERO, ceil_div, flat, torch_call


def wide(size, rng):
    """x: (size,) float32, mostly within ±10; every 16th to ±300, where a careless exp fails."""
    x = rng.normal(0, 3, size).astype(np.float32)
    x[::16] *= 30
    return (x,)


# -- First what it is, in NumPy: the specification, and the first version.


@op(inputs=wide, flops=lambda x: x.size, sizes=SIZES, rtol=0)
def relu(x, out=None):
    """max(x, 0) for every element. x: any shape, float; returns the same shape and dtype."""
    return np.maximum(x, 0, out=out)


# -- A loop, compiled for one core and for all. To it an array of any shape is one long row.


def relu_loop(x, out):
    for i in prange(x.size):  # PARALLEL gives each core a part; without it, prange is range
        out[i] = ZERO if x[i] < ZERO else x[i]  # this way round a NaN stays a NaN


relu_one_core, relu_every_core = njit(**SERIAL)(relu_loop), njit(**PARALLEL)(relu_loop)


@relu.version("Numba, one core", on=host)
def relu_numba(x, out):
    relu_one_core(flat(x), flat(out))


@relu.version("Numba, every core", on=host)
def relu_numba_parallel(x, out):
    relu_every_core(flat(x), flat(out))


# -- On a GPU: the loop is gone, and thread i does element i. A kernel, and who launches it.


@cuda.jit
def relu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:  # the last block is rarely full
        out[i] = ZERO if x[i] < ZERO else x[i]


@relu.version("CUDA, a thread per element", on=gpu)
def launch_relu(x, out):
    relu_kernel[ceil_div(x.size, THREADS), THREADS](flat(x), flat(out))


# -- And the library's.


relu_pytorch = torch_call("clamp_min", 0)  # torch.clamp_min(x, 0, out=out)
relu.version("PyTorch on CPU", on=torch_cpu, prepares=True)(relu_pytorch)
relu.version("PyTorch on GPU", on=torch_gpu, prepares=True)(relu_pytorch)
