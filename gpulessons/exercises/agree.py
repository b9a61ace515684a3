"""Two kinds of pixels, one branch: let every warp agree which way to go."""

import numpy as np

from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.grader.diagnosis import Trouble
from gpulessons.operation import op as make_op

stub = '''\
@cuda.jit
def my_lines(x, out):
    i = cuda.grid(1)
    # Your turn: right as it is, but every warp goes both ways. Which thread should take which i?
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

wrong = [
    ("if k < half:", "if k % 2 == 0:", "outside"),
    ("2 * (k - half) + 1", "2 * (k - half)", "A race"),
    ("x.size // 64, 64", "x.size // 64, 32", "never written"),
    ("k < half", "k >= half", "outside"),
    ("        out[i] = x[i] * x[i]", "        out[i] = x[i]", "Wrong at size"),
    ("k, half = cuda.grid(1), x.size // 2",
     "i, half = cuda.grid(1), x.size // 2\n    k = i // 2 + i % 2 * half", "lanes wait"),
    ("    if k < half:\n        i = 2 * k\n        out[i] = x[i] + x[i] - x[i] * x[i]\n"
     "    else:\n        i = 2 * (k - half) + 1\n        out[i] = x[i] * x[i]\n",
     "    out[k] = x[k] * x[k] if k % 2 else x[k] + x[k] - x[k] * x[k]\n",
     "even and odd pixels alike"),
    ("x.size // 64, 64](x, out)", "x.size // 64, 64](x, x)", "changed its input"),
]  # fmt: skip


def strip(size, rng):
    """64 · size gray pixels in 0 … 1."""
    return (rng.random(64 * size, np.float32),)


@make_op(inputs=strip, flops=lambda x: 2 * x.size, sizes=(1_000, 10_000))
def op(x):
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
            "Right, but a warp still takes even and odd pixels alike: what the `if` did is now "
            "done inside an expression, where lanes wait unseen.",
            "which pixels threads 0 to 31 take: all of one kind.",
        )
