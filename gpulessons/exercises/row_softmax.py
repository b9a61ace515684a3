"""A softmax whose threads share a row: 4 sectors a request instead of 32."""

import numpy as np

from gpulessons.exercises.asking import a_kernel, few_loads, problem
from gpulessons.grader.waste import check_sectors
from gpulessons.operation import Case
from gpulessons.ops.softmax import softmax


def scores(rows, rng, columns=40):
    """x: (rows, columns) float32: whole sectors, but no whole warp.

    In every other row the scores pass 88, where exp overflows; in some exp comes to nothing.
    """
    x = rng.standard_normal((rows, columns), np.float32)
    x[1::2] += 100
    x[2::4] -= 200
    return (x,)


EDGES = 32, 33, Case(5, columns=72), Case(2, columns=72)
rows = problem(scores, softmax.function, rtol=1e-5, edge_cases=EDGES)

text = '''\
import math

@cuda.jit
def my_softmax_kernel(x, out):
    ### BEGIN SOLUTION
    i, lane = cuda.blockIdx.x, cuda.threadIdx.x
    row_max, total = x[i, lane], np.float32(0)
    for j in range(lane, x.shape[1], 32):
        row_max = max(row_max, x[i, j])
    for step in (16, 8, 4, 2, 1):
        row_max = max(row_max, cuda.shfl_xor_sync(0xFFFFFFFF, row_max, step))
    for j in range(lane, x.shape[1], 32):
        total += math.exp(x[i, j] - row_max)
    for step in (16, 8, 4, 2, 1):
        total += cuda.shfl_xor_sync(0xFFFFFFFF, total, step)
    for j in range(lane, x.shape[1], 32):
        out[i, j] = math.exp(x[i, j] - row_max) / total
    ### STUB
    i = cuda.grid(1)  # Your turn: this row is one thread's. Make it a warp's.
    if i < x.shape[0]:
        row_max, total = x[i, 0], np.float32(0)
        for j in range(x.shape[1]):
            row_max = max(row_max, x[i, j])
        for j in range(x.shape[1]):
            total += math.exp(x[i, j] - row_max)
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - row_max) / total
    ### END SOLUTION

def my_softmax(x):
    out = cuda.device_array_like(x)
    ### BEGIN SOLUTION
    my_softmax_kernel[x.shape[0], 32](x, out)
    ### STUB
    my_softmax_kernel[(x.shape[0] + 31) // 32, 32](x, out)
    ### END SOLUTION
    return out
'''


def inspect(launches):
    """Right is not enough: four sectors hold 32 neighbors, and no lane walks the whole row."""
    check_sectors(launches, "which index changes from a thread to its neighbor.")
    few_loads(launches, 8, "whether every lane walks the whole row; they can tell each other.")


mistakes = (
    ("nothing is divided by the sum.", " / total", ""),
    ("each lane subtracts a maximum of its own.",
     "        row_max = max(row_max, cuda.shfl_xor_sync(0xFFFFFFFF, row_max, step))",
     "        pass"),
)  # fmt: skip

hints = (
    "Lane 0 walks columns 0, 32, 64 … . At the end each lane has a maximum of its own; "
    "cuda.shfl_xor_sync lets two lanes exchange theirs, and five exchanges reach all 32.",
    "for step in (16, 8, 4, 2, 1):\n"
    "    row_max = max(row_max, cuda.shfl_xor_sync(0xFFFFFFFF, row_max, step))",
)

exercise = a_kernel(
    __name__, text, rows, "what the lanes tell each other, and what each element is divided by.",
    mistakes, hints, inspect,
)
