"""im2col, number by number: which pixel goes to which row of which column?"""

import numpy as np

from gpulessons.backends import host
from gpulessons.grader.check import Exercise
from gpulessons.operation import op
from gpulessons.ops.im2col import im2col

text = '''\
def my_im2col(x, k):
    """x (channels, height, width): its k × k patches as columns (channels · k · k, positions)."""
    channels, height, width = x.shape
    rows, columns = height - k + 1, width - k + 1
    out = np.full((channels * k * k, rows * columns), np.nan, x.dtype)
    for c, ky, kx in np.ndindex(channels, k, k):
        for i, j in np.ndindex(rows, columns):
            ### BEGIN SOLUTION
            out[(c * k + ky) * k + kx, i * columns + j] = x[c, i + ky, j + kx]
            ### STUB
            out[0, 0] = x[0, 0, 0]  # Your turn: which row, which column, which pixel?
            ### END SOLUTION
    return out
'''


def small_picture(size, rng):
    """x: (2, size + 2, size + 5), every number different; k: 3, or 2 where the size is even."""
    shape = 2, size + 2, size + 5
    return rng.permutation(np.prod(shape)).reshape(shape).astype(np.float32), 3 - (size + 1) % 2


@op(inputs=small_picture, flops=lambda x, k: 0, sizes=(7,), rtol=0, unit="pixels a side",
    edge_cases=(7, 4, 1))  # fmt: skip
def patches(x, k):
    """The k × k patches of x as columns."""
    return im2col(x[None], (k, k))[0]


def ordered(*axes):
    """The same, its axes (c, ky, kx, i, j) in another order: the first three are out's rows."""

    def patches_of(x, k):
        windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), (1, 2))  # (c, i, j, ky, kx)
        return windows.transpose(0, 3, 4, 1, 2).transpose(axes).reshape(patches(x, k).shape)

    return patches_of


ROW = "a row of out is (c, ky, kx), in this order, the last one running fastest."
COLUMN = "a column of out is (i, j), in this order, the last one running fastest."
mistakes = (
    ("ky and kx are exchanged, in the pixel or in the row.", ROW, ordered(0, 2, 1, 3, 4)),
    ("channels run fastest among the rows; they are slowest.", ROW, ordered(1, 2, 0, 3, 4)),
    ("positions run down the columns first: j should run fastest.", COLUMN,
     ordered(0, 1, 2, 4, 3)),
)  # fmt: skip

hints = (
    "A column of out is a position (i, j), a row is (c, ky, kx): each a number written in "
    "digits, the last one running fastest.",
    "out[(c * k + ky) * k + kx, i * columns + j] = x[c, i + ky, j + kx]",
)

exercise = Exercise(
    __name__, text, on=host, op=patches, forbidden=(im2col,), mistakes=mistakes, hints=hints
)
