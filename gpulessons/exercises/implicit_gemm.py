"""Implicit GEMM: a product whose second matrix is nowhere, but for the index of each number."""

import numpy as np
from numba import cuda

from gpulessons.exercises.asking import a_kernel, few_loads, problem
from gpulessons.grader.waste import check_shared


def rows_within_tiles(size, rng):
    """x (2, channels, 10, columns + 2), w (16, channels · 9): no row of places is a whole tile."""
    x = rng.standard_normal((2, 16, 10, 10 + 2 * size), np.float32)
    return x, rng.standard_normal((16, 144), np.float32) / np.float32(12)


def convolved(x, w):
    """(pictures, filters, rows, columns): 3 × 3, a stride of 1, and x has its border already."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))
    return np.einsum("bcijyx,fcyx->bfij", windows, w.reshape(len(w), -1, 3, 3), optimize=True)


text = '''\
@cuda.jit
def my_product_kernel(x, w, out):
    ws, xs = cuda.shared.array((16, 16), np.float32), cuda.shared.array((16, 16), np.float32)
    tx, ty, b, (n, f) = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.z, cuda.grid(2)
    i, j, total = n // out.shape[3], n % out.shape[3], np.float32(0)
    for k in range(ty, w.shape[1], 16):  # of 16 rows, this thread fetches from row k
        ws[ty, tx] = w[f, k - ty + tx]
        ### BEGIN SOLUTION
        xs[ty, tx] = x[b, k // 9, i + k // 3 % 3, j + k % 3]
        ### STUB
        xs[ty, tx] = x[b, 0, i, j]  # Your turn: it should be columns[k, n]. Which pixel is that?
        ### END SOLUTION
        cuda.syncthreads()
        for s in range(16):
            total += ws[ty, s] * xs[s, tx]
        cuda.syncthreads()
    out[b, f, i, j] = total
'''


def launcher(kernel):
    def my_convolution(x, w):
        out = cuda.device_array((len(x), len(w), x.shape[2] - 2, x.shape[3] - 2), x.dtype)
        kernel[(out.shape[2] * out.shape[3] // 16, len(w) // 16, len(x)), (16, 16)](x, w, out)
        return out
    return my_convolution


HINT = "k = 9 · channel + 3 · ky + kx: divide, and see what remains."


def inspect(launches):
    """Right is not enough: two numbers fetched by each thread for each of its 16 products."""
    few_loads(launches, 2 * 144 / 16, "the loop over s: both its factors wait in shared memory.")
    check_shared(launches)


mistakes = (
    ("ky and kx are exchanged.", "i + k // 3 % 3, j + k % 3", "i + k % 3, j + k // 3 % 3"),
    ("channels run fastest along k; they are slowest.",
     "x[b, k // 9, i + k // 3 % 3, j + k % 3]", "x[b, k % 16, i + k // 48, j + k // 16 % 3]"),
    ("every channel's weights meet the pixels of the first.", "x[b, k // 9, i", "x[b, 0, i"),
)  # fmt: skip

hints = (
    "Row k of the columns is weight k of a filter. Its channel has nine weights, its row has "
    "three: two divisions say which one it is, and the place (i, j) is where the filter lies.",
    "xs[ty, tx] = x[b, k // 9,",
)

exercise = a_kernel(
    __name__, text, problem(rows_within_tiles, convolved, rtol=1e-5, edge_cases=(9, 1)),
    HINT, mistakes, hints, inspect, launcher,
)
