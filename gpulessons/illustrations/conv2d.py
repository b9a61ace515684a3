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
    column that the patch became. picture: (height, width); columns: (ky · kx, positions)."""
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
        rectangle(axes, left, top, wide, rows, facecolor=(SKY, 0.35), edgecolor=BLUE)
        for (row, column), value in np.ndenumerate(matrix):
            write(axes, column + 0.5, row + 0.5, f"{value:g}")
    patch = picture[i : i + kernel[0], j : j + kernel[1]].ravel()
    return Picture(figure, f"{title} It holds {', '.join(f'{v:g}' for v in patch)}.")


def tile_or_columns(fields: dict[str, tuple[float, str]], what: str) -> Picture:
    """{name: (numbers read for each multiplication, what else to say)} of two by two kernels:
    without a tile, of pixels and of columns, and with one. what: the numbers, below them."""
    read = np.reshape([value for value, _ in fields.values()], (2, 2))
    title = ("A tile divides what is read by {:.0f} and {:.0f}; columns multiply it by {:.2g} and "
             "{:.2g}.").format(*read[0] / read[1], *read[:, 1] / read[:, 0])
    figure, axes = blank(height=3.2, title=title)
    axes.set(xlim=(0, 2), ylim=(2, 0), xticks=(0.5, 1.5), xticklabels=("directly", "by columns"),
             yticks=(0.5, 1.5), yticklabels=("no tile", "a tile"), xlabel=what)
    for n, (name, (value, more)) in enumerate(fields.items()):
        rectangle(axes, n % 2, n // 2, 1, 1, facecolor=(SKY, 0.6 * value / read.max()))
        write(axes, n % 2 + 0.5, n // 2 + 0.3, f"{value:#.2g}", fontsize=18)
        write(axes, n % 2 + 0.5, n // 2 + 0.7, f"{name}\n{more}", fontsize=8)
    spoken = {name: f"{value:#.2g}, {more}" for name, (value, more) in fields.items()}
    return Picture(figure, f"{title} {what}: {listed(spoken)}.")


def operations(row) -> float:
    """Of a published convolution by the definition, whatever ran: filters lie on every pixel."""
    return 2 * math.prod(row.sizes.values()) * row.sizes["kernel"]


WAYS = {"WINOGRAD": ("Winograd", "^"), "FFT": ("FFT", "s"), "GEMM": ("implicit GEMM", "o")}
COLOR = {"float32": BLUE, "float16": ORANGE}


def taken(rows, peaks) -> Picture:
    """Which way a library took for each layer, and its rate as a share of the card's peak: the
    operations of the definition over the published time. peaks: {dtype: FLOP/s}."""
    layers: dict = {}
    for row in rows:
        way, mark = next(each for word, each in WAYS.items() if word in row.what)
        share = operations(row) / row.value / peaks[row.dtype]
        layer = "{kernel} × {kernel}, {channels} to {filters} channels, {width} pixels"
        layers.setdefault(layer.format(**row.sizes), []).append((row.dtype, way, share, mark))
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
    cited = f"published: {'; '.join(dict.fromkeys(row.citation for row in rows))}"
    axes.set(xlim=(0, None), xlabel=f"share of the card's peak in that format\n{cited}")
    written(axes.xaxis, "{:.0%}".format)
    key(figure, looks, columns=2)
    return Picture(figure, f"{title} {listed(spoken)}. {cited}.")
