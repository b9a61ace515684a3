"""im2col, number by number: which pixel goes to which row of which column?"""

import numpy as np

from gpulessons.backends import host
from gpulessons.grader.check import Exercise
from gpulessons.operation import op
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

solution = stub.replace(
    "out[0, 0] = x[0, 0, 0]  # Your turn: which row, which column, which pixel?",
    "out[(c * k + ky) * k + kx, i * columns + j] = x[c, i + ky, j + kx]",
)


def small_picture(size, rng):
    """x: (2, size + 2, size + 5), every number different; k: 3, or 2 where the size is even."""
    shape = 2, size + 2, size + 5
    return rng.permutation(np.prod(shape)).reshape(shape).astype(np.float32), 3 - (size + 1) % 2


@op(inputs=small_picture, flops=lambda x, k: 0, sizes=(7,), rtol=0, unit="pixels a side",
    awkward=(7, 4, 1))  # fmt: skip
def patches(x, k):
    """The k × k patches of x as columns."""
    return im2col(x[None], (k, k))[0]


hints = (
    "A column of out is a position (i, j), a row is (c, ky, kx): each a number written in "
    "digits, the last one running fastest.",
    "",
    "out[(c * k + ky) * k + kx, i * columns + j] = x[c, i + ky, j + kx]",
)

exercise = Exercise(__name__, stub, solution, on=host, op=patches, forbidden=(im2col,), hints=hints)
