"""One optimizer step: a little arithmetic on every parameter, and a lot of memory.

    adam:      m ← β1 m + (1−β1) g;   v ← β2 v + (1−β2) g²                    Kingma & Ba 2015
               w ← w − lr (m / (1−β1^t)) / (sqrt(v / (1−β2^t)) + ε)

Every parameter, its gradient and its moments are read, and all but the gradient written back: 28
bytes a parameter in one pass, and a multiple of that in several.
"""

import math

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host
from gpulessons.operation import op

from .common import PARALLEL, SERIAL, SIZES, THREADS, ceil_div

RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8
RATE32, B1, B2, EPSILON32 = map(np.float32, (RATE, BETA1, BETA2, EPSILON))
REST1, REST2 = np.float32(1 - BETA1), np.float32(1 - BETA2)


def two_moments(size, rng):
    """w, g, m, v: (size,) float32 each, v not negative; t: which step this is, from 1."""
    w, g, m = (rng.standard_normal(size, np.float32) for _ in range(3))
    return w, g, m, rng.random(size, np.float32), 10


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


def adam_body(w, g, m, v, scale1, scale2):
    m = B1 * m + REST1 * g
    v = B2 * v + REST2 * g * g
    return w - RATE32 * (m * scale1) / (math.sqrt(v * scale2) + EPSILON32), m, v


adam_cpu, adam_gpu = njit(**SERIAL)(adam_body), cuda.jit(device=True)(adam_body)


@njit(**PARALLEL)
def adam_loop(w, g, m, v, scale1, scale2, new_w, new_m, new_v):
    for i in prange(w.size):
        new_w[i], new_m[i], new_v[i] = adam_cpu(w[i], g[i], m[i], v[i], scale1, scale2)


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
