"""im2col: a picture's patches as the columns of a matrix, so that a convolution is a product.

A filter lies on the picture at one place after another, a *position*, and touches a patch of it.
Write each patch as a column, each filter as a row: every output is a row times a column. A pixel
stands in as many columns as there are patches around it, so a 3 × 3 filter copies it nine times
(Chellapilla, Puri & Simard 2006).
"""

import numpy as np


def output_size(x, kernel, stride, padding):
    """(rows, columns) of positions of a kernel (height, width) on x (…, height, width).

    ⌊(n + 2 padding − k) / stride⌋ + 1 along each axis. Raises ValueError where there is none.
    """
    if stride < 1 or padding < 0:
        raise ValueError(f"A stride is 1 or more, a padding 0 or more; not {stride}, {padding}.")
    padded = [n + 2 * padding for n in x.shape[-2:]]
    if any(k > n for k, n in zip(kernel, padded, strict=True)):
        raise ValueError(
            f"A kernel of {kernel[0]} × {kernel[1]} finds no place on {padded[0]} × {padded[1]} "
            "pixels, padding included: make the kernel smaller or the padding larger."
        )
    return tuple((n - k) // stride + 1 for n, k in zip(padded, kernel, strict=True))


def bordered(x, padding):
    """x (…, height, width) with a border of so many zeros."""
    return np.pad(x, [(0, 0)] * (x.ndim - 2) + [(padding, padding)] * 2)


def patches(padded, kernel, stride):
    """A view of all patches, nothing copied: (batch, channels, ky, kx, rows, columns)."""
    windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(2, 3))
    return windows[:, :, ::stride, ::stride].transpose(0, 1, 4, 5, 2, 3)


def im2col(x, kernel, stride=1, padding=0):
    """Patches as columns: (batch, channels · ky · kx, positions) from x (batch, channels, h, w)."""
    output_size(x, kernel, stride, padding)
    view = patches(bordered(x, padding), kernel, stride)
    return view.reshape(*x.shape[:1], x.shape[1] * kernel[0] * kernel[1], -1)  # writes it all down
