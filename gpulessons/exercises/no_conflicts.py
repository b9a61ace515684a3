"""Turn a tile in shared memory, with no two lanes of a warp waiting for the same bank."""

from gpulessons.exercises.asking import a_kernel, normal, problem
from gpulessons.grader.waste import check_conflicts, check_sectors
from gpulessons.ops.transpose import transpose

tile_transpose = problem(
    normal(lambda n: [(32 + 32 * (n // 500), 64)]), transpose.function, rtol=0
)

text = '''\
@cuda.jit
def my_tile_kernel(x, out):
    ### BEGIN SOLUTION
    tile = cuda.shared.array((32, 33), np.float32)
    ### STUB
    tile = cuda.shared.array((32, 32), np.float32)  # Your turn: a column is in one bank. Spread it.
    ### END SOLUTION
    i, row = cuda.threadIdx.y, 32 * cuda.blockIdx.y
    j, column = cuda.threadIdx.x, 32 * cuda.blockIdx.x
    tile[i, j] = x[row + i, column + j]
    cuda.syncthreads()
    out[column + i, row + j] = tile[j, i]

def my_transpose(x):
    out = cuda.device_array((x.shape[1], x.shape[0]), x.dtype)
    my_tile_kernel[(x.shape[1] // 32, x.shape[0] // 32), (32, 32)](x, out)
    return out
'''


def inspect(launches):
    """Right is not enough: requests of four sectors, and no bank asked twice by one request."""
    check_sectors(launches, "the tile: it is what turns the rows into columns.")
    hint = "the width of the tile: in which banks do tile[0, i], tile[1, i] … lie?"
    check_conflicts(launches, hint)


mistakes = (
    ("the tiles stand where they should, but none is turned inside.",
     "tile[i, j] =", "tile[j, i] ="),
)  # fmt: skip

hints = (
    "In which bank lies tile[i, j]? Word number 32 i + j, modulo 32. What if a row had one word"
    " more?",
    "tile = cuda.shared.array((32, 33), np.float32)",
)

exercise = a_kernel(
    __name__, text, tile_transpose,
    "tile[i, j] or tile[j, i]: one way when you fill it, the other when you read it.",
    mistakes, hints, inspect,
)
