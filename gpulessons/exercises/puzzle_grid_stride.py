"""Puzzle: 256 threads for any number of elements. Each takes the next one that nobody has."""

import numpy as np

from gpulessons.backends import gpu
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, refuse_idle, refuse_scattered
from gpulessons.operation import op

THREADS = 256


def two_arrays(size, rng):
    return tuple(rng.standard_normal((2, size), np.float32))


@op(inputs=two_arrays, flops=lambda x, y: x.size, sizes=(1_000,))
def plus(x, y):
    """x + y, element by element. (n,), (n,) to (n,)."""
    return x + y


stub = """\
@cuda.jit
def my_plus_kernel(x, y, out):
    first, all_threads = cuda.grid(1), cuda.gridsize(1)
    # Your turn: this thread adds x[first] and y[first], and then? Which i is its next?

def my_plus(x, y):
    out = cuda.device_array_like(x)
    my_plus_kernel[4, 64](x, y, out)  # 256 threads, whatever the size: leave that as it is
    return out
"""

solution = """\
@cuda.jit
def my_plus_kernel(x, y, out):
    first, all_threads = cuda.grid(1), cuda.gridsize(1)
    for i in range(first, x.size, all_threads):
        out[i] = x[i] + y[i]

def my_plus(x, y):
    out = cuda.device_array_like(x)
    my_plus_kernel[4, 64](x, y, out)  # 256 threads, whatever the size: leave that as it is
    return out
"""

hints = (
    "Threads 0 to 255 have taken the first 256 elements. Who takes element 256?",
    "grid_stride",
    "for i in range(first, x.size, all_threads):",
)


def inspect(launches):
    """Right is not enough: with 256 threads, whose warps still read 32 neighbors."""
    refuse_idle(launches)
    threads = sum(launch.threads for launch in launches)
    if threads != THREADS:
        raise Trouble(f"Right, but with {threads:,} threads, where {THREADS} are all you have.",
                      "the loop: the launch stays as it was.")  # fmt: skip
    refuse_scattered(launches, "which elements threads 0, 1, 2 … take at the same moment.")


def first_turn(x, y):
    """What a single turn leaves undone shows as never written, unless somebody clears it."""
    return np.where(np.arange(x.size) < THREADS, x + y, 0)


mistakes = (
    ("only the first 256 are done.", "a loop: after its first element each thread has others.",
     first_turn),
)  # fmt: skip

exercise = Exercise(
    __name__, stub, solution, on=gpu, op=plus, inspect=inspect, mistakes=mistakes, hints=hints
)
