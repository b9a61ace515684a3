"""Photographs and other pixels beside each other, light enough for a page that is kept in a file.

A chart of lines packs well, a photograph does not. So it is shown with fewer pixels, and in few
colors: with fewer than 256 in all, nothing has to be mixed from dots, which pack worst.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpulessons.plots.picture import INK, Picture, blank

ACROSS = 128  # pixels of a row that are shown of each, unless told
COLORS = 160  # of all together


def side_by_side(named: Mapping[str, Any], title: str = "", across: int = ACROSS) -> Picture:
    """Pictures of one shape, each under its name: values in 0…1, (rows, columns[, 3]).

    title: the message. across: the pixels of a row that are shown. Raises ValueError where there
    is nothing to show, or shapes differ.
    """
    shapes = {np.shape(image)[:2] for image in named.values()}
    if len(shapes) != 1:
        raise ValueError(f"Show pictures of one shape side by side, not of {sorted(shapes)}.")
    ((rows, columns),) = shapes
    height = 1.0 + 5.4 / len(named) * rows / columns
    figure, axes = blank(6, height, title, ncols=len(named), squeeze=False)
    for one, (name, image) in zip(axes.flat, named.items(), strict=True):
        shown = few_colors(thinned(image, across), COLORS // len(named))
        one.imshow(shown, interpolation="nearest")
        one.set_axis_off()
        one.set_title(name, color=INK, fontsize=10)
    return Picture(figure, f"{title} Side by side: {', '.join(named)}.".strip())


def thinned(image: Any, across: int) -> np.ndarray:
    """At most so many columns of an image, and as many of its rows: means of square blocks."""
    image = np.asarray(image, np.float64)
    step = max(1, round(image.shape[1] / across))
    rows, columns = image.shape[0] // step * step, image.shape[1] // step * step
    blocks = image[:rows, :columns].reshape(rows // step, step, columns // step, step, -1)
    return blocks.mean(axis=(1, 3)).squeeze()


def few_colors(image: np.ndarray, colors: int) -> np.ndarray:
    """(rows, columns, 3) bytes in at most so many colors; one number a pixel is a grey."""
    from PIL import Image

    levels = np.rint(255 * np.clip(image, 0, 1)).astype(np.uint8)
    drawn = Image.fromarray(levels).convert("RGB")
    packed = drawn.quantize(colors, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    return np.asarray(packed.convert("RGB"))
