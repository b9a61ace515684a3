"""The picture of a block's halo: what it says is fetched is what the kernel fetches."""

import numpy as np
import pytest

from gpulessons import tracing
from gpulessons.illustrations.halo import BLOCKS, fetched, fetches, halo, runs
from gpulessons.ops.conv2d import BLOCK_ROWS as ROWS
from gpulessons.ops.conv2d import LANES, shaped


@pytest.mark.parametrize("width", [1, 3, 5])
def test_a_block_fetches_what_the_traced_kernel_s_block_does(width):
    """One channel, one filter, one block: each pixel of the patch that lies in the picture."""
    layer = shaped((1, 1, 1), (width, width), padding=0)
    x, w, stride, padding = layer.inputs(LANES + width - 1)
    with tracing() as launches:
        layer.versions["CUDA, shared tiles"](x[:, :, : ROWS + width - 1], w, stride, padding)
    asked = launches[0].coalescing("x").bytes_asked / x.itemsize
    assert fetched(width) == asked


def test_pixels_under_two_patches_are_fetched_twice():
    assert list(fetches(3, 2, 3)) == [1, 1, 1, 2, 2, 1, 1, 1]
    assert runs(fetches(3, 2, 3)) == [(0, 3), (3, 5), (5, 8)]
    assert list(fetches(3, 2, 1)) == 6 * [1]


@pytest.mark.parametrize("width", [1, 3, 9])
def test_the_areas_drawn_add_up_to_what_four_blocks_fetch(width):
    picture = halo(width)
    assert f"{ROWS + width - 1} × {LANES + width - 1} pixels" in repr(picture)
    down, across = fetches(ROWS, BLOCKS[0], width), fetches(LANES, BLOCKS[1], width)
    assert np.outer(down, across).sum() == 4 * fetched(width)
    words = " ".join(text.get_text() for text in picture.axes.texts)
    assert ("fetched four times" in words) == (width > 1)
