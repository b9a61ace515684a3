"""The crux of a fast product: numbers wait in registers, and each serves four multiply-adds."""

import numpy as np
from numba import cuda, float32

from gpulessons.exercises.asking import a_kernel, normal, problem
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.ops.matmul import matmul


def whole_tiles(size):
    """x: (m, k), y: (k, n) float32, m and n multiples of 32, k of 8: no tile is cut."""
    m = 32 + 32 * (size // 64)
    return (m, 16), (16, m + 32)


product = problem(normal(whole_tiles), matmul.function, rtol=matmul.rtol, edge_cases=(1, 64))

text = '''\
@cuda.jit(device=True)
def my_step(xs, ys, k, i, j, totals):
    """For one k: rows i, i + 8, … of xs meet columns j, j + 8, … of ys, four by four."""
    ### BEGIN SOLUTION
    a = cuda.local.array(4, np.float32)
    b = cuda.local.array(4, np.float32)
    for r in range(4):
        a[r], b[r] = xs[i + 8 * r, k], ys[k, j + 8 * r]
    for r in range(4):
        for s in range(4):
            totals[r, s] += a[r] * b[s]
    ### STUB
    for r in range(4):
        for s in range(4):
            totals[r, s] += xs[i + 8 * r, k] * ys[k, j + 8 * s]  # Your turn: 32 loads. Make it 8.
    ### END SOLUTION
'''


def launcher(step):
    """A product whose 64 threads have 4 × 4 results each, and add to them by this step."""

    @cuda.jit
    def square(x, y, out):
        xs, ys = cuda.shared.array((32, 8), float32), cuda.shared.array((8, 32), float32)
        totals = cuda.local.array((4, 4), float32)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        top, left = 32 * cuda.blockIdx.y + ty, 32 * cuda.blockIdx.x + tx
        for n in range(16):
            totals[n // 4, n % 4] = 0
        for start in range(0, x.shape[1], 8):
            for n in range(0, 32, 8):
                xs[ty + n, tx] = x[top + n, start + tx]
                ys[ty, tx + n] = y[start + ty, left + n]
            cuda.syncthreads()
            for k in range(8):
                step(xs, ys, k, ty, tx, totals)
            cuda.syncthreads()
        for n in range(16):
            r, s = n // 4, n % 4
            out[top + 8 * r, left + 8 * s] = totals[r, s]

    square.py_func.__module__ = square.__module__ = step.__module__  # it is whose the step is

    def my_product(x, y):
        out = cuda.device_array((x.shape[0], y.shape[1]), np.float32)
        square[(y.shape[1] // 32, x.shape[0] // 32), (8, 8)](x, y, out)
        return out
    return my_product


def check_registers(launches):
    """Wasteful where a multiply-add asks shared memory for more than half a number."""
    loads = sum(launch.work().shared_reads * launch.threads for launch in launches)
    products = sum(launch.flops for launch in launches) / 2
    if loads > products / 2:
        raise Wasteful(f"{loads / products:.3g} loads from shared memory for each multiply-add, "
                       "where 1/2 would do.",
                       "what the inner loop reads: numbers in registers, which wait there.")


mistakes = (
    ("each row meets one column only.",
     "        for s in range(4):\n            totals[r, s] += a[r] * b[s]",
     "        totals[r, r] += a[r] * b[r]"),
    ("rows and columns of the totals are swapped.", "totals[r, s]", "totals[s, r]"),
    ("it keeps the last product only.", "totals[r, s] +=", "totals[r, s] ="),
)  # fmt: skip
HINT = "which number a[r] is, and which b[s]: row i + 8 r of xs, column j + 8 s of ys."

hints = (
    "Four numbers of xs and four of ys make sixteen products. Fetch the eight first.",
    "a = cuda.local.array(4, np.float32)",
)

exercise = a_kernel(__name__, text, product, HINT, mistakes, hints, check_registers, launcher, 16)
