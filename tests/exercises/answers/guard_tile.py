"""Answers to `guard_tile`: its solution with one edit each."""

from gpulessons.exercises import guard_tile

solution, stub = guard_tile.solution, guard_tile.stub

wrong = [
    (solution, stub, "outside"),
    (" if i < x.shape[0] and start + tx < x.shape[1] else", " if i < x.shape[0] else", "outside"),
    ("    if i < out.shape[0] and j < out.shape[1]:\n        out", "    out", "outside"),
    ("    zero = total", "    if i >= out.shape[0] or j >= out.shape[1]:\n        return\n"
     "    zero = total", "NaN at element"),  # who left fetches nothing for the others
    ("        cuda.syncthreads()\n        for k",
     "        if j < out.shape[1]:\n            cuda.syncthreads()\n        for k",
     "a barrier is reached by"),
    ("range(0, x.shape[1], 16)", "range(0, x.shape[1] // 16 * 16, 16)",
     "the last tiles are left out"),
    ("y[start + ty, j] if start + ty < y.shape[0] and j < y.shape[1] else zero",
     "y[min(start + ty, y.shape[0] - 1), min(j, y.shape[1] - 1)]\n"
     "        xs[ty, tx] = x[min(i, x.shape[0] - 1), min(start + tx, x.shape[1] - 1)]",
     "what lies behind the end is taken"),
    ("cuda.jit", "cuda.jit(device=True)", "is a device function"),
    ("@cuda.jit\n", "", "not a kernel"),
    ("x, y, out):", "x, y, z, out):", "takes 4 arguments, not 3"),
    ("            total += xs[ty, k] * ys[k, tx]",
     "            k += 0\n        total += xs[ty, k] * ys[k, tx]", "the last product of each tile"),
]  # fmt: skip

right = [
    ("range(16)", "range(min(16, x.shape[1] - start))"),
    ("x[i, start + tx] if i < x.shape[0] and start + tx < x.shape[1] else zero",
     "0\n        if i < out.shape[0] and start + tx < y.shape[0]:\n"
     "            xs[ty, tx] = x[i, start + tx]"),
]  # fmt: skip
