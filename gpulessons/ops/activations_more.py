"""The other activations: ReLU's versions, with another body in the loop.

    sigmoid(x) = 1 / (1 + exp(-x))
    tanh(x)    = (exp(x) - exp(-x)) / (exp(x) + exp(-x))
    gelu(x)    = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
                 Hendrycks & Gimpel 2016, the tanh form

Each has its body three times, because each machine has numbers and an exp of its own: Python's,
those of common.py for a CPU's vectors, and CUDA's. An exp or a tanh counts as one FLOP.
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
    python_exp,
    run_op,
    tanh32,
    torch_call,
)
from .vectors import full_width

GELU_SCALE, GELU_CUBE = np.float32(2 * math.sqrt(2 / math.pi)), np.float32(0.044715)


def element_loop(element, options):
    """relu_loop with another body, compiled with these options."""

    @njit(**options)
    def loop(x, out):
        for i in prange(x.size):
            full_width()
            out[i] = element(x[i])

    return loop


def add_versions(op, scalar, vector, kernel, library):
    """ReLU's versions for an op: bodies in Python and for CPU vectors, its kernel, PyTorch's."""
    one_core, every_core = element_loop(vector, SERIAL), element_loop(vector, PARALLEL)

    @op.version("Python loop", on=host)
    def python_loop(x, out):
        out.ravel()[:] = [scalar(v) for v in x.ravel().tolist()]

    @op.version("Numba, one core", on=host)
    def numba_one_core(x, out):
        one_core(flat(x), flat(out))

    @op.version("Numba, every core", on=host)
    def numba_every_core(x, out):
        every_core(flat(x), flat(out))

    @op.version("CUDA, a thread per element", on=gpu)
    def launch(x, out):
        kernel[ceil_div(x.size, THREADS), THREADS](flat(x), flat(out))

    op.version("PyTorch on CPU", on=torch_cpu, prepares=True)(library)
    op.version("PyTorch on GPU", on=torch_gpu, prepares=True)(library)


@op(inputs=wide, flops=lambda x: 4 * x.size, sizes=SIZES)
def sigmoid(x):
    """1 / (1 + exp(-x)), without overflow: exp only ever sees -|x|. Same shape and dtype as x."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def scalar_sigmoid(v):
    return 1.0 / (1.0 + python_exp(-v))


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


add_versions(sigmoid, scalar_sigmoid, vector_sigmoid, sigmoid_kernel, torch_call("sigmoid"))


@op(inputs=wide, flops=lambda x: x.size, sizes=SIZES)
def tanh(x, out=None):
    """The hyperbolic tangent of every element. Same shape and dtype as x."""
    return np.tanh(x, out=out)


@cuda.jit
def tanh_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = math.tanh(x[i])


add_versions(tanh, math.tanh, tanh32, tanh_kernel, torch_call("tanh"))


# -- GELU. x/2 (1 + tanh u) = x sigmoid(2u): one exp, and no cancellation.


@op(inputs=wide, flops=lambda x: 9 * x.size, sizes=SIZES)
def gelu(x):
    """x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Same shape and dtype as x."""
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def scalar_gelu(v):
    return v / (1.0 + python_exp(-float(GELU_SCALE) * (v + float(GELU_CUBE) * v * v * v)))


@njit(**SERIAL)
def vector_gelu(v):
    return v / (ONE + exp32(-GELU_SCALE * (v + GELU_CUBE * v * v * v)))


@cuda.jit(device=True)
def device_gelu(v):
    return v / (ONE + math.exp(-GELU_SCALE * (v + GELU_CUBE * v * v * v)))


@cuda.jit
def gelu_kernel(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = device_gelu(x[i])


add_versions(gelu, scalar_gelu, vector_gelu, gelu_kernel,
             torch_call("nn.functional.gelu", approximate="tanh"))  # fmt: skip


if __name__ == "__main__":
    for each in (sigmoid, tanh, gelu):
        run_op(each)
