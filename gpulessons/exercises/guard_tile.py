"""A tiled product that is right at n = 16 and fails at n = 17: it needs three guards."""

import numpy as np
from numba import cuda

from gpulessons import operation
from gpulessons.backends import gpu
from gpulessons.exercises.tile_product import inspect as tiled
from gpulessons.grader.check import check_op, is_cuda
from gpulessons.grader.diagnosis import Trouble
from gpulessons.ops.matmul import matmul


def squares_and_one_rectangle(size, rng):
    """x (m, k), y (k, n) float32: squares up to 17, then m, k and n all different."""
    m, k, n = (size,) * 3 if size <= 17 else (size, size // 2 + 3, size - 9)
    return tuple(rng.standard_normal(shape, np.float32) for shape in ((m, k), (k, n)))


op = operation.op(
    inputs=squares_and_one_rectangle, flops=matmul.flops, sizes=(64,), rtol=matmul.rtol,
    awkward=(16, 17, 40, 1),
)(matmul.function)  # fmt: skip

stub = """\
@cuda.jit
def my_guarded_kernel(x, y, out):
    xs = cuda.shared.array((16, 16), np.float32)
    ys = cuda.shared.array((16, 16), np.float32)
    tx, ty, (j, i) = cuda.threadIdx.x, cuda.threadIdx.y, cuda.grid(2)
    total = np.float32(0)
    for start in range(0, x.shape[1], 16):
        xs[ty, tx] = x[i, start + tx]  # Your turn: does this element exist, for every thread?
        ys[ty, tx] = y[start + ty, j]
        cuda.syncthreads()
        for k in range(16):
            total += xs[ty, k] * ys[k, tx]
        cuda.syncthreads()
    out[i, j] = total
"""

solution = """\
@cuda.jit
def my_guarded_kernel(x, y, out):
    xs = cuda.shared.array((16, 16), np.float32)
    ys = cuda.shared.array((16, 16), np.float32)
    tx, ty, (j, i) = cuda.threadIdx.x, cuda.threadIdx.y, cuda.grid(2)
    zero = total = np.float32(0)
    for start in range(0, x.shape[1], 16):
        xs[ty, tx] = x[i, start + tx] if i < x.shape[0] and start + tx < x.shape[1] else zero
        ys[ty, tx] = y[start + ty, j] if start + ty < y.shape[0] and j < y.shape[1] else zero
        cuda.syncthreads()
        for k in range(16):
            total += xs[ty, k] * ys[k, tx]
        cuda.syncthreads()
    if i < out.shape[0] and j < out.shape[1]:
        out[i, j] = total
"""

wrong = [
    (solution, stub, "outside"),
    (" if i < x.shape[0] and start + tx < x.shape[1] else", " if i < x.shape[0] else", "outside"),
    ("    if i < out.shape[0] and j < out.shape[1]:\n        out", "    out", "outside"),
    ("    zero = total", "    if i >= out.shape[0] or j >= out.shape[1]:\n        return\n"
     "    zero = total", "NaN at element"),  # who left fetches nothing for the others
    ("        cuda.syncthreads()\n        for k",
     "        if j < out.shape[1]:\n            cuda.syncthreads()\n        for k",
     "a barrier is reached by"),
    ("range(0, x.shape[1], 16)", "range(0, x.shape[1] // 16 * 16, 16)", "Wrong at size 17"),
    ("y[start + ty, j] if start + ty < y.shape[0] and j < y.shape[1] else zero",
     "y[min(start + ty, y.shape[0] - 1), min(j, y.shape[1] - 1)]\n"
     "        xs[ty, tx] = x[min(i, x.shape[0] - 1), min(start + tx, x.shape[1] - 1)]",
     "Wrong at size 17"),
    ("cuda.jit", "cuda.jit(device=True)", "is a device function"),
    ("@cuda.jit\n", "", "not a kernel"),
    ("x, y, out):", "x, y, z, out):", "takes 4 arguments, not 3"),
]  # fmt: skip

right = [
    ("range(16)", "range(min(16, x.shape[1] - start))"),
    ("x[i, start + tx] if i < x.shape[0] and start + tx < x.shape[1] else zero",
     "0\n        if i < out.shape[0] and start + tx < y.shape[0]:\n"
     "            xs[ty, tx] = x[i, start + tx]"),
]  # fmt: skip


def judge(kernel):
    """The launcher is given: as many blocks as cover the result, the last ones only partly."""
    if not is_cuda(kernel):
        raise Trouble("This is not a kernel.", "its first line: @cuda.jit makes one.")

    def product(x, y):
        out = cuda.device_array((x.shape[0], y.shape[1]), x.dtype)
        kernel[((y.shape[1] + 15) // 16, (x.shape[0] + 15) // 16), (16, 16)](x, y, out)
        return out

    return check_op(op, product, gpu, tiled)
