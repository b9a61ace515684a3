"""im2col: a picture's patches as the columns of a matrix, so that a convolution is a product.

A filter lies on the picture at one place after another, a *position*, and touches a patch of it.
Write each patch as a column, each filter as a row: every output is a row times a column. A pixel
stands in as many columns as there are patches around it, so a 3 × 3 filter copies it nine times
(Chellapilla, Puri & Simard 2006).
"""

import numpy as np


def output_size(x, kernel, stride, padding):
    """(rows, columns) of positions of a kernel (height, width) on x (…, height, width).

    ⌊(n + 2 padding − k) / stride⌋ + 1 along each axis.
    """
    sides = zip(x.shape[-2:], kernel, strict=True)
    return tuple((n + 2 * padding - k) // stride + 1 for n, k in sides)


def bordered(x, padding):
    """x (…, height, width) with a border of so many zeros."""
    return np.pad(x, [(0, 0)] * (x.ndim - 2) + [(padding, padding)] * 2)


def patches(padded, kernel, stride):
    """A view of all patches, nothing copied: (batch, channels, ky, kx, rows, columns)."""
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(2, 3))
    return windows[:, :, ::stride, ::stride].transpose(0, 1, 4, 5, 2, 3)


def im2col(x, kernel, stride=1, padding=0):
    """Patches as columns: (batch, channels · ky · kx, positions) from x (batch, channels, h, w)."""
    view = patches(bordered(x, padding), kernel, stride)
    return view.reshape(*x.shape[:1], x.shape[1] * kernel[0] * kernel[1], -1)  # writes it all down
