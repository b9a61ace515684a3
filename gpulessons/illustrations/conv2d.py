"""Pictures of convolutions: a patch and its column, and which way is ahead, where."""

import math
from collections import Counter

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, name_rows
from gpulessons.plots.forms import LOOKS, SPOTS, key, listed, rectangle, write
from gpulessons.plots.picture import BLUE, INK, SKY, Picture, blank

OPEN = {**SPOTS, "markerfacecolor": "none", "markeredgewidth": 1.6}  # of what is published


def patch_and_column(
    picture: np.ndarray, columns: np.ndarray, kernel: tuple[int, int], position: int
) -> Picture:
    """A small picture with one patch of it framed, and the matrix that im2col makes, with the
    column that the patch became. picture: (height, width); columns: (ky · kx, positions).
    """
    i, j = divmod(position, picture.shape[1] - kernel[1] + 1)
    title = f"The patch at row {i}, column {j} is column {position} of {columns.shape[1]}."
    figure, panels = blank(height=3.2, title=title, ncols=2,
                           width_ratios=[picture.shape[1], columns.shape[1]])
    for axes, name, matrix, (top, left, rows, wide) in zip(
        panels, ("the picture", "its columns"), (picture, columns),
        ((i, j, *kernel), (0, position, len(columns), 1)), strict=True,
    ):
        axes.set(xlim=(0, matrix.shape[1]), ylim=(len(matrix), 0), aspect="equal")
        axes.set_axis_off()
        axes.set_title(name, color=INK, fontsize=10)
        rectangle(axes, left, top, wide, rows, facecolor=(SKY, 0.35), edgecolor=BLUE,
                  linewidth=1.5)
        for (row, column), value in np.ndenumerate(matrix):
            write(axes, column + 0.5, row + 0.5, f"{value:g}")
    patch = picture[i : i + kernel[0], j : j + kernel[1]].ravel()
    return Picture(figure, f"{title} It holds {', '.join(f'{v:g}' for v in patch)}.")


def operations(row) -> float:
    """Of a published convolution, as the definition counts them, whatever ran: its filters lie on
    every pixel."""
    return 2 * math.prod(row.sizes.values()) * row.sizes["kernel"]


def layer_of(row) -> str:
    """A published layer in words."""
    s = row.sizes
    return (f"{s['kernel']} × {s['kernel']}, {s['channels']} to {s['filters']} channels, "
            f"{s['width']} pixels")


def by_algorithm(rows, slow: str) -> Picture:
    """How many times as fast as one way others were, layer by layer: published figures."""
    layers: dict = {}
    for row in rows:
        layers.setdefault(layer_of(row), {})[row.what.removesuffix(": forward")] = row.value
    ahead = Counter(min(times, key=times.get) for times in layers.values())
    won = " and ".join(f"{way.split(', ')[-1]} in {n}" for way, n in ahead.most_common())
    title = f"The fastest way of {len(layers)} layers is {won}."
    figure, axes = blank(height=1.9 + 0.4 * len(layers), width=8.2, title=title)
    looks = {}
    for y, times in enumerate(layers.values()):
        for way, look in zip(times, LOOKS, strict=False):
            looks[way] = {**look, **OPEN}
            axes.plot(times[slow] / times[way], y, **looks[way])
    name_rows(axes, layers)
    log_axes(axes, x=(f"times as fast as {slow}", "{:g}×".format), ticks=(1, 2, 5, 10, 20))
    notes = cited(axes, rows)
    key(figure, looks)
    told = {layer: ", ".join(f"{way} {units.ratio(times[slow] / times[way])}" for way in times)
            for layer, times in layers.items()}
    return Picture(figure, f"{title} {listed(told)}. {notes}.")


def cited(axes, rows) -> str:
    """Whose figures these are, also below the axis."""
    notes = dict.fromkeys(f"published: {row.citation}" for row in rows)
    axes.set_xlabel("\n".join([axes.get_xlabel(), *notes]))
    return "; ".join(notes)
