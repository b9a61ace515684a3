"""Pictures of convolutions: a patch and its column, and which way is ahead, where."""

import math
from collections import Counter

import numpy as np

from gpulessons.plots.axes import name_rows, written
from gpulessons.plots.forms import SPOTS, key, listed, rectangle, write
from gpulessons.plots.picture import BLUE, INK, ORANGE, SKY, Picture, blank

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


WAYS = {"WINOGRAD": ("Winograd", "^"), "FFT": ("FFT", "s"), "GEMM": ("implicit GEMM", "o")}
COLOR = {"float32": BLUE, "float16": ORANGE}


def taken(rows, peaks) -> Picture:
    """Which way a library took for each layer, and its rate as a share of the card's peak: the
    operations of the definition over the published time. peaks: {dtype: FLOP/s}.
    """
    layers: dict = {}
    for row in rows:
        way, mark = next(each for word, each in WAYS.items() if word in row.what)
        share = operations(row) / row.value / peaks[row.dtype]
        layers.setdefault(layer_of(row), []).append((row.dtype, way, share, mark))
    won = Counter((dtype, way) for each in layers.values() for dtype, way, *_ in each)
    told = ", ".join(f"{way} in {n} of {len(layers)} layers in {dtype}"
                     for (dtype, way), n in sorted(won.items()) if 2 * n > len(layers))
    title = f"The quickest way on a {rows[0].device}: {told}."
    figure, axes = blank(height=2.4 + 0.4 * len(layers), width=8.2, title=title)
    looks, spoken = {}, {}
    for y, (layer, each) in enumerate(layers.items()):
        for dtype, way, share, mark in each:
            looks[f"{dtype}, {way}"] = {**OPEN, "color": COLOR[dtype], "marker": mark}
            axes.plot(share, y, **looks[f"{dtype}, {way}"])
        spoken[layer] = ", ".join(f"{dtype} {share:.0%} by {way}" for dtype, way, share, _ in each)
    axes.axvline(1, color=INK, linewidth=1)
    name_rows(axes, layers)
    axes.set(xlim=(0, None), xlabel="share of the card's peak in that format")
    written(axes.xaxis, "{:.0%}".format)
    notes = cited(axes, rows)
    key(figure, looks, columns=2)
    return Picture(figure, f"{title} {listed(spoken)}. {notes}.")


def cited(axes, rows) -> str:
    """Whose figures these are, also below the axis."""
    notes = dict.fromkeys(f"published: {row.citation}" for row in rows)
    axes.set_xlabel("\n".join([axes.get_xlabel(), *notes]))
    return "; ".join(notes)
