"""Blur a picture: 256 neighbors fetch the pixels of their common patch once, not nine times."""

import numpy as np

from gpulessons import operation
from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.grader.diagnosis import Trouble, refuse_unshared


def bordered_picture(size, rng):
    """x: (8 k + 2, 66) float32: whole blocks of 8 × 32, and a border of one pixel around them."""
    return (rng.random((8 * (1 + size % 3) + 2, 66), np.float32),)


@operation.op(inputs=bordered_picture, flops=lambda x: 9 * x.size, sizes=(100,), awkward=(100, 31))
def op(x):
    """The mean of each 3 × 3 patch. x: (rows + 2, columns + 2); returns (rows, columns)."""
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3))
    return windows.mean(axis=(2, 3), dtype=x.dtype)


FETCH = """\
    for n in range(32 * i + j, 340, 256):
        patch[n // 34, n % 34] = x[above + n // 34, left + n % 34]
    cuda.syncthreads()
"""

solution = f"""\
@cuda.jit
def my_blur_kernel(x, out):
    patch = cuda.shared.array((10, 34), np.float32)  # 8 × 32 outputs, and a pixel all around
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    above, left = 8 * cuda.blockIdx.y, 32 * cuda.blockIdx.x
{FETCH}\
    total = np.float32(0)
    for ky in range(3):
        for kx in range(3):
            total += patch[i + ky, j + kx]
    out[above + i, left + j] = total / np.float32(9)

def my_blur(x):
    out = cuda.device_array((x.shape[0] - 2, x.shape[1] - 2), x.dtype)
    my_blur_kernel[(out.shape[1] // 32, out.shape[0] // 8), (32, 8)](x, out)
    return out
"""

stub = solution.replace(
    FETCH,
    "    # Your turn: fetch the patch, 340 pixels with 256 threads, and wait for one another.\n",
).replace("+= patch[i + ky, j + kx]", "+= x[above + i + ky, left + j + kx]  # and read it here")

IDLE = """\
@cuda.jit
def my_blur_kernel(out):
    pass

def my_blur(x):
    windows = np.lib.stride_tricks.sliding_window_view(x.copy_to_host(), (3, 3))
    out = cuda.to_device(windows.mean((2, 3)))
    my_blur_kernel[1, 32](out)
    return out
"""

wrong = [
    (solution, stub, "9 pixels"),
    ("    cuda.syncthreads()\n", "", "reads it"),
    ("range(32 * i + j, 340, 256)", "range(340)", "writes it at line 9"),
    ("+= patch[i + ky, j + kx]", "+= x[above + i + ky, left + j + kx]", "10.3 pixels"),
    ("range(32 * i + j, 340, 256)", "range(32 * i + j, 256, 256)", "NaN"),
    ("32 * i + j, 340", "8 * j + i, 340", "sectors"),
    ("patch[i + ky, j + kx]", "patch[i + kx, j + ky + 1]", "outside"),
    ("n // 34, n % 34] = x[above + n // 34, left + n % 34]",
     "n // 34, n % 34] = x[n // 34, n % 34]", "Wrong at size"),
    ("(10, 34)", "(8, 32)", "outside"),
    (solution, IDLE, "without shared memory"),
    (solution, stub.replace("// 8)", "// 8, 9)").replace("    patch", "    if cuda.blockIdx.z:\n"
     "        return\n    patch"), "9 pixels"),  # threads that do nothing do not make it cheaper
]  # fmt: skip

right = [
    (FETCH,
     "    for r in range(i, 10, 8):\n        for c in range(j, 34, 32):\n"
     "            patch[r, c] = x[above + r, left + c]\n    cuda.syncthreads()\n"),
    ("kernel(x, out):", "kernel(picture, out):\n    x = picture"),
    ("    return out", "    my_blur_kernel[1, (32, 8)](x, out)\n    return out"),
    ("total / np.float32(9)", "total * np.float32(1 / 9)"),
]  # fmt: skip


def inspect(launches):
    """Right is not enough: each pixel of a patch comes from global memory once."""
    reads, writes = (
        sum(launch.coalescing(access=access).total("accesses") for launch in launches)
        for access in ("read", "write")
    )
    loads = reads / max(1, writes)
    if loads > 340 / 256:
        raise Trouble(
            f"Right, but {loads:.3g} pixels are read from global memory for each output, where "
            f"{340 / 256:.2f} would do.",
            "who fetches what: 340 pixels, 256 threads, each pixel once.",
        )
    refuse_unshared(launches)
    sectors = max(launch.coalescing(access="read").sectors_per_request for launch in launches)
    if sectors > 6:  # a warp's 32 pixels cross from one row of the patch to the next
        raise Trouble(
            f"Right, but each request touches {sectors:.1f} sectors, where 6 would do.",
            "which pixels threads 0, 1, 2 … fetch: neighbors.",
        )
