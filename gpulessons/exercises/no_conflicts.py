"""Turn a tile in shared memory by a swizzle: no two lanes in one bank, and no spare column."""

from gpulessons.exercises.asking import a_kernel, normal, problem
from gpulessons.grader.diagnosis import Wasteful
from gpulessons.grader.waste import check_conflicts, check_sectors
from gpulessons.ops.transpose import transpose

tile_transpose = problem(
    normal(lambda n: [(32 + 32 * (n // 500), 64)]), transpose.function, rtol=0
)

text = '''\
@cuda.jit
def my_tile_kernel(x, out):
    tile = cuda.shared.array((32, 32), np.float32)
    i, row = cuda.threadIdx.y, 32 * cuda.blockIdx.y
    j, column = cuda.threadIdx.x, 32 * cuda.blockIdx.x
    ### BEGIN SOLUTION
    tile[i, j ^ i] = x[row + i, column + j]
    cuda.syncthreads()
    out[column + i, row + j] = tile[j, i ^ j]
    ### STUB
    tile[i, j] = x[row + i, column + j]
    cuda.syncthreads()
    out[column + i, row + j] = tile[j, i]  # Your turn: a column is in one bank. Swizzle it.
    ### END SOLUTION

def my_transpose(x):
    out = cuda.device_array((x.shape[1], x.shape[0]), x.dtype)
    my_tile_kernel[(x.shape[1] // 32, x.shape[0] // 32), (32, 32)](x, out)
    return out
'''


def inspect(launches):
    """Right is not enough: requests of four sectors, no bank asked twice, no spare column."""
    check_sectors(launches, "the tile: it is what turns the rows into columns.")
    hint = "in which banks a column's numbers lie: all different, if each row moves its own way."
    check_conflicts(launches, hint)
    for launch in launches:
        tiles = {site.array for site in launch.launch.log.sites if site.array.space == "shared"}
        if any(tile.shape[0] * tile.strides[0] > 1024 for tile in tiles):
            raise Wasteful("with a spare column.", "where a number may go within its own row.")


mistakes = (
    ("written at j ^ i, and read at i.", "tile[j, i ^ j]", "tile[j, i]"),
    ("the tiles stand where they should, but none is turned inside.",
     "tile[j, i ^ j]", "tile[i, j ^ i]"),
)  # fmt: skip

hints = (
    "Which columns j may row i use for its 32 numbers, so that row 0, 1, 2 … put the same j in "
    "different banks? Exclusive or, j ^ i, is one way; (i + j) % 32 another.",
    "tile[i, j ^ i] = x[row + i, column + j]",
)

exercise = a_kernel(
    __name__, text, tile_transpose,
    "both sides: column c of row r lies at c ^ r, when you fill the tile and when you read it.",
    mistakes, hints, inspect,
)
