"""Pictures of a trace: what is filled is what was touched, where it was."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from numba import cuda

from gpulessons.microscope import banks_picture, branch_picture, player, request_picture, trace
from gpulessons.plots.player import place_of
from gpulessons.plots.trace_drawing import ACCESS_COLORS, EXTRA


@cuda.jit
def column(x, out):
    """Each lane takes an element of one column, through shared memory."""
    lane = cuda.threadIdx.x
    tile = cuda.shared.array((32, 32), np.float32)
    if lane < 8:
        tile[lane, 0] = x[lane, 3]
    cuda.syncthreads()
    if lane < 8:
        out[lane] = tile[lane, 0]


@pytest.fixture(scope="module")
def launched():
    return trace(column)[1, 32](np.ones((8, 40), np.float32), np.zeros(8, np.float32))


def filled(axes, color):
    """The lower left corners of the cells in a color, and how strong it is."""
    shapes = [one for one in axes.patches if to_hex(one.get_facecolor()) == color.lower()]
    return {(round(x, 2), round(y, 2)): one.get_alpha() for one in shapes
            for x, y in one.get_path().vertices[::5]}  # fmt: skip


def test_a_request_fills_the_lanes_that_ask_and_the_sectors_that_move(launched):
    picture = request_picture(launched, "x")
    assert "8 lanes → 8 sectors of 32 bytes, 32 of 256 bytes used" in picture.figure.get_suptitle()
    cells = filled(picture.axes, ACCESS_COLORS["read"])
    assert [y for _, y in cells].count(3) == 8
    assert sum(alpha == 0.3 for alpha in cells.values()) == 8


def test_a_wavefront_has_a_row_of_its_own(launched):
    picture = banks_picture(launched, "tile", "read")
    assert "8 wavefronts, 8-way bank conflict" in picture.figure.get_suptitle()
    first, more = (filled(picture.axes, each) for each in (ACCESS_COLORS["read"], EXTRA))
    assert set(first) == {(0, 0)} and set(more) == {(0, row) for row in range(1, 8)}
    lit = [str(one.get_gid()).split() for one in picture.axes.patches]
    assert [sum(part in each for each in lit) for part in picture.words.values()] == [8, 8, 2]


def test_a_branch_keeps_the_other_lanes_waiting(launched):
    assert "lanes at work" in branch_picture(launched).figure.get_suptitle()
    with pytest.raises(ValueError, match="no warp 7"):
        branch_picture(launched, 7)


def test_a_step_fills_its_cells_and_those_before_are_gray(launched):
    steps = player(launched)
    (at,) = [n for n, (first, *_) in enumerate(steps.moments) if first.array == "x"]
    picture = steps.figure(at)
    assert "warp 0, 8 lanes, reads x and writes tile" in picture.alt
    read, written = picture.figure.axes
    assert set(filled(read, ACCESS_COLORS["read"])) == {(3, row) for row in range(8)}
    assert len(filled(written, ACCESS_COLORS["write"])) == 8
    assert [place_of(index, (2, 3, 4), 4) for index in ((0, 0, 1), (1, 2, 3))] == [(0, 1), (5, 3)]
    assert place_of((35,), (64,), 32) == (1, 3)
    last = steps.moments[-1][-1]
    assert (last.array, last.access) == ("out", "write")
    assert steps.seen(len(steps), "x") == {(row, 3) for row in range(8)}
    assert len(steps.multiples().figure.axes) == 4
