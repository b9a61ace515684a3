"""The other activations: ReLU's versions, with another body in the loop.

    gelu(x)    = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
                 Hendrycks & Gimpel 2016, the tanh form
    sigmoid(x) = 1 / (1 + exp(-x))
    tanh(x)    = (exp(x) - exp(-x)) / (exp(x) + exp(-x))

GELU is an op; of the other two layers and gates take the bodies. Each has its body twice, because
each machine has an exp of its own: that of common.py for a CPU's vectors, and CUDA's. An exp or a
tanh counts as one FLOP.
"""

import math

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .activations import wide
from .common import (
    ONE,
    PARALLEL,
    SERIAL,
    SIZES,
    THREADS,
    ceil_div,
    exp32,
    flat,
    torch_call,
)
from .vectors import full_width

GELU_SCALE, GELU_CUBE = np.float32(2 * math.sqrt(2 / math.pi)), np.float32(0.044715)


# -- Sigmoid and tanh.


def sigmoid(x):
    """1 / (1 + exp(-x)), without overflow: exp only ever sees -|x|. Same shape and dtype as x."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


@njit(**SERIAL)
def vector_sigmoid(v):
    return ONE / (ONE + exp32(-v))


@cuda.jit(device=True)
def device_sigmoid(v):
    return ONE / (ONE + math.exp(-v))


@cuda.jit
def sigmoid_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = device_sigmoid(x[i])


@cuda.jit
def tanh_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.tanh(x[i])


# -- GELU. x/2 (1 + tanh u) = x sigmoid(2u): one exp, and no cancellation.


@op(inputs=wide, flops=lambda x: 9 * x.size, sizes=SIZES)
def gelu(x):
    """x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Same shape and dtype as x."""
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


@njit(**SERIAL)
def vector_gelu(v):
    return v / (ONE + exp32(-GELU_SCALE * (v + GELU_CUBE * v * v * v)))


def gelu_loop(x, out):
    for i in prange(x.size):
        full_width()
        out[i] = vector_gelu(x[i])


gelu_one_core, gelu_every_core = njit(**SERIAL)(gelu_loop), njit(**PARALLEL)(gelu_loop)


@gelu.version("Numba, one core", on=host)
def gelu_numba(x, out):
    gelu_one_core(flat(x), flat(out))


@gelu.version("Numba, every core", on=host)
def gelu_numba_parallel(x, out):
    gelu_every_core(flat(x), flat(out))


@cuda.jit(device=True)
def device_gelu(v):
    return v / (ONE + math.exp(-GELU_SCALE * (v + GELU_CUBE * v * v * v)))


@cuda.jit
def gelu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = device_gelu(x[i])


@gelu.version("CUDA, a thread per element", on=gpu)
def launch_gelu(x, out):
    gelu_kernel[ceil_div(x.size, THREADS), THREADS](flat(x), flat(out))


gelu_pytorch = torch_call("nn.functional.gelu", approximate="tanh")
gelu.version("PyTorch on CPU", on=torch_cpu, prepares=True)(gelu_pytorch)
gelu.version("PyTorch on GPU", on=torch_gpu, prepares=True)(gelu_pytorch)
