"""Turn a tile in shared memory, with no two lanes of a warp waiting for the same bank."""

import numpy as np

from gpulessons import operation
from gpulessons.backends import gpu as on  # noqa: F401
from gpulessons.diagnosis import Trouble
from gpulessons.ops.transpose import transpose

COLUMNS = 40  # whole sectors, but no whole tiles


def matrix(size, rng):
    rows = 32 + 8 * (size // (8 * COLUMNS))
    return (rng.standard_normal((rows, COLUMNS), np.float32),)


op = operation.op(inputs=matrix, flops=transpose.flops, sizes=(1_000,), rtol=0)(transpose.function)

stub = """\
from numba import float32

WIDTH = 32  # Your turn: lanes 0 … 31 read a column of the tile. Which banks does it lie in?

@cuda.jit
def my_tile_kernel(x, out):
    tile = cuda.shared.array((32, WIDTH), float32)
    lane, column, row = cuda.threadIdx.x, 32 * cuda.blockIdx.x, 32 * cuda.blockIdx.y
    for step in range(cuda.threadIdx.y, 32, 8):
        if row + step < x.shape[0] and column + lane < x.shape[1]:
            tile[step, lane] = x[row + step, column + lane]
    cuda.syncthreads()
    for step in range(cuda.threadIdx.y, 32, 8):
        if column + step < x.shape[1] and row + lane < x.shape[0]:
            out[column + step, row + lane] = tile[lane, step]

def my_transpose(x):
    out = cuda.device_array((x.shape[1], x.shape[0]), x.dtype)
    grid = (x.shape[1] + 31) // 32, (x.shape[0] + 31) // 32
    my_tile_kernel[grid, (32, 8)](x, out)
    return out
"""

ASKED = "  # Your turn: lanes 0 … 31 read a column of the tile. Which banks does it lie in?"
solution = stub.replace("WIDTH = 32" + ASKED, "WIDTH = 33")

wrong = [
    ("WIDTH = 33", "WIDTH = 32", "32-way"),
    ("WIDTH = 33", "WIDTH = 34", "2-way"),
    ("    cuda.syncthreads()\n", "", "A race"),
    ("= tile[lane, step]", "= x[row + lane, column + step]", "sectors"),
    ("tile[step, lane] =", "tile[lane, step] =", "Wrong at size"),
    ("if column + step < x.shape[1] and row + lane < x.shape[0]:",
     "if column + step < x.shape[1]:", "outside"),
]  # fmt: skip


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
            "the width of the tile: what is the bank of tile[lane, step]?",
        )
