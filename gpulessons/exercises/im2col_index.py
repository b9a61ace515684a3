"""im2col, number by number: which pixel goes to which row of which column?"""

import numpy as np

from gpulessons.backends import host
from gpulessons.exercises.asking import named, problem
from gpulessons.grader.check import Exercise
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


patches = problem(small_picture, lambda x, k: im2col(x[None], (k, k))[0],
                  rtol=0, edge_cases=(7, 4, 1))  # fmt: skip

HINT = "a row of out is (c, ky, kx), a column is (i, j), the last one running fastest."
mistakes = (
    ("ky and kx are exchanged, in the pixel or in the row.",
     "(c * k + ky) * k + kx", "(c * k + kx) * k + ky"),
    ("channels run fastest among the rows; they are slowest.",
     "(c * k + ky) * k + kx", "(ky * k + kx) * channels + c"),
    ("positions run down the columns first: j should run fastest.",
     "i * columns + j", "j * rows + i"),
)  # fmt: skip

hints = (
    "A column of out is a position (i, j), a row is (c, ky, kx): each a number written in "
    "digits, the last one running fastest.",
    "out[(c * k + ky) * k + kx, i * columns + j] = x[c, i + ky, j + kx]",
)

exercise = Exercise(__name__, text, on=host, op=patches, forbidden=(im2col,),
                    mistakes=named(text, HINT, mistakes), hints=hints)  # fmt: skip
