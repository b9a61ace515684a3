"""Two kinds of pixels, one branch: let every warp agree which way to go."""

import numpy as np

from gpulessons.backends import gpu
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble
from gpulessons.operation import op

stub = '''\
@cuda.jit
def my_lines(x, out):
    k, half = cuda.grid(1), x.size // 2
    i = k  # Your turn: right, but every warp goes both ways. Which i should thread k take?
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
    k, half = cuda.grid(1), x.size // 2
    if k < half:
        i = 2 * k
        out[i] = x[i] + x[i] - x[i] * x[i]
    else:
        i = 2 * (k - half) + 1
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
    """Right is not enough: at every step all 32 lanes of every warp must have something to do."""
    (launch,) = launches
    efficiency = launch.divergence().efficiency
    if efficiency < 0.99:
        raise Trouble(
            f"Right, but its lanes wait: warp efficiency {efficiency:.0%}, where 100% is possible.",
            "threads 0 to 31: do they all take the same side of the `if`?",
        )
    if launch.coalescing().sectors_per_request < 8:  # 32 pixels of one kind lie in 256 bytes
        raise Trouble(
            "Right, but a warp still takes even and odd pixels alike: either its lanes wait inside "
            "an expression, or each computes both kinds and throws one away.",
            "which pixels threads 0 to 31 take: all of one kind.",
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
    "A warp is 32 neighbors in k. If all of them take even places, which i belongs to k?",
    "if k < half:\n"
    "    i = 2 * k",
)

exercise = Exercise(
    __name__, stub, solution, on=gpu, op=scanlines, inspect=inspect, mistakes=mistakes, hints=hints
)
