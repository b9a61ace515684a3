"""The matrix product's tiles: what a block fetches, and what one of its threads does.

For each multiply-add a tile of BM × BN results fetches 1/BM + 1/BN numbers from global memory, and
a thread with TM × TN of them 1/TM + 1/TN from shared memory: a number of x serves a row of the
tile, a number of y a column of it.
"""

from functools import partial

from .drawings import Drawing, drawing

# One instruction of the tensor cores: its two small matrices, its sums, one of them filled.
mma = partial(drawing, "mma")
five_by_five = partial(drawing, "five_by_five")  # how often a number is needed
RUNGS = {"shared tile": "tile_shared", "2-D register tile": "tile_2d"}


def tile(name: str) -> Drawing:
    """One of RUNGS: its tiles, what a thread reads and writes of them, its line, its fetches."""
    return drawing(RUNGS[name])
