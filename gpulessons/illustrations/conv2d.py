"""Pictures of convolutions: a patch and its column, and where another way overtakes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes
from gpulessons.plots.forms import lines, rectangle
from gpulessons.plots.picture import BLUE, INK, SKY, Picture, blank


def patch_and_column(
    picture: np.ndarray, columns: np.ndarray, kernel: tuple[int, int], position: int
) -> Picture:
    """A small picture with one patch of it framed, and the matrix that im2col makes, with the
    column that the patch became. picture: (height, width); columns: (ky · kx, positions).
    """
    across = picture.shape[1] - kernel[1] + 1
    i, j = divmod(position, across)
    title = f"The patch at row {i}, column {j} is column {position} of {columns.shape[1]}."
    widths = [picture.shape[1], columns.shape[1]]
    figure, axes = blank(height=3.2, title=title, ncols=2, width_ratios=widths)
    numbers(axes[0], picture)
    numbers(axes[1], columns)
    frame(axes[0], i, j, *kernel)
    frame(axes[1], 0, position, len(columns), 1)
    axes[0].set_title("the picture", color=INK, fontsize=10)
    axes[1].set_title("its columns", color=INK, fontsize=10)
    patch = picture[i : i + kernel[0], j : j + kernel[1]].ravel()
    return Picture(figure, f"{title} It holds {', '.join(f'{v:g}' for v in patch)}.")


def numbers(axes, matrix):
    """A matrix as a grid of its numbers."""
    rows, columns = matrix.shape
    axes.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5), aspect="equal")
    axes.set_axis_off()
    for (i, j), value in np.ndenumerate(matrix):
        axes.text(j, i, f"{value:g}", ha="center", va="center", color=INK, fontsize=10)


def frame(axes, i, j, rows, columns):
    rectangle(axes, j - 0.5, i - 0.5, columns, rows, facecolor=(SKY, 0.35), edgecolor=BLUE,
              linewidth=1.5)


def overtaking(times: Mapping[str, Any], slow: str, fast: str) -> Picture | str:
    """Time against the kernel's side for several ways; the title says where `fast` overtakes
    `slow`. times: {way: {side: Timing}}. A sentence where no kernel was timed in every way.
    """
    if not (sides := measured(times)):
        return "No kernel was timed in every way: there is nothing to compare."
    title = overtakes(times, slow, fast)
    quickest = min(times, key=lambda way: times[way][sides[-1]].median)
    title += f" At {sides[-1]} × {sides[-1]}, {quickest} takes the least time."
    figure, axes = blank(height=3.6, title=title)
    log_axes(axes, x=("kernel, pixels a side", str), y=("time of one call", units.seconds),
             ticks=sides)
    looks = zip(times.items(), ("o", "v", "P", "X"), ("-", "--", ":", "-."), strict=False)
    lines(axes, [(way, sides, [timings[s].median for s in sides],  # all on the CPU: of one color
                  {"marker": marker, "linestyle": dashes})
                 for (way, timings), marker, dashes in looks])
    spoken = "; ".join(f"{way}, {s} × {s}: {t[s].words}" for way, t in times.items() for s in sides)
    return Picture(figure, f"{title} {spoken}.")


def overtakes(times, slow, fast):
    """The message: the timed sides between which the two cross, or that they do not."""
    sides, first = measured(times), first_win(times, slow, fast)
    if first is None:
        return f"{fast} does not overtake {slow} for good."
    if first == sides[0]:
        return f"{fast} is faster than {slow} at every size of kernel."
    before, _, after = crossing(times, slow, fast)
    return f"{fast} overtakes {slow} between kernels of {before} and {after} pixels a side."


def crossing(
    times: Mapping[str, Any], slow: str, fast: str
) -> tuple[float, float, float] | None:
    """Where the lines of two ways cross for good, both axes being logarithmic: the timed side
    before, the crossing and the timed side after.

    None where `fast` never wins; three times the first side where it always does.
    """
    sides, first = measured(times), first_win(times, slow, fast)
    if first is None or first == sides[0]:
        return first and (first, first, first)
    before = sides[sides.index(first) - 1]
    lead, after = (np.log(times[fast][s].median / times[slow][s].median) for s in (before, first))
    part = lead / (lead - after)
    return before, float(before ** (1 - part) * first**part), first


def measured(times):
    """The sides at which every way has a time."""
    return [s for s in sorted(next(iter(times.values())))
            if all(hasattr(way[s], "median") for way in times.values())]


def first_win(times: Mapping[str, Any], slow: str, fast: str) -> int | None:
    """The side from which on `fast` always takes less time than `slow`; None if it never does."""
    first = None
    for side in reversed(measured(times)):
        if times[fast][side].median >= times[slow][side].median:
            break
        first = side
    return first
