"""Fetch a tile once and let 256 threads use it, with a barrier before and after."""

import numpy as np

from gpulessons.exercises.asking import a_kernel, problem
from gpulessons.grader.waste import check_loads
from gpulessons.ops.matmul import matmul


def whole_tiles(size, rng):
    """x: (m, m + 16), y: (m + 16, m + 32) float32, m a multiple of 16: no tile is cut."""
    m = 16 + 16 * (size // 32)
    shapes = (m, m + 16), (m + 16, m + 32)
    return tuple(rng.standard_normal(shape, np.float32) for shape in shapes)


product = problem(whole_tiles, rtol=matmul.rtol, edge_cases=(1, 40))(matmul.function)

text = '''\
@cuda.jit
def my_tile_kernel(x, y, out):
    xs = cuda.shared.array((16, 16), np.float32)
    ys = cuda.shared.array((16, 16), np.float32)
    tx, ty, (j, i) = cuda.threadIdx.x, cuda.threadIdx.y, cuda.grid(2)
    ### BEGIN SOLUTION
    total = np.float32(0)
    for start in range(0, x.shape[1], 16):
        xs[ty, tx] = x[i, start + tx]
        ys[ty, tx] = y[start + ty, j]
        cuda.syncthreads()
        for k in range(16):
            total += xs[ty, k] * ys[k, tx]
        cuda.syncthreads()
    ### STUB
    total, k = np.float32(0), 0
    # Your turn: a block fetches 16 × 16 of x and of y, all its threads use both, then the next.
    while k < x.shape[1]:
        total += x[i, k] * y[k, j]
        k += 1
    ### END SOLUTION
    out[i, j] = total

def my_product(x, y):
    out = cuda.device_array((x.shape[0], y.shape[1]), x.dtype)
    my_tile_kernel[(y.shape[1] // 16, x.shape[0] // 16), (16, 16)](x, y, out)
    return out
'''


def transposed_tiles(x):
    """Each 16 × 16 tile transposed at its place."""
    m, k = x.shape
    return x.reshape(m // 16, 16, k // 16, 16).transpose(0, 3, 2, 1).reshape(m, k)


FILLED = "how a tile is filled: [ty, tx], from row start + ty or column start + tx."
mistakes = (
    ("the tiles of x are transposed.", FILLED, lambda x, y: transposed_tiles(x) @ y),
    ("it takes the first tile of y again and again.", FILLED,
     lambda x, y: x @ np.tile(y[:16], (y.shape[0] // 16, 1))),
    ("only the last tiles are in it.", "where total becomes 0: once, before the loop over tiles.",
     lambda x, y: x[:, -16:] @ y[-16:]),
)  # fmt: skip

hints = (
    "256 threads, 256 numbers of x and 256 of y: one of each per thread. When may the first "
    "thread use them? When may the next tile overwrite them?",
    "for start in range(0, x.shape[1], 16):\n"
    "    xs[ty, tx] = x[i, start + tx]\n"
    "    ys[ty, tx] = y[start + ty, j]\n"
    "    cuda.syncthreads()",
)

exercise = a_kernel(__name__, text, product, mistakes, hints, check_loads)
