"""im2col, number by number: which pixel goes to which row of which column?"""

import numpy as np

from gpulessons import operation
from gpulessons.backends import host as on  # noqa: F401
from gpulessons.ops.im2col import im2col

stub = '''\
def my_im2col(x, k):
    """x (channels, height, width): its k × k patches as columns (channels · k · k, positions)."""
    channels, height, width = x.shape
    rows, columns = height - k + 1, width - k + 1
    out = np.full((channels * k * k, rows * columns), np.nan, x.dtype)
    for c, ky, kx in np.ndindex(channels, k, k):
        for i, j in np.ndindex(rows, columns):
            out[0, 0] = x[0, 0, 0]  # Your turn: which row, which column, which pixel?
    return out
'''

SOLVED = "out[(c * k + ky) * k + kx, i * columns + j] = x[c, i + ky, j + kx]"
solution = stub.replace(
    "out[0, 0] = x[0, 0, 0]  # Your turn: which row, which column, which pixel?", SOLVED
)

wrong = [
    ("i * columns + j", "i * width + j", "out of bounds"),
    ("i * columns + j", "i * rows + j", "NaN"),
    ("(c * k + ky) * k + kx", "(c * k + kx) * k + ky", "in the wrong order"),
    ("(c * k + ky) * k + kx", "c * k + ky * k + kx", "NaN"),
    ("i + ky, j + kx", "i, j", "Wrong at size"),
    ("i + ky, j + kx", "j + ky, i + kx", "axis 1"),
    ("x[c, i + ky, j + kx]", "x[c, i + k, j + k]", "axis 2"),
    ("x[c, i", "x[0, i", "630 of 1260 elements"),
    ("(c * k + ky) * k + kx", "(c * 3 + ky) * 3 + kx", "out of bounds"),
    (", x.dtype)", ")", "float64, where float32 is due"),
    ("return out", "return out.T", "Wrong shape"),
    ("return out", "return out.tolist()", "a list, not an array"),
    ("return out", "x -= x.min() + 1\n    return out", "changed its input"),
    ("    return out", "            return out", "NaN at element 1"),
    (solution, "from gpulessons.ops.im2col import im2col\n\n"
     "def my_im2col(x, k):\n    return im2col(x[None], (k, k))[0]\n", "im2col is the course's own"),
]  # fmt: skip

WINDOWS = "np.lib.stride_tricks.sliding_window_view(x, (k, k), (1, 2))"
right = [
    (SOLVED, "out[c * k**2 + k * ky + kx, j + columns * i] = x[c, ky + i, kx + j]"),
    ("    for c", f"    out = {WINDOWS}.transpose(0, 3, 4, 1, 2)\n"
     "    return out.reshape(channels * k * k, -1)\n    for c"),
    (solution, """\
def my_im2col(x, k, out):
    for row, (c, ky, kx) in enumerate(np.ndindex(len(x), k, k)):
        right, low = x.shape[2] - k + 1 + kx, x.shape[1] - k + 1 + ky
        out[row] = x[c, ky:low, kx:right].ravel()
"""),
]  # fmt: skip


def small_picture(size, rng):
    """x: (2, size + 2, size + 5), every number different; k: 3, or 2 where the size is even."""
    shape = 2, size + 2, size + 5
    return rng.permutation(np.prod(shape)).reshape(shape).astype(np.float32), 3 - (size + 1) % 2


@operation.op(
    inputs=small_picture,
    flops=lambda x, k: 0,
    sizes=(7,),
    rtol=0,
    unit="pixels a side",
    awkward=(7, 4, 1),
)
def op(x, k):
    """The k × k patches of x as columns."""
    return im2col(x[None], (k, k))[0]
