"""Turn a tile in shared memory, with no two lanes of a warp waiting for the same bank."""

import numpy as np

from gpulessons import operation
from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.grader.diagnosis import Trouble
from gpulessons.ops.transpose import transpose


def whole_tiles(size, rng):
    """x: (32 k, 64) float32, not square."""
    return (rng.standard_normal((32 + 32 * (size // 500), 64), np.float32),)


op = operation.op(inputs=whole_tiles, flops=transpose.flops, sizes=(1_000,), rtol=0)(
    transpose.function
)

stub = """\
@cuda.jit
def my_tile_kernel(x, out):
    tile = cuda.shared.array((32, 32), np.float32)  # Your turn: a column of it lies in one bank.
    i, row = cuda.threadIdx.y, 32 * cuda.blockIdx.y
    j, column = cuda.threadIdx.x, 32 * cuda.blockIdx.x
    tile[i, j] = x[row + i, column + j]
    cuda.syncthreads()
    out[column + i, row + j] = tile[j, i]

def my_transpose(x):
    out = cuda.device_array((x.shape[1], x.shape[0]), x.dtype)
    my_tile_kernel[(x.shape[1] // 32, x.shape[0] // 32), (32, 32)](x, out)
    return out
"""

ASKED = "(32, 32), np.float32)  # Your turn: a column of it lies in one bank."
solution = stub.replace(ASKED, "(32, 33), np.float32)")

wrong = [
    ("(32, 33)", "(32, 32)", "32-way"),
    ("(32, 33)", "(32, 34)", "2-way"),
    ("    cuda.syncthreads()\n", "", "A race"),
    ("= tile[j, i]", "= x[row + j, column + i]", "sectors"),
    ("tile[i, j] =", "tile[j, i] =", "Wrong at size"),
    ("(x.shape[1] // 32, x.shape[0] // 32)", "(x.shape[0] // 32, x.shape[1] // 32)", "outside"),
]


def inspect(launches):
    """Right is not enough: requests of four sectors, and no bank asked twice by one request."""
    for launch in launches:
        sectors = launch.coalescing().sectors_per_request
        if sectors > 4:
            raise Trouble(
                f"Right, but each request touches {sectors:.0f} sectors, where 4 would do.",
                "the tile: it is what turns the rows into columns.",
            )
    worst = max(launch.banks().worst for launch in launches)
    if worst > 1:
        raise Trouble(
            f"Right, but a warp waits {worst} times for one bank: a {worst}-way conflict.",
            "the width of the tile: in which banks do tile[0, i], tile[1, i] … lie?",
        )
