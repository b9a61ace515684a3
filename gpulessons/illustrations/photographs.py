"""Photographs and other pixels side by side, light enough for a page kept in a file."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from gpulessons.plots.picture import INK, Picture, blank

ACROSS = 200  # pixels of a row that are shown of each, unless told


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
        one.imshow(np.clip(thinned(image, across), 0, 1), cmap="gray", vmin=0, vmax=1)
        one.set_axis_off()
        one.set_title(name, color=INK, fontsize=10)
    return Picture(figure, f"{title} Side by side: {', '.join(named)}.".strip())


def thinned(image: Any, across: int) -> np.ndarray:
    """About so many columns of an image at most, and rows to match: means of square blocks."""
    image = np.asarray(image, np.float64)
    step = max(1, round(image.shape[1] / across))
    rows, columns = image.shape[0] // step * step, image.shape[1] // step * step
    blocks = image[:rows, :columns].reshape(rows // step, step, columns // step, step, -1)
    return blocks.mean(axis=(1, 3)).squeeze()
