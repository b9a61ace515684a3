"""A softmax whose threads share a row: 4 sectors a request instead of 32."""

import numpy as np

from gpulessons import operation
from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.grader.diagnosis import Trouble, refuse_scattered
from gpulessons.ops.softmax import softmax


def scores(size, rng):
    """x: (rows, 40) float32, or 72 columns in a few rows: whole sectors, but no whole warp.

    In every other row the scores pass 88, where exp overflows; in some exp comes to nothing.
    """
    x = rng.standard_normal((size, 40 if size > 8 else 72), np.float32)
    x[1::2] += 100
    x[2::4] -= 200
    return (x,)


op = operation.op(inputs=scores, flops=softmax.flops, sizes=(64,), rtol=1e-5, awkward=(33, 5, 2))(
    softmax.function
)

stub = """\
import math

@cuda.jit
def my_softmax_kernel(x, out):
    i = cuda.grid(1)  # Your turn: this row is one thread's. Make it a warp's.
    if i < x.shape[0]:
        top, total = x[i, 0], np.float32(0)
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        for j in range(x.shape[1]):
            total += math.exp(x[i, j] - top)
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - top) / total

def my_softmax(x):
    out = cuda.device_array_like(x)
    my_softmax_kernel[(x.shape[0] + 31) // 32, 32](x, out)
    return out
"""

solution = """\
import math

@cuda.jit
def my_softmax_kernel(x, out):
    i, lane = cuda.blockIdx.x, cuda.threadIdx.x
    top, total = x[i, lane], np.float32(0)
    for j in range(lane, x.shape[1], 32):
        top = max(top, x[i, j])
    for step in (16, 8, 4, 2, 1):
        top = max(top, cuda.shfl_xor_sync(0xFFFFFFFF, top, step))
    for j in range(lane, x.shape[1], 32):
        total += math.exp(x[i, j] - top)
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
    for j in range(lane, x.shape[1], 32):
        out[i, j] = math.exp(x[i, j] - top) / total

def my_softmax(x):
    out = cuda.device_array_like(x)
    my_softmax_kernel[x.shape[0], 32](x, out)
    return out
"""

WALK = "    for j in range(lane, x.shape[1], 32):\n        "
SUM = solution[solution.index(WALK + "total") : solution.index(WALK + "out")]
wrong = [
    (solution, stub, "sectors"),
    ("        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)", "        pass",
     "Wrong at size 33: 1320 of 1320 elements"),
    ("    for j in range(lane, x.shape[1], 32):\n        out",
     "    for j in range(lane, 32, 32):\n        out", "264 of 1320 elements were never written"),
    ("[x.shape[0], 32]", "[1, 32]", "1280 of 1320 elements were never written"),
    ("[x.shape[0], 32]", "[x.shape[0] + 1, 32]", "outside"),
    ("exp(x[i, j] - top)", "exp(x[i, j])", "NaN"),
    ("x[i, lane], np.float32(0)", "np.float32(0), np.float32(0)", "NaN"),
    ("x.shape[1], 32", "40, 32", "At size 5"),
    ("(16, 8, 4, 2, 1)", "(16, 8, 4, 2)", "Wrong at size 33"),
    (SUM, SUM.partition("    for step")[0].replace("lane, x.shape[1], 32", "x.shape[1]"),
     "loads for each number"),
]  # fmt: skip
right = [
    ("x[i, lane], np.float32(0)", "-math.inf, 0.0"),
    ("i, lane = cuda.blockIdx.x, cuda.threadIdx.x", "i, lane = cuda.blockIdx.x, cuda.laneid"),
    ("(x):\n    out = cuda.device_array_like(x)", "(x, out):"),
]


def inspect(launches):
    """Right is not enough: four sectors hold 32 neighbors, and no lane walks the whole row."""
    refuse_scattered(launches, "which index changes from a thread to its neighbor.")
    reads = sum(site.accesses for site in launches[0].coalescing(access="read").sites)
    numbers = launches[0].launch.arguments[0].size
    if reads > 8 * numbers:
        raise Trouble(f"Right, but {reads / numbers:.0f} loads for each number: every lane walks "
                      "the whole row.", "what the lanes could tell each other.")  # fmt: skip
