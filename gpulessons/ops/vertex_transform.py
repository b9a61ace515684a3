"""Vertex transform: what a graphics card does to every corner of every triangle.

    vertex_transform(points, matrix)[i] = matrix · points[i]

A point is (x, y, z, 1); a 4 × 4 matrix turns, moves and projects it. The same small product for
each of many points is a product of a tall matrix and a small one: a network's layer, under another
name.
"""

import numpy as np
from numba import cuda

from gpulessons.backends import gpu
from gpulessons.operation import op

from .common import THREADS, ceil_div


def cloud(size, rng):
    """points: (size, 4) float32, the last coordinate 1; matrix: (4, 4) float32."""
    points = rng.standard_normal((size, 4), np.float32)
    points[:, 3] = 1
    return points, rng.standard_normal((4, 4), np.float32) / 2


@op(inputs=cloud, sizes=(1_000, 100_000, 3_000_000),
    flops=lambda points, matrix: 28 * len(points),  # sixteen products and twelve sums
)  # fmt: skip
def vertex_transform(points, matrix):
    """matrix · point for every point. points: (n, 4), matrix: (4, 4); returns (n, 4)."""
    return points @ matrix.T


@cuda.jit
def vertex_kernel(points, matrix, out):
    """A thread per point: its four coordinates lie 16 bytes from its neighbor's."""
    i = cuda.grid(1)
    if i < points.shape[0]:
        x, y, z, w = points[i, 0], points[i, 1], points[i, 2], points[i, 3]
        for row in range(4):
            a, b, c, d = matrix[row, 0], matrix[row, 1], matrix[row, 2], matrix[row, 3]
            out[i, row] = a * x + b * y + c * z + d * w


@vertex_transform.version("CUDA, a thread per point", on=gpu)
def launch_points(points, matrix, out):
    vertex_kernel[ceil_div(points.shape[0], THREADS), THREADS](points, matrix, out)
