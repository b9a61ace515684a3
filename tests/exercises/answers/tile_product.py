"""Answers to `tile_product`: its solution with one edit each."""

from answers.coalesce_product import IDLE
from gpulessons.exercises import tile_product

solution = tile_product.solution

wrong = [
    ("        cuda.syncthreads()\n        for k", "        for k", "A race"),
    ("        cuda.syncthreads()\n    out", "    out", "A race"),
    ("        cuda.syncthreads()\n        for k",
     "        if tx < 8:\n            cuda.syncthreads()\n        for k",
     "a barrier is reached by"),
    ("* ys[k, tx]", "* y[start + k, j]", "loads for each multiplication"),
    ("xs[ty, tx] = x[i, start + tx]", "xs[tx, ty] = x[i, start + tx]",
     "the tiles of x are transposed"),
    ("ys[k, tx]", "ys[tx, k]", "the tiles of y are transposed"),
    ("x[i, start + tx]", "x[i, tx]", "the first tile of x again"),
    ("y[start + ty, j]", "y[ty, j]", "the first tile of y again"),
    ("        xs[ty, tx] =", "        total = np.float32(0)\n        xs[ty, tx] =",
     "only the last tiles"),
    ("16", "32", "grid"),
    (solution, IDLE, "no kernel computed it"),
    ("    total = np.float32(0)\n", "    out[i, j] = total = np.float32(0)\n"
     "    for k in range(x.shape[1]):\n        out[i, j] += x[i, k] * y[k, j]\n"
     "    return\n", "loads for each multiplication"),
    ("            total += xs[ty, k] * ys[k, tx]",
     "            k += 0\n        total += xs[ty, k] * ys[k, tx]", "the last product of each tile"),
]  # fmt: skip

right = [
    ("((16, 16)", "((16, 17)"),
    ("total += xs[ty, k] * ys[k, tx]", "total = cuda.fma(xs[ty, k], ys[k, tx], total)"),
    (solution, solution.replace("((16, 16)", "((2, 16, 16)").replace("s[", "s[start // 16 % 2, ")
     .replace("        cuda.syncthreads()\n    out", "    out")),  # two tiles in turn: one barrier
    (solution, solution.replace("ys[ty, tx]", "ys[tx, ty]").replace("ys[k, tx]", "ys[tx, k]"),
     "bank conflicts, up to 8-way"),
]  # fmt: skip
