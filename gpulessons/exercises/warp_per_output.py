"""One example through a layer: let a warp read each row of weights, its lanes side by side."""

import numpy as np

from gpulessons import operation
from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.diagnosis import Trouble

INPUTS = 88  # whole sectors, but no whole warps


def one_example(outputs, rng):
    """x: (88,), w: (outputs, 88), float32."""
    w = rng.standard_normal((outputs, INPUTS), np.float32) / np.float32(INPUTS**0.5)
    return rng.standard_normal(INPUTS, np.float32), w


@operation.op(inputs=one_example, flops=lambda x, w: 2 * w.size, sizes=(512,), rtol=1e-5,
              unit="outputs", awkward=(40, 33, 9))  # fmt: skip
def op(x, w):
    """w x: (outputs, inputs) times (inputs,)."""
    return w @ x


stub = """\
from gpulessons.ops.reduce import warp_sum  # adds up the 32 numbers of a warp, for its lane 0

@cuda.jit
def my_rows(x, w, out):
    row = cuda.grid(1)  # Your turn: 32 lanes read 32 rows here. Let them share one.
    if row < w.shape[0]:
        total = np.float32(0)
        for k in range(w.shape[1]):
            total += w[row, k] * x[k]
        out[row] = total

def my_product(x, w):
    out = cuda.device_array(w.shape[0], w.dtype)
    my_rows[(w.shape[0] + 255) // 256, 256](x, w, out)
    return out
"""

solution = """\
from gpulessons.ops.reduce import warp_sum  # adds up the 32 numbers of a warp, for its lane 0

@cuda.jit
def my_rows(x, w, out):
    row, lane = cuda.grid(1) // 32, cuda.threadIdx.x % 32
    if row < w.shape[0]:
        total = np.float32(0)
        for k in range(lane, w.shape[1], 32):
            total += w[row, k] * x[k]
        total = warp_sum(total)
        if lane == 0:
            out[row] = total

def my_product(x, w):
    out = cuda.device_array(w.shape[0], w.dtype)
    my_rows[(w.shape[0] + 7) // 8, 256](x, w, out)
    return out
"""

wrong = [
    (solution, stub, "sectors"),
    ("        total = warp_sum(total)\n", "", "Wrong at size"),
    ("        if lane == 0:\n            out[row] = total", "        out[row] = total", "A race"),
    ("    if row < w.shape[0]:\n", "    if row <= w.shape[0]:\n", "outside"),
    ("(w.shape[0] + 7) // 8", "max(1, w.shape[0] // 8)", "never written"),
    ("range(lane, w.shape[1], 32)", "range(w.shape[1])", "Wrong at size"),
    ("range(lane, w.shape[1], 32)", "range(3 * lane, min(3 * lane + 3, w.shape[1]))", "sectors"),
]


def inspect(launches):
    """Right is not enough: a request for weights moves no more than the four sectors it fills."""
    for launch in launches:
        weights = launch.coalescing("w")
        if weights.sectors_per_request > 4:
            raise Trouble(
                f"Right, but each request for weights touches {weights.sectors_per_request:.0f} "
                "sectors, where 4 would do.",
                "which k each lane of a warp reads in the same turn.",
            )
