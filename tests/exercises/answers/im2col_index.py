"""Answers to `im2col_index`: its solution with one edit each."""

from gpulessons.exercises import im2col_index

solution = im2col_index.solution

wrong = [
    ("i * columns + j", "i * width + j", "out of bounds"),
    ("i * columns + j", "i * rows + j", "NaN"),
    ("(c * k + ky) * k + kx", "(c * k + kx) * k + ky", "ky and kx are exchanged"),
    ("(c * k + ky) * k + kx", "c * k + ky * k + kx", "NaN"),
    ("i + ky, j + kx", "i, j", "every row is the same pixel"),
    ("i + ky, j + kx", "i + kx, j + ky", "ky and kx are exchanged"),
    ("i * columns + j", "j * rows + i", "down the columns first"),
    ("(c * k + ky) * k + kx", "(ky * k + kx) * channels + c", "channels run fastest"),
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

SOLVED = "out[(c * k + ky) * k + kx, i * columns + j] = x[c, i + ky, j + kx]"
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
