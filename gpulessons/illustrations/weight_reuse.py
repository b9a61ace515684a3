"""A weight is fetched once and used by every example of the batch: what a batch is good for.

    y = x wᵀ        2 · outputs · inputs · batch operations
    bytes that move  4 · (outputs · inputs + batch · (inputs + outputs)), each number once

So a batch of b has nearly b / 2 operations for each byte, as long as the weights are most of it.
"""

import math

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes
from gpulessons.plots.boxes import arrow
from gpulessons.plots.forms import rectangle, write
from gpulessons.plots.picture import BLUE, INK, ORANGE, SKY, Picture, blank

WIDTH = 4096  # inputs, and outputs, of the layer whose operations are counted
BATCHES = tuple(2**power for power in range(9))
INPUTS, OUTPUTS, ROWS = 4, 3, 8  # of the layer that is drawn, and of the examples at most
CHOSEN = 1, 2  # the output and the input whose weight is followed


def flops_per_byte(batch: int, size: int = 4) -> float:
    """Operations for each byte of a layer of WIDTH × WIDTH, whose numbers have `size` bytes."""
    return 2 * WIDTH * batch / (size * (WIDTH + 2 * batch))


def batch_for(corner: float, size: int = 4) -> int | None:
    """The smallest batch with so many operations for each byte; None where there is none."""
    left = 2 * (WIDTH - size * corner)  # 2 w b = corner · size · (w + 2 b), solved for b
    return math.ceil(corner * size * WIDTH / left - 1e-9) if left > 0 else None


def weight_reuse(batch: int) -> Picture:
    """One weight and the numbers it meets, beside the operations for each byte of such a batch."""
    examples = "one example" if batch == 1 else f"{batch:,} examples"
    title = (f"Each weight, fetched once, serves {examples}: {flops_per_byte(batch):.2g} FLOPs "
             "for each byte.")
    figure, (left, right) = blank(
        width=7.6, height=3.9, title=title, ncols=2, width_ratios=(1.25, 1)
    )
    draw_product(left, batch)
    log_axes(right, x=("examples in the batch", units.count), y=("FLOPs per byte", "{:g}".format),
             ticks=BATCHES[::2])
    along = [flops_per_byte(each) for each in BATCHES]
    right.plot(BATCHES, along, color=BLUE, linewidth=1.5)
    right.plot(batch, flops_per_byte(batch), "o", color=ORANGE, markersize=10)
    right.set_title(f"a layer of {WIDTH:,} by {WIDTH:,}", color=INK, fontsize=10)
    return Picture(figure, title)


def draw_product(axes, batch):
    """x, wᵀ above y: the weight that is followed, the numbers that it meets, the sums it is in."""
    rows, (output, input_) = min(batch, ROWS), CHOSEN
    below = aside = INPUTS + 1.2
    for corner, shape, (right, down, *size), color in (
        ((aside, 0), (INPUTS, OUTPUTS), (output, input_, 1, 1), ORANGE),
        ((0, below), (rows, INPUTS), (input_, 0, 1, rows), SKY),
        ((aside, below), (rows, OUTPUTS), (output, 0, 1, rows), SKY),
    ):
        rectangle(axes, corner[0] + right, corner[1] + down, *size, facecolor=color)
        for i, j in np.ndindex(shape):
            rectangle(axes, corner[0] + j, corner[1] + i, 1, 1)
    arrow(axes, (aside + output + 0.5, input_ + 1), (aside + output + 0.5, below), INK)
    write(axes, aside - 0.3, input_ + 0.5, "one weight", ha="right")
    for middle, name in ((INPUTS / 2, "weights wᵀ"), (below + rows / 2, "outputs y")):
        write(axes, aside + OUTPUTS + 0.3, middle, name, ha="left")
    more = f"\n({ROWS} of {batch:,} are drawn)" if batch > ROWS else ""
    write(axes, 0, below + rows + 0.3, f"inputs x, a row for each example{more}", ha="left",
          va="top")
    axes.set(xlim=(-0.2, aside + OUTPUTS + 3.4), ylim=(below + ROWS + 2.4, -0.2), aspect="equal")
    axes.set_axis_off()
