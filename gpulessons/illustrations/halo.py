"""A block's tile of outputs, the patch that it needs, and the halo that its neighbors fetch too.

A filter of k × k reaches k − 1 pixels beyond a tile, so a block that makes rows × columns outputs
fetches (rows + k − 1) × (columns + k − 1) pixels. Where the patches of neighbors overlap, a pixel
is fetched twice; where four of them meet, four times.
"""

from itertools import pairwise, product

import numpy as np

from gpulessons.ops.conv2d import BLOCK_ROWS as ROWS
from gpulessons.ops.conv2d import LANES
from gpulessons.plots.picture import BLUE, INK, ORANGE, SKY, VERMILLION, Picture, blank

BLOCKS = 2, 2  # blocks drawn, down and across
TIMES = {1: (SKY, "once"), 2: (ORANGE, "twice"), 4: (VERMILLION, "four times")}


def fetched(width: int) -> int:
    """Pixels that a block fetches for one channel, for a filter of width × width."""
    return (ROWS + width - 1) * (LANES + width - 1)


def for_each(width: int) -> float:
    """The same, for each output."""
    return fetched(width) / (ROWS * LANES)


def fetches(length: int, blocks: int, width: int) -> np.ndarray:
    """How many of the blocks along one axis fetch each pixel: (blocks · length + width − 1,)."""
    times = np.zeros(blocks * length + width - 1, int)
    for block in range(blocks):
        times[block * length : (block + 1) * length + width - 1] += 1
    return times


def halo(width: int) -> Picture:
    """Four neighboring blocks of the kernel: their tiles of outputs, and what each pixel is
    fetched by, under a filter of width × width pixels. Stride 1, without padding."""
    rows, columns = ROWS + width - 1, LANES + width - 1
    title = (
        f"A filter of {width} × {width}: a block fetches {rows} × {columns} pixels for {ROWS} × "
        f"{LANES} outputs, {for_each(width):.3g} for each. A thread alone fetches {width * width}."
    )
    figure, axes = blank(width=7.2, height=4.6, title=title)
    down, across = fetches(ROWS, BLOCKS[0], width), fetches(LANES, BLOCKS[1], width)
    for (top, bottom), (left, right) in product(runs(down), runs(across)):
        times = int(down[top] * across[left])
        fill(axes, (top, left), (bottom - top, right - left), facecolor=TIMES[times][0], alpha=0.45)
    reach = (width - 1) // 2  # a filter lies around its output
    for row, column in product(*map(range, BLOCKS)):
        corner = row * ROWS + reach, column * LANES + reach
        fill(axes, corner, (ROWS, LANES), facecolor="none", edgecolor=INK, linestyle="--")
    fill(axes, (0, 0), (rows, columns), facecolor="none", edgecolor=BLUE, linewidth=2.5)
    fill(
        axes, (ROWS - 1, LANES - 1), (width, width), facecolor="none", edgecolor=INK, linewidth=1.5
    )
    key(axes, [1] if width == 1 else list(TIMES))
    axes.set(xlim=(-1, BLOCKS[1] * LANES + 9), ylim=(BLOCKS[0] * ROWS + 22, -1), aspect="equal")
    axes.set_axis_off()
    shared = 1 - (down == 1).sum() * (across == 1).sum() / (len(down) * len(across))
    return Picture(figure, f"{title} Of the pixels under four blocks {shared:.0%} are fetched "
                   "more than once.")  # fmt: skip


def runs(values: np.ndarray) -> list[tuple[int, int]]:
    """(start, stop) of each stretch of equal values."""
    edges = np.flatnonzero(np.diff(values)) + 1
    return list(pairwise([0, *map(int, edges), len(values)]))


def fill(axes, corner, shape, **look):
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle(corner[::-1], shape[1], shape[0], **look))


def key(axes, drawn):
    """Below the blocks, what the colors and the lines are."""
    words, below = {"color": INK, "size": 10, "va": "center"}, BLOCKS[0] * ROWS + 11
    for place, times in enumerate(drawn):
        color, how_often = TIMES[times]
        fill(axes, (below, 18 * place), (2.5, 2.5), facecolor=color, alpha=0.45)
        axes.text(18 * place + 3.2, below + 1.25, f"fetched {how_often}", **words)
    axes.text(0, below + 5, f"dashed: the outputs of a block, {ROWS} × {LANES}", **words)
    axes.text(0, below + 8.5, "blue: all that it fetches; square: the filter, at its last output",
              **words)  # fmt: skip
