"""Activations: one small function, applied to every element alone.

    relu(x)       = max(x, 0)                       Nair & Hinton 2010
    leaky_relu(x) = x where x > 0, else 0.01 x      Maas et al. 2013
    sigmoid(x)    = 1 / (1 + exp(-x))
    tanh(x)       = (exp(x) - exp(-x)) / (exp(x) + exp(-x))
    gelu(x)       = x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
                    Hendrycks & Gimpel 2016, the tanh form

No element needs another, so the loop can be cut anywhere: into vectors, across cores, into a
million threads. That is what "embarrassingly parallel" means. The body of the loop is written once
and lifted to whoever runs it.
"""

import math

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import op

SIZES = (1_000, 100_000, 10_000_000)  # fits the first cache, the last cache, neither
THREADS = 256  # per block: eight warps, and small enough for every GPU

# Constants are float32 by name: a bare 1.0 is float64 and would drag the expression with it.
ZERO, HALF, ONE, LEAK = map(np.float32, (0, 0.5, 1, 0.01))
GELU_SCALE, GELU_CUBE = np.float32(2 * math.sqrt(2 / math.pi)), np.float32(0.044715)


def wide(size, rng):
    """x: (size,) float32, mostly within ±10; every 16th to ±300, where a careless exp fails."""
    x = rng.normal(0, 3, size).astype(np.float32)
    x[::16] *= 30
    return (x,)


# -- The specifications. An exp or a tanh counts as one FLOP, as everywhere in this course.


@op(inputs=wide, flops=lambda x: x.size, sizes=SIZES, rtol=0)
def relu(x, out=None):
    """max(x, 0) for every element. x: any shape, float; returns the same shape and dtype."""
    return np.maximum(x, 0, out=out)


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


# -- The bodies: what happens to one element. exp and tanh are passed in: each machine has its own.


def relu_body(exp, tanh):
    def body(v):
        return ZERO if v < ZERO else v  # this way round a NaN stays a NaN

    return body


def leaky_relu_body(exp, tanh):
    def body(v):
        return LEAK * v if v < ZERO else v

    return body


def sigmoid_body(exp, tanh):
    def body(v):
        return ONE / (ONE + exp(-v))

    return body


def tanh_body(exp, tanh):
    def body(v):
        return tanh(v)

    return body


def gelu_body(exp, tanh):
    def body(v):  # x/2 (1 + tanh u) = x sigmoid(2u): one exp, no cancellation
        return v / (ONE + exp(-GELU_SCALE * (v + GELU_CUBE * v * v * v)))

    return body


# -- Each machine's exp. A CPU's vector units have none, and a loop around the math library's stays
# -- scalar: the polynomials below are plain arithmetic, so the compiler can vectorize them.


def python_exp(v):
    return math.inf if v > EXP_HIGH else math.exp(v)  # math.exp raises OverflowError instead


# No branch to raise ZeroDivisionError, which would forbid vectors; multiply-adds may be fused.
inline = njit(error_model="numpy", fastmath={"contract"})

LOG2_E, LN2_HIGH, LN2_LOW = map(np.float32, (1.44269504, 0.693359375, -2.12194440e-4))
EXP_LOW, EXP_HIGH = np.float32(-87), np.float32(89)  # the last normal number; infinity
E2, E3, E4, E5, E6, E7 = map(
    np.float32,
    (0.5, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4),
)
BIAS, MANTISSA_BITS = np.int32(127), np.int32(23)


@inline
def exp32(v):
    """exp in float32, relative error under 2e-7 from -87 to 88 (tested); infinity from 88.4 on.

    The polynomial of Cephes' expf.
    """
    v = min(max(v, EXP_LOW), EXP_HIGH)
    k = np.floor(v * LOG2_E + HALF)  # exp(v) = 2^k exp(r), |r| <= ln(2)/2
    r = v - k * LN2_HIGH - k * LN2_LOW
    p = ((((E7 * r + E6) * r + E5) * r + E4) * r + E3) * r + E2
    power = np.int32((np.int32(k) + BIAS) << MANTISSA_BITS).view(np.float32)  # 2^k, by its bits
    return (p * r * r + r + ONE) * power


TANH_LIMIT = np.float32(7.90531110763549805)  # tanh rounds to 1 beyond it
P1, P3, P5, P7, P9, P11, P13 = map(
    np.float32,
    (4.89352455891786e-3, 6.37261928875436e-4, 1.48572235717979e-5, 5.12229709037114e-8,
     -8.60467152213735e-11, 2.00018790482477e-13, -2.76076847742355e-16),
)  # fmt: skip
Q0, Q2, Q4, Q6 = map(
    np.float32, (4.89352518554385e-3, 2.26843463243900e-3, 1.18534705686654e-4, 1.19825839466702e-6)
)


@inline
def tanh32(v):
    """tanh in float32, error under 5e-7 (tested); the rational approximation of Eigen's ptanh."""
    v = min(max(v, -TANH_LIMIT), TANH_LIMIT)
    s = v * v
    p = (((((P13 * s + P11) * s + P9) * s + P7) * s + P5) * s + P3) * s + P1
    return v * p / (((Q6 * s + Q4) * s + Q2) * s + Q0)


# -- The lifts: who runs the body.


def numba_loop(body, parallel=False):
    """The plain loop, compiled; with parallel=True its range is dealt out to every core."""

    @njit(parallel=parallel, error_model="numpy", fastmath={"contract"})
    def loop(x, out):
        for i in prange(x.size):  # prange is range where parallel is off
            out[i] = body(x[i])

    return loop


def cuda_per_element(body):
    """Delete the loop: thread i does element i."""

    @cuda.jit
    def per_element(x, out):
        i = cuda.grid(1)
        if i < x.size:  # the last block is rarely full
            out[i] = body(x[i])

    return per_element


def cuda_grid_stride(body):
    """A loop again, in steps of the whole grid: a fixed number of threads serves any size."""

    @cuda.jit
    def grid_stride(x, out):
        for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
            out[i] = body(x[i])

    return grid_stride


def cuda_four_each(body):
    """Four elements a thread, a block's width apart: four loads in flight, each still coalesced."""

    @cuda.jit
    def four_each(x, out):
        start = 4 * cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        for step in range(4):
            i = start + step * cuda.blockDim.x
            if i < x.size:
                out[i] = body(x[i])

    return four_each


def lift(op, make_body, aten):
    """Give an element-wise op its versions. aten(x, out) is PyTorch's own kernel."""
    scalar = make_body(python_exp, math.tanh)
    vector = inline(make_body(exp32, tanh32))
    device = cuda.jit(device=True)(make_body(math.exp, math.tanh))
    one_core, every_core = numba_loop(vector), numba_loop(vector, parallel=True)
    per_element, grid_stride = cuda_per_element(device), cuda_grid_stride(device)
    four_each = cuda_four_each(device)

    @op.version("Python loop", on=host)
    def python_loop(x, out):
        flat, result = x.ravel(), out.ravel()
        for i in range(flat.size):
            result[i] = scalar(flat[i])

    @op.version("Numba, one core", on=host)
    def numba_one_core(x, out):
        one_core(x.ravel(), out.ravel())

    @op.version("Numba, every core", on=host)
    def numba_every_core(x, out):
        every_core(x.ravel(), out.ravel())

    @op.version("CUDA, a thread per element", on=gpu)
    def launch_per_element(x, out):
        per_element[blocks(x.size, THREADS), THREADS](x.ravel(), out.ravel())

    @op.version("CUDA, grid-stride", on=gpu)
    def launch_grid_stride(x, out):
        grid_stride[min(blocks(x.size, THREADS), 2048), THREADS](x.ravel(), out.ravel())

    @op.version("CUDA, four elements a thread", on=gpu)
    def launch_four_each(x, out):
        four_each[blocks(x.size, 4 * THREADS), THREADS](x.ravel(), out.ravel())

    @op.version("PyTorch on GPU", on=torch_gpu)
    @op.version("PyTorch on CPU", on=torch_cpu)
    def pytorch(x, out):
        aten(x, out)


def blocks(elements, each):
    """Enough blocks for so many elements: the quotient, rounded up."""
    return -(-elements // each)


def aten(name, *arguments, **options):
    """PyTorch's operator of this name, writing into `out`. PyTorch loads at the first call."""

    def call(x, out):
        import torch

        getattr(torch.ops.aten, name).out(x, *arguments, **options, out=out)

    return call


lift(relu, relu_body, aten("clamp_min", 0))
lift(leaky_relu, leaky_relu_body, aten("leaky_relu", 0.01))
lift(sigmoid, sigmoid_body, aten("sigmoid"))
lift(tanh, tanh_body, aten("tanh"))
lift(gelu, gelu_body, aten("gelu", approximate="tanh"))
