"""Shade: what a graphics card does to every pixel, here the Mandelbrot set.

    shade(x, y) = iterations of z ← z² + c, from z = 0, until |z| > 2; c = x + iy; LIMIT at most

Every pixel is alone, as in an activation, but no two take equally long. Threads of one warp iterate
together: the warp is done when its slowest pixel is.
"""

from functools import cache

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host
from gpulessons.operation import op

from .common import THREADS, ZERO, ceil_div

LIMIT = 64
LANES = 16  # of float32: one register of AVX-512, two of AVX2
FOUR = np.float32(4)
PIXELS = (1_000, 30_000, 1_000_000)


def escape(x, y):
    """Iterations until escape, for arrays x and y of one shape; int32 of that shape."""
    c = x + 1j * y
    z, iterations = np.zeros_like(c), np.zeros(c.shape, np.int32)
    for _ in range(LIMIT):
        inside = z.real * z.real + z.imag * z.imag <= 4
        iterations += inside
        z = np.where(inside, z * z + c, z)
    return iterations


@cache
def steady_pixels():
    """(x, y) whose answer no rounding can change: at the rim of the set the last bit decides."""
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-2, 0.6, 20_000), rng.uniform(-1.2, 1.2, 20_000)
    iterations = escape(x, y)
    nudges = [(1e-3, 0), (-1e-3, 0), (0, 1e-3), (0, -1e-3)]
    steady = np.all([escape(x + dx, y + dy) == iterations for dx, dy in nudges], axis=0)
    return x[steady].astype(np.float32), y[steady].astype(np.float32)


def pixels(size, rng):
    """x, y: (size,) float32, in no order."""
    x, y = steady_pixels()
    chosen = rng.integers(0, x.size, size)
    return x[chosen], y[chosen]


def operations(x, y):
    return 10 * int(escape(x, y).sum())  # ten an iteration, as many as these very pixels take


@op(inputs=pixels, flops=operations, sizes=PIXELS, rtol=0)
def shade(x, y):
    """Iterations until escape, for every pixel. x, y: (n,); returns (n,) int32."""
    return escape(x, y)


def one_pixel(x, y):
    """The body: real arithmetic only, as a pixel shader has it."""
    a, b, iterations = ZERO, ZERO, 0  # not 0 * x: an int would make them float64
    while iterations < LIMIT and a * a + b * b <= FOUR:
        a, b = a * a - b * b + x, (a + a) * b + y
        iterations += 1
    return iterations


cpu_pixel = njit(one_pixel)
gpu_pixel = cuda.jit(device=True)(one_pixel)


def shade_loop(x, y, out):
    for i in prange(x.size):
        out[i] = cpu_pixel(x[i], y[i])


shade.version("Numba, one core", on=host)(njit(shade_loop))
shade.version("Numba, every core", on=host)(njit(shade_loop, parallel=True))


@shade.version("Numba, sixteen in step", on=host)
@njit
def in_step(x, y, out):
    """One core, sixteen pixels in the lanes of its vectors: on until the slowest is done."""
    a, b = np.empty(LANES, np.float32), np.empty(LANES, np.float32)
    for first in range(0, x.size, LANES):
        here = slice(first, first + LANES)
        left, up, iterations = x[here], y[here], out[here]
        a[:] = b[:] = ZERO
        iterations[:] = 0
        steps, inside = 0, 1
        while steps < LIMIT and inside:
            steps, inside = steps + 1, 0
            for i in range(iterations.size):  # one that has left goes on, and is not counted
                stays = a[i] * a[i] + b[i] * b[i] <= FOUR
                a[i], b[i] = a[i] * a[i] - b[i] * b[i] + left[i], (a[i] + a[i]) * b[i] + up[i]
                iterations[i] += stays
                inside += stays


@cuda.jit
def shade_kernel(x, y, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = gpu_pixel(x[i], y[i])


@shade.version("CUDA, a thread per pixel", on=gpu)
def launch(x, y, out):
    shade_kernel[ceil_div(x.size, THREADS), THREADS](x, y, out)
