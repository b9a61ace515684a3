"""A product whose neighbors read along rows: which index is threadIdx.x?"""

import numpy as np

from gpulessons import operation
from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.grader.diagnosis import refuse_idle, refuse_scattered
from gpulessons.ops.matmul import matmul


def whole_sectors(size, rng):
    """x: (size, k), y: (k, n) float32, n about twice the size; all rows are whole sectors."""
    k, n = 8 * (size // 16) + 8, 8 * (size // 4) + 8
    return tuple(rng.standard_normal(shape, np.float32) for shape in ((size, k), (k, n)))


op = operation.op(
    inputs=whole_sectors, flops=matmul.flops, sizes=(64,), rtol=matmul.rtol, awkward=matmul.awkward
)(matmul.function)

stub = """\
@cuda.jit
def my_product_kernel(x, y, out):
    i, j = cuda.grid(2)  # Your turn: neighbors take rows. Let them take columns.
    if i < out.shape[0] and j < out.shape[1]:
        total = np.float32(0)
        for k in range(x.shape[1]):
            total += x[i, k] * y[k, j]
        out[i, j] = total

def my_product(x, y):
    out = cuda.device_array((x.shape[0], y.shape[1]), x.dtype)
    grid = (x.shape[0] + 31) // 32, (y.shape[1] + 7) // 8
    my_product_kernel[grid, (32, 8)](x, y, out)
    return out
"""

solution = """\
@cuda.jit
def my_product_kernel(x, y, out):
    j, i = cuda.grid(2)
    if i < out.shape[0] and j < out.shape[1]:
        total = np.float32(0)
        for k in range(x.shape[1]):
            total += x[i, k] * y[k, j]
        out[i, j] = total

def my_product(x, y):
    out = cuda.device_array((x.shape[0], y.shape[1]), x.dtype)
    grid = (y.shape[1] + 31) // 32, (x.shape[0] + 7) // 8
    my_product_kernel[grid, (32, 8)](x, y, out)
    return out
"""

IDLE = """\
@cuda.jit
def my_product_kernel(out):
    pass

def my_product(x, y):
    out = cuda.to_device(np.matmul(x.copy_to_host(), y.copy_to_host()))
    my_product_kernel[1, 32](out)
    return out
"""

wrong = [
    (solution, stub, "sectors"),
    ("(y.shape[1] + 31) // 32, (x.shape[0] + 7) // 8",
     "(x.shape[0] + 31) // 32, (y.shape[1] + 7) // 8", "never written"),
    ("if i < out.shape[0] and j < out.shape[1]:", "if i < out.shape[0]:", "outside"),
    ("y[k, j]", "y[j, k]", "outside"),
    ("for k in range(x.shape[1])", "for k in range(1, x.shape[1])", "Wrong at size"),
    ("(32, 8)](", "(64, 32)](", "2,048 threads"),
    ("x.dtype)", "float)", "Wrong dtype"),
    ("total = np.float32(0)", "total = out[i, j]", "only added to"),
    (solution, IDLE, "no kernel"),
]  # fmt: skip

right = [
    (solution, "from gpulessons.ops.common import ceil_div\n" + solution.replace(
        "(y.shape[1] + 31) // 32, (x.shape[0] + 7) // 8",
        "ceil_div(y.shape[1], 32), ceil_div(x.shape[0], 8)")),
    ("(y.shape[1] + 31) // 32, (x.shape[0] + 7) // 8\n    my_product_kernel[grid, (32, 8)]",
     "y.shape[1] // 8, x.shape[0]\n    my_product_kernel[grid, (8, 1)]"),
]  # fmt: skip


def inspect(launches):
    """Right is not enough: four sectors hold 32 neighbors, and one the same number 32 times."""
    refuse_idle(launches)
    refuse_scattered(launches, "which of i and j changes from a thread to its neighbor.")
