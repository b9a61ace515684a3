"""A softmax whose threads share a row: 4 sectors a request instead of 32."""

import numpy as np

from gpulessons.backends import gpu
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, refuse_scattered
from gpulessons.operation import Case, op
from gpulessons.ops.softmax import softmax


def scores(rows, rng, columns=40):
    """x: (rows, columns) float32: whole sectors, but no whole warp.

    In every other row the scores pass 88, where exp overflows; in some exp comes to nothing.
    """
    x = rng.standard_normal((rows, columns), np.float32)
    x[1::2] += 100
    x[2::4] -= 200
    return (x,)


rows = op(
    inputs=scores, flops=softmax.flops, sizes=(64,), rtol=1e-5,
    edge_cases=(32, 33, Case(5, columns=72), Case(2, columns=72)),
)(softmax.function)  # fmt: skip

stub = """\
import math

@cuda.jit
def my_softmax_kernel(x, out):
    i = cuda.grid(1)  # Your turn: this row is one thread's. Make it a warp's.
    if i < x.shape[0]:
        row_max, total = x[i, 0], np.float32(0)
        for j in range(x.shape[1]):
            row_max = max(row_max, x[i, j])
        for j in range(x.shape[1]):
            total += math.exp(x[i, j] - row_max)
        for j in range(x.shape[1]):
            out[i, j] = math.exp(x[i, j] - row_max) / total

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

def my_softmax(x):
    out = cuda.device_array_like(x)
    my_softmax_kernel[x.shape[0], 32](x, out)
    return out
"""


def inspect(launches):
    """Right is not enough: four sectors hold 32 neighbors, and no lane walks the whole row."""
    refuse_scattered(launches, "which index changes from a thread to its neighbor.")
    reads = sum(site.accesses for site in launches[0].coalescing(access="read").sites)
    numbers = launches[0].launch.arguments[0].size
    if reads > 8 * numbers:
        raise Trouble(f"Right, but {reads / numbers:.0f} loads for each number: every lane walks "
                      "the whole row.", "what the lanes could tell each other.")  # fmt: skip


def of_each_lane(reduce, x):
    """What each element's lane finds on its own: reduce(elements 32 apart). x: (rows, columns)."""
    lanes = np.arange(x.shape[1]) % 32
    return np.stack([reduce(x[:, lanes == lane], axis=1) for lane in lanes], axis=1)


def unshared_maxima(x):
    exps = np.exp(x - of_each_lane(np.max, x))
    return exps / exps.sum(axis=1, keepdims=True)


def unshared_sums(x):
    exps = np.exp(x - x.max(axis=1, keepdims=True))
    return exps / of_each_lane(np.sum, exps)


def unshared_last_step(step):
    """What comes out where the lanes never exchange at this distance, neither maxima nor sums."""
    def softmax_of_groups(x):
        lanes = np.arange(x.shape[1]) % 32 & step
        groups = [np.where(lanes == lane, x, -np.inf) for lane in np.unique(lanes)]
        halves = [np.exp(group - group.max(axis=1, keepdims=True)) for group in groups]
        return sum(half / half.sum(axis=1, keepdims=True) for half in halves)

    return softmax_of_groups


mistakes = (
    *((f"lanes {step} apart never exchange what they found.", "the steps: 16, 8, 4, 2 and 1.",
       unshared_last_step(step)) for step in (1, 2, 4, 8, 16)),
    ("nothing is divided by the sum.", "what each element is divided by.",
     lambda x: np.exp(x - x.max(axis=1, keepdims=True))),
    ("each lane subtracts a maximum of its own.", "what lanes tell each other about row_max.",
     unshared_maxima),
    ("each lane divides by a sum of its own.", "what lanes tell each other about total.",
     unshared_sums),
)  # fmt: skip

hints = (
    "Lane 0 walks columns 0, 32, 64 … . At the end each lane has a maximum of its own; "
    "cuda.shfl_xor_sync lets two lanes exchange theirs, and five exchanges reach all 32.",
    "for step in (16, 8, 4, 2, 1):\n"
    "    row_max = max(row_max, cuda.shfl_xor_sync(0xFFFFFFFF, row_max, step))",
)

exercise = Exercise(
    __name__, stub, solution, on=gpu, op=rows, inspect=inspect, mistakes=mistakes, hints=hints
)
