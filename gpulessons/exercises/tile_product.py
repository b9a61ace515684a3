"""Fetch a tile once and let 256 threads use it, with a barrier before and after."""

from gpulessons.exercises.asking import a_kernel, normal, problem
from gpulessons.grader.waste import check_loads
from gpulessons.ops.matmul import matmul


def whole_tiles(size):
    """x: (m, m + 16), y: (m + 16, m + 32) float32, m a multiple of 16: no tile is cut."""
    m = 16 + 16 * (size // 32)
    return (m, m + 16), (m + 16, m + 32)


product = problem(
    normal(whole_tiles), matmul.function, rtol=matmul.rtol, edge_cases=(1, 40)
)

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

mistakes = (
    ("the tiles of x are transposed.",
     "xs[ty, tx] = x[i, start + tx]", "xs[tx, ty] = x[i, start + tx]"),
    ("it takes the first tile of y again and again.", "y[start + ty, j]", "y[ty, j]"),
    ("only the last tiles are in it.",
     "        xs[ty, tx] =", "        total = np.float32(0)\n        xs[ty, tx] ="),
)  # fmt: skip

hints = (
    "256 threads, 256 numbers of x and 256 of y: one of each per thread. When may the first "
    "thread use them? When may the next tile overwrite them?",
    "for start in range(0, x.shape[1], 16):\n"
    "    xs[ty, tx] = x[i, start + tx]\n"
    "    ys[ty, tx] = y[start + ty, j]\n"
    "    cuda.syncthreads()",
)

exercise = a_kernel(
    __name__, text, product,
    "how a tile is filled, from row start + ty or column start + tx; total is 0 once.",
    mistakes, hints, check_loads,
)
