"""Fetch a tile once and let 256 threads use it, with a barrier before and after."""

import numpy as np

from gpulessons import operation
from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.exercises.coalesce_product import IDLE
from gpulessons.grader.diagnosis import Trouble, refuse_unshared
from gpulessons.ops.matmul import matmul


def whole_tiles(size, rng):
    """x: (m, m + 16), y: (m + 16, m + 32) float32, m a multiple of 16: no tile is cut."""
    m = 16 + 16 * (size // 32)
    shapes = (m, m + 16), (m + 16, m + 32)
    return tuple(rng.standard_normal(shape, np.float32) for shape in shapes)


op = operation.op(
    inputs=whole_tiles, flops=matmul.flops, sizes=(64,), rtol=matmul.rtol, awkward=(1, 40)
)(matmul.function)

stub = """\
@cuda.jit
def my_tile_kernel(x, y, out):
    j, i = cuda.grid(2)
    total = np.float32(0)
    # Your turn: a block fetches 16 × 16 of x and of y, all its threads use both, then the next.
    for k in range(x.shape[1]):
        total += x[i, k] * y[k, j]
    out[i, j] = total

def my_product(x, y):
    out = cuda.device_array((x.shape[0], y.shape[1]), x.dtype)
    my_tile_kernel[(y.shape[1] // 16, x.shape[0] // 16), (16, 16)](x, y, out)
    return out
"""

solution = """\
@cuda.jit
def my_tile_kernel(x, y, out):
    xs = cuda.shared.array((16, 16), np.float32)
    ys = cuda.shared.array((16, 16), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    j, i = cuda.grid(2)
    total = np.float32(0)
    for start in range(0, x.shape[1], 16):
        xs[ty, tx] = x[i, start + tx]
        ys[ty, tx] = y[start + ty, j]
        cuda.syncthreads()
        for k in range(16):
            total += xs[ty, k] * ys[k, tx]
        cuda.syncthreads()
    out[i, j] = total

def my_product(x, y):
    out = cuda.device_array((x.shape[0], y.shape[1]), x.dtype)
    my_tile_kernel[(y.shape[1] // 16, x.shape[0] // 16), (16, 16)](x, y, out)
    return out
"""

wrong = [
    ("        cuda.syncthreads()\n        for k", "        for k", "A race"),
    ("        cuda.syncthreads()\n    out", "    out", "A race"),
    ("        cuda.syncthreads()\n        for k",
     "        if tx < 8:\n            cuda.syncthreads()\n        for k",
     "a barrier is reached by"),
    ("* ys[k, tx]", "* y[start + k, j]", "loads for each multiplication"),
    ("xs[ty, tx] = x[i, start + tx]", "xs[tx, ty] = x[i, start + tx]", "Wrong at size"),
    ("y[start + ty, j]", "y[ty, j]", "Wrong at size"),
    ("16", "32", "grid"),
    (solution, IDLE, "without shared memory"),
    ("    total = np.float32(0)\n", "    out[i, j] = total = np.float32(0)\n"
     "    for k in range(x.shape[1]):\n        out[i, j] += x[i, k] * y[k, j]\n"
     "    return\n", "loads for each multiplication"),
]  # fmt: skip

right = [
    ("((16, 16)", "((16, 17)"),
    ("total += xs[ty, k] * ys[k, tx]", "total = cuda.fma(xs[ty, k], ys[k, tx], total)"),
    (solution, solution.replace("((16, 16)", "((2, 16, 16)").replace("s[", "s[start // 16 % 2, ")
     .replace("        cuda.syncthreads()\n    out", "    out")),  # two tiles in turn: one barrier
]  # fmt: skip


def inspect(launches):
    """Right is not enough: a number fetched by one thread must serve others too."""
    reads = sum(launch.coalescing(access="read").total("accesses") for launch in launches)
    products = sum(launch.flops for launch in launches) / 2
    if products > 1 and reads > products / 2:  # a single one has nobody to share with
        raise Trouble(
            f"Right, but {reads / products:.3g} loads for each multiplication, where 1/8 would do.",
            "what the inner loop reads: two numbers in shared memory, the total in a register.",
        )
    refuse_unshared(launches)
