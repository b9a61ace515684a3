"""Blur a picture: 256 neighbors fetch the pixels of their common patch once, not nine times."""

import numpy as np
from numba import cuda

from gpulessons.exercises.asking import a_kernel, few_loads, normal, problem
from gpulessons.grader.waste import check_sectors, check_shared


def blurred(x):
    """The mean of each 3 × 3 patch. x: (rows + 2, columns + 2); returns (rows, columns)."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    return windows.mean(axis=(2, 3), dtype=x.dtype)


text = '''\
@cuda.jit
def my_blur_kernel(x, out):
    patch = cuda.shared.array((10, 34), np.float32)  # 8 × 32 outputs, and a pixel all around
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    above, left = 8 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
    ### BEGIN SOLUTION
    for n in range(32 * i + j, 340, 256):
        patch[n // 34, n % 34] = x[above + n // 34, left + n % 34]
    cuda.syncthreads()
    ### STUB
    # Your turn: fetch the patch, 340 pixels with 256 threads, and wait for one another.
    ### END SOLUTION
    total = np.float32(0)
    for ky in range(3):
        for kx in range(3):
            ### BEGIN SOLUTION
            total += patch[i + ky, j + kx]
            ### STUB
            total += x[above + i + ky, left + j + kx]  # and read it here
            ### END SOLUTION
    out[above + i, left + j] = total / np.float32(9)
'''


def launcher(kernel):
    def my_blur(x):
        out = cuda.device_array((x.shape[0] - 2, x.shape[1] - 2), x.dtype)
        kernel[(out.shape[1] // 32, out.shape[0] // 8), (32, 8)](x, out)
        return out
    return my_blur



def inspect(launches):
    """Right is not enough: each pixel of a patch comes from global memory once."""
    few_loads(launches, 340 / 256, "who fetches what: 340 pixels, 256 threads, each pixel once.")
    check_shared(launches)
    # A warp's 32 pixels cross from one row of the patch to the next.
    check_sectors(launches, "which pixels threads 0, 1, 2 … fetch: neighbors.", "read", most=6)


mistakes = (
    ("every block blurs the patch of the first one.",
     "n // 34, n % 34] = x[above + n // 34, left + n % 34]",
     "n // 34, n % 34] = x[n // 34, n % 34]"),
    ("it is the sum of nine pixels, where their mean is expected.",
     "total / np.float32(9)", "total"),
)  # fmt: skip

hints = (
    "Count threads and pixels in one line: thread number n takes pixel n, then pixel n + 256, "
    "if there is one.",
    "for n in range(32 * i + j, 340, 256):\n"
    "    patch[n // 34, n % 34] = x[above + n // 34, left + n % 34]",
)

exercise = a_kernel(
    __name__, text, problem(normal(lambda n: [(8 * n + 2, 66)]), blurred, edge_cases=(2, 3)),
    "above and left, where a patch begins; then the mean of nine pixels.", mistakes, hints, inspect,
    launcher,
)
