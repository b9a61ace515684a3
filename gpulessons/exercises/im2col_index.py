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
    edge_cases=(7, 4, 1))  # fmt: skip
def patches(x, k):
    """The k × k patches of x as columns."""
    return im2col(x[None], (k, k))[0]


def filled(row="(c * k + ky) * k + kx", column="i * columns + j", pixel="c, i + ky, j + kx"):
    """im2col with other indices. All of them are written down as a learner would."""
    code = compile(f"(({row}), ({column})), ({pixel})", "an index", "eval")

    def patches_of(x, k):
        channels, height, width = x.shape
        rows, columns = height - k + 1, width - k + 1
        out = np.full((channels * k * k, rows * columns), np.nan)
        for c, ky, kx, i, j in np.ndindex(channels, k, k, rows, columns):
            known = {"c": c, "ky": ky, "kx": kx, "i": i, "j": j, "k": k, "rows": rows,
                     "columns": columns, "channels": channels}  # fmt: skip
            where, which = eval(code, known)
            if where[0] < out.shape[0] and where[1] < out.shape[1]:
                out[where] = x[which]
        return out

    return patches_of


ROW = "a row of out is (c, ky, kx), in this order, the last one running fastest."
COLUMN = "a column of out is (i, j), in this order, the last one running fastest."
PIXEL = "the pixel: position (i, j) and, from there, (ky, kx)."
mistakes = (
    ("every row is the same pixel of its patch: the first.", PIXEL, filled(pixel="c, i, j")),
    ("ky and kx are exchanged, in the pixel or in the row.", PIXEL,
     filled(pixel="c, i + kx, j + ky")),
    ("channels run fastest among the rows; they are slowest.", ROW,
     filled("(ky * k + kx) * channels + c")),
    ("positions run down the columns first: j should run fastest.", COLUMN,
     filled(column="j * rows + i")),
    ("the pixel is on the other side of the position.", PIXEL,
     filled(pixel="c, i + k - 1 - ky, j + k - 1 - kx")),
)  # fmt: skip

hints = (
    "A column of out is a position (i, j), a row is (c, ky, kx): each a number written in "
    "digits, the last one running fastest.",
    "out[(c * k + ky) * k + kx, i * columns + j] = x[c, i + ky, j + kx]",
)

exercise = Exercise(
    __name__, stub, solution, on=host, op=patches, forbidden=(im2col,), mistakes=mistakes,
    hints=hints,
)  # fmt: skip
