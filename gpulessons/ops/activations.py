"""Activations: one small function, applied to every element alone. Read this file first.

    relu(x)       = max(x, 0)                       Nair & Hinton 2010
    leaky_relu(x) = x where x > 0, else 0.01 x      Maas et al. 2013
    sigmoid(x)    = 1 / (1 + exp(-x))
    tanh(x)       = (exp(x) - exp(-x)) / (exp(x) + exp(-x))
    gelu(x)       = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
                    Hendrycks & Gimpel 2016, the tanh form

No element needs another, so the loop can be cut anywhere: into vectors, across cores, into a
million threads. That is what "embarrassingly parallel" means. ReLU comes first, every version
spelled out; the others differ in the body of the loop alone, and are lifted from it.
"""

import math

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

from .common import (
    ONE,
    PARALLEL,
    SERIAL,
    SIZES,
    THREADS,
    ZERO,
    ceil_div,
    exp32,
    flat,
    python_exp,
    tanh32,
    torch_call,
)


def wide(size, rng):
    """x: (size,) float32, mostly within ±10; every 16th to ±300, where a careless exp fails."""
    x = rng.normal(0, 3, size).astype(np.float32)
    x[::16] *= 30
    return (x,)


# -- ReLU. First what it is, in NumPy: the specification, and the first version.


@op(inputs=wide, flops=lambda x: x.size, sizes=SIZES, rtol=0)
def relu(x, out=None):
    """max(x, 0) for every element. x: any shape, float; returns the same shape and dtype."""
    return np.maximum(x, 0, out=out)


# -- A loop, interpreted, over a list's floats: each element of an array would have to be made into
# -- an object first. To all that follows, an array of any shape is one long row.


@relu.version("Python loop", on=host)
def relu_python(x, out):
    out.ravel()[:] = [0.0 if v < 0.0 else v for v in x.ravel().tolist()]


# -- The same loop compiled, for one core and for all.


def relu_loop(x, out):
    for i in prange(x.size):  # dealt out to the cores by PARALLEL; without it, prange is range
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


# -- Fewer threads, with more to do. The body of the loop is a device function from here on.


@cuda.jit(device=True)
def relu_element(v):
    return ZERO if v < ZERO else v


def grid_stride_kernel(element):
    """A loop again, in steps of the whole grid: a fixed number of threads serves any size."""

    @cuda.jit
    def grid_stride(x, out):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            out[i] = element(x[i])

    return grid_stride


def four_each_kernel(element):
    """Four elements a thread, a block's width apart: four loads in flight, each still coalesced."""

    @cuda.jit
    def four_each(x, out):
        start = 4 * cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        for step in range(4):
            i = start + step * cuda.blockDim.x
            if i < x.size:
                out[i] = element(x[i])

    return four_each


def launch_fewer_threads(op, element):
    """Register both for an op whose body is `element`, a device function of one number."""
    grid_stride, four_each = grid_stride_kernel(element), four_each_kernel(element)

    @op.version("CUDA, grid-stride", on=gpu)
    def launch_grid_stride(x, out):
        grid_stride[min(ceil_div(x.size, THREADS), 2048), THREADS](flat(x), flat(out))

    @op.version("CUDA, four elements a thread", on=gpu)
    def launch_four_each(x, out):
        four_each[ceil_div(x.size, 4 * THREADS), THREADS](flat(x), flat(out))


launch_fewer_threads(relu, relu_element)


# -- And the library's.


relu_pytorch = torch_call("clamp_min", 0)  # torch.clamp_min(x, 0, out=out)
relu.version("PyTorch on CPU", on=torch_cpu, prepares=True)(relu_pytorch)
relu.version("PyTorch on GPU", on=torch_gpu, prepares=True)(relu_pytorch)


# -- The other activations: their specifications. An exp or a tanh counts as one FLOP, as everywhere
# -- in this course.

LEAK = np.float32(0.01)
GELU_SCALE, GELU_CUBE = np.float32(2 * math.sqrt(2 / math.pi)), np.float32(0.044715)


@op(inputs=wide, flops=lambda x: 2 * x.size, sizes=SIZES)
def leaky_relu(x):
    """x where x > 0, else 0.01 x. x: any shape, float; returns the same shape and dtype."""
    return np.where(x > 0, x, x.dtype.type(0.01) * x)


@op(inputs=wide, flops=lambda x: 4 * x.size, sizes=SIZES)
def sigmoid(x):
    """1 / (1 + exp(-x)), without overflow: exp only ever sees -|x|. Same shape and dtype as x."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


@op(inputs=wide, flops=lambda x: x.size, sizes=SIZES)
def tanh(x, out=None):
    """The hyperbolic tangent of every element. Same shape and dtype as x."""
    return np.tanh(x, out=out)


@op(inputs=wide, flops=lambda x: 9 * x.size, sizes=SIZES)
def gelu(x):
    """x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). Same shape and dtype as x."""
    return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


# -- Their bodies: one element. Each machine has numbers and an exp of its own: Python's, those of
# -- common.py for a CPU's vectors, and CUDA's; so the same body is made three times.


def leaky_relu_with(real):
    leak, zero = real(LEAK), real(ZERO)

    def leaky_relu(v):
        return leak * v if v < zero else v

    return leaky_relu


def sigmoid_with(exp, real=np.float32):
    one = real(ONE)

    def sigmoid(v):
        return one / (one + exp(-v))

    return sigmoid


def gelu_with(exp, real=np.float32):
    one, scale, cube = map(real, (ONE, GELU_SCALE, GELU_CUBE))

    def gelu(v):  # x/2 (1 + tanh u) = x sigmoid(2u): one exp, no cancellation
        return v / (one + exp(-scale * (v + cube * v * v * v)))

    return gelu


on_cpu, on_gpu = njit(**SERIAL), cuda.jit(device=True)
scalar_sigmoid, scalar_gelu = (each(python_exp, float) for each in (sigmoid_with, gelu_with))
vector_sigmoid, vector_gelu = on_cpu(sigmoid_with(exp32)), on_cpu(gelu_with(exp32))
device_sigmoid, device_gelu = on_gpu(sigmoid_with(math.exp)), on_gpu(gelu_with(math.exp))


@cuda.jit(device=True)
def device_tanh(v):
    return math.tanh(v)


# -- The lifts: ReLU's loop and ReLU's kernel, around any body.


def element_loop(element, options):
    """relu_loop with another body, compiled with these options."""

    @njit(**options)
    def loop(x, out):
        for i in prange(x.size):
            out[i] = element(x[i])

    return loop


def element_kernel(element):
    """relu_kernel with another body."""

    @cuda.jit
    def per_element(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = element(x[i])

    return per_element


def lift(op, scalar, vector, device, library):
    """Give an op ReLU's versions, from its body in Python, for a CPU's vectors and for a GPU's
    threads. library: PyTorch's own, by torch_call.
    """
    one_core, every_core = element_loop(vector, SERIAL), element_loop(vector, PARALLEL)
    per_element = element_kernel(device)

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
    def launch_per_element(x, out):
        per_element[ceil_div(x.size, THREADS), THREADS](flat(x), flat(out))

    launch_fewer_threads(op, device)
    op.version("PyTorch on CPU", on=torch_cpu, prepares=True)(library)
    op.version("PyTorch on GPU", on=torch_gpu, prepares=True)(library)


# PyTorch's leaky_relu by its operator: torch.nn.functional has none that writes into `out`.
lift(leaky_relu, leaky_relu_with(float), on_cpu(leaky_relu_with(np.float32)),
     on_gpu(leaky_relu_with(np.float32)), torch_call("ops.aten.leaky_relu.out", 0.01))  # fmt: skip
lift(sigmoid, scalar_sigmoid, vector_sigmoid, device_sigmoid, torch_call("sigmoid"))
lift(tanh, math.tanh, tanh32, device_tanh, torch_call("tanh"))
lift(gelu, scalar_gelu, vector_gelu, device_gelu,
     torch_call("nn.functional.gelu", approximate="tanh"))  # fmt: skip
