"""A block's tile of outputs, the patch that it needs, and the halo that its neighbors fetch too.

A filter of k × k reaches k − 1 pixels beyond a tile, so a block that makes rows × columns outputs
fetches (rows + k − 1) × (columns + k − 1) pixels. Where the patches of neighbors overlap, a pixel
is fetched twice; where four of them meet, four times.
"""

from itertools import product

from gpulessons.ops.conv2d import BLOCK_ROWS as ROWS
from gpulessons.ops.conv2d import LANES
from gpulessons.plots.forms import key, rectangle
from gpulessons.plots.picture import BLUE, INK, ORANGE, SKY, VERMILLION, Picture, blank

TIMES = {1: (SKY, "once"), 2: (ORANGE, "twice"), 4: (VERMILLION, "four times")}


def fetched(width: int) -> int:
    """Pixels that a block fetches for one channel, for a filter of width × width."""
    return (ROWS + width - 1) * (LANES + width - 1)


def for_each(width: int) -> float:
    """The same, for each output."""
    return fetched(width) / (ROWS * LANES)


def halo(width: int) -> Picture:
    """Four neighboring blocks of the kernel: their tiles of outputs, and what each pixel is
    fetched by, under a filter of width × width pixels. Stride 1, without padding."""
    rows, columns = ROWS + width - 1, LANES + width - 1
    title = (
        f"A filter of {width} × {width}: a block fetches {rows} × {columns} pixels for {ROWS} × "
        f"{LANES} outputs, {for_each(width):.3g} for each. A thread alone fetches {width * width}."
    )
    figure, axes = blank(width=7.2, height=4.6, title=title)
    shared, looks = 0, {}
    stretches = product(runs(ROWS, width), runs(LANES, width))
    for (top, tall, down), (left, wide, across) in stretches:
        color, how_often = TIMES[down * across]
        shared += tall * wide * (down * across > 1)
        look = {"alpha": 0.45, "linewidth": 0}
        rectangle(axes, left, top, wide, tall, facecolor=color, **look)
        if tall * wide:
            looks[f"fetched {how_often}"] = {"color": color, "alpha": 0.45}
    reach = (width - 1) // 2  # a filter lies around its output
    for row, column in product(range(2), range(2)):
        rectangle(axes, column * LANES + reach, row * ROWS + reach, LANES, ROWS, linestyle="--")
    rectangle(axes, 0, 0, columns, rows, edgecolor=BLUE, linewidth=2.5)
    rectangle(axes, LANES - 1, ROWS - 1, width, width, linewidth=1.5)
    key(figure, looks)
    axes.set_title(f"dashed: the outputs of a block, {ROWS} × {LANES}; blue: all that it fetches;"
                   "\nsquare: the filter, at its last output", color=INK, fontsize=10, loc="left")
    axes.set(xlim=(-1, 2 * LANES + 9), ylim=(2 * ROWS + 9, -1), aspect="equal")
    axes.set_axis_off()
    shared /= (2 * ROWS + width - 1) * (2 * LANES + width - 1)
    return Picture(figure, f"{title} Of the pixels under four blocks {shared:.0%} are fetched "
                   "more than once.")


def runs(length: int, width: int) -> list[tuple[int, int, int]]:
    """(start, length, by how many of two blocks fetched) along one axis."""
    return [(0, length, 1), (length, width - 1, 2), (length + width - 1, length, 1)]
