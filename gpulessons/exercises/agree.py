"""Two kinds of pixels, one branch: let no lane wait, and fetch no pixel's sector twice."""

import numpy as np

from gpulessons.backends import gpu
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble
from gpulessons.operation import op
from warplens.model.sampling import footprints

stub = '''\
@cuda.jit
def my_lines(x, out):
    t, i = cuda.threadIdx.x, cuda.grid(1)
    # Your turn: right, but every warp goes both ways. Two warps share the 64 pixels of a block.
    if i % 2 == 0:
        out[i] = x[i] + x[i] - x[i] * x[i]
    else:
        out[i] = x[i] * x[i]

def my_scanlines(x):
    out = cuda.device_array_like(x)
    my_lines[x.size // 64, 64](x, out)  # 64 divides the size: no guard needed
    return out
'''

solution = '''\
@cuda.jit
def my_lines(x, out):
    t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x
    if t < 32:
        i = first + 2 * t
        out[i] = x[i] + x[i] - x[i] * x[i]
    else:
        i = first + 2 * (t - 32) + 1
        out[i] = x[i] * x[i]

def my_scanlines(x):
    out = cuda.device_array_like(x)
    my_lines[x.size // 64, 64](x, out)  # 64 divides the size: no guard needed
    return out
'''


def strip(size, rng):
    """64 · size gray pixels in 0 … 1."""
    return (rng.random(64 * size, np.float32),)


@op(inputs=strip, flops=lambda x: 2 * x.size, sizes=(1_000, 10_000), edge_cases=(31, 7, 1))
def scanlines(x):
    """2x − x² at even places, which brightens; x² at odd ones, which darkens. (n,) to (n,)."""
    out = x + x - x * x
    out[1::2] = x[1::2] * x[1::2]
    return out


def inspect(launches):
    """Right is not enough: no lane may wait, and no sector may be wanted by two blocks."""
    (launch,) = launches
    efficiency = launch.divergence().efficiency
    if efficiency < 0.99:
        raise Trouble(
            f"Right, but its lanes wait: warp efficiency {efficiency:.0%}, where 100% is possible.",
            "threads 0 to 31: do they all take the same side of the `if`?",
        )
    touched = footprints(launch.launch)
    moved, wanted = launch.blocks * sum(f.sectors for f in touched), sum(f.whole for f in touched)
    if moved > 1.1 * wanted:
        raise Trouble(
            f"Right, and every warp agrees, but its blocks move {moved / wanted:.2g} times the "
            "sectors that hold the pixels. For so few operations that is dearer than a lane that "
            "waits: by the course's model a GPU would take longer than for the stub.",
            "which block takes the odd pixels between a block's even ones. They share sectors.",
        )


def kinds(even, odd):
    """What comes of two ways with a pixel, at even places and at odd ones."""
    return lambda x: np.where(np.arange(x.size) % 2, odd(x), even(x))


def brighter(x):
    return 2 * x - x * x


WHICH = "the two ways, and which places go which way."
mistakes = (
    ("odd places are brightened, and even ones darkened.", WHICH, kinds(np.square, brighter)),
    ("all places are brightened.", WHICH, kinds(brighter, brighter)),
    ("all places are darkened.", WHICH, kinds(np.square, np.square)),
    ("even places lack their x².", "2x − x².", kinds(lambda x: 2 * x, np.square)),
    ("odd places are copied.", WHICH, kinds(brighter, lambda x: x)),
    ("even places are copied.", WHICH, kinds(lambda x: x, np.square)),
    ("the first half is brightened: it is even places, all over the line.", WHICH,
     lambda x: np.where(np.arange(x.size) < x.size // 2, brighter(x), x * x)),
)  # fmt: skip

hints = (
    "A block has 64 neighboring pixels and two warps, t below 32 and above. If the first takes the "
    "even ones, which i belongs to t? Or let a thread take a pair, or choose without an `if`.",
    "t, first = cuda.threadIdx.x, 64 * cuda.blockIdx.x\n"
    "if t < 32:\n"
    "    i = first + 2 * t",
)

exercise = Exercise(
    __name__, stub, solution, on=gpu, op=scanlines, inspect=inspect, mistakes=mistakes, hints=hints
)
