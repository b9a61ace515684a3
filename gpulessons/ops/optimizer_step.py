"""One optimizer step: a little arithmetic on every parameter, and a lot of memory.

    momentum:  v ← 0.9 v + g;   w ← w − lr v                                  Polyak 1964
    adam:      m ← β1 m + (1−β1) g;   v ← β2 v + (1−β2) g²                    Kingma & Ba 2015
               w ← w − lr (m / (1−β1^t)) / (sqrt(v / (1−β2^t)) + ε)

Every parameter, its gradient and its moments are read, and all but the gradient written back: 20
bytes a parameter for momentum, 28 for Adam in one pass, and a multiple of that in several.
"""

import math

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host
from gpulessons.operation import op

from .common import PARALLEL, SERIAL, SIZES, THREADS, ceil_div

RATE, MU, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.9, 0.999, 1e-8
RATE32, MU32, B1, B2, EPSILON32 = map(np.float32, (RATE, MU, BETA1, BETA2, EPSILON))
REST1, REST2 = np.float32(1 - BETA1), np.float32(1 - BETA2)


def one_moment(size, rng):
    """w, g, v: (size,) float32 each."""
    return tuple(rng.standard_normal(size, np.float32) for _ in range(3))


def two_moments(size, rng):
    """w, g, m, v: (size,) float32 each, v not negative; t: which step this is, from 1."""
    w, g, m = one_moment(size, rng)
    return w, g, m, rng.random(size, np.float32), 10


@op(inputs=one_moment, flops=lambda w, g, v: 4 * w.size, sizes=SIZES)
def momentum_step(w, g, v):
    """SGD with momentum. w, g, v: (n,); returns the new w and v."""
    v = MU * v + g
    return w - RATE * v, v


@op(inputs=two_moments, flops=lambda w, g, m, v, t: 14 * w.size, sizes=SIZES,
    alike=lambda w, g, m, v, t: (w, m, v))  # fmt: skip
def adam_step(w, g, m, v, t):
    """Adam's step t. w, g, m, v: (n,); returns the new w, m and v."""
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * v + (1 - BETA2) * g * g
    scale1, scale2 = 1 / (1 - BETA1**t), 1 / (1 - BETA2**t)
    return w - RATE * (m * scale1) / (np.sqrt(v * scale2) + EPSILON), m, v


def corrections(t):
    """1/(1−β1^t) and 1/(1−β2^t): they are the same for every parameter."""
    return np.float32(1 / (1 - BETA1**t)), np.float32(1 / (1 - BETA2**t))


# -- One parameter. Written once, for CPU and GPU.


def momentum_body(w, g, v):
    v = MU32 * v + g
    return w - RATE32 * v, v


def adam_body(w, g, m, v, scale1, scale2):
    m = B1 * m + REST1 * g
    v = B2 * v + REST2 * g * g
    return w - RATE32 * (m * scale1) / (math.sqrt(v * scale2) + EPSILON32), m, v


momentum_cpu, adam_cpu = njit(**SERIAL)(momentum_body), njit(**SERIAL)(adam_body)
momentum_gpu, adam_gpu = (cuda.jit(device=True)(body) for body in (momentum_body, adam_body))


@njit(**PARALLEL)
def momentum_loop(w, g, v, new_w, new_v):
    for i in prange(w.size):
        new_w[i], new_v[i] = momentum_cpu(w[i], g[i], v[i])


@njit(**PARALLEL)
def adam_loop(w, g, m, v, scale1, scale2, new_w, new_m, new_v):
    for i in prange(w.size):
        new_w[i], new_m[i], new_v[i] = adam_cpu(w[i], g[i], m[i], v[i], scale1, scale2)


@momentum_step.version("Numba, fused", on=host)
def momentum_fused(w, g, v, out):
    momentum_loop(w, g, v, *out)


@adam_step.version("Numba, fused", on=host)
def adam_fused(w, g, m, v, t, out):
    adam_loop(w, g, m, v, *corrections(t), *out)


# -- On the GPU.


@cuda.jit
def adam_kernel(w, g, m, v, scale1, scale2, new_w, new_m, new_v):
    i = cuda.grid(1)
    if i < w.size:
        new_w[i], new_m[i], new_v[i] = adam_gpu(w[i], g[i], m[i], v[i], scale1, scale2)


@adam_step.version("CUDA, fused", on=gpu)
def launch_fused(w, g, m, v, t, out):
    adam_kernel[ceil_div(w.size, THREADS), THREADS](w, g, m, v, *corrections(t), *out)


@cuda.jit
def momentum_kernel(w, g, v, new_w, new_v):
    i = cuda.grid(1)
    if i < w.size:
        new_w[i], new_v[i] = momentum_gpu(w[i], g[i], v[i])


@momentum_step.version("CUDA, fused", on=gpu)
def launch_momentum(w, g, v, out):
    momentum_kernel[ceil_div(w.size, THREADS), THREADS](w, g, v, *out)
