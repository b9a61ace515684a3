"""Pictures of convolutions frame the right patch, and say who overtakes whom."""

import dataclasses

import numpy as np
import pytest

from gpulessons.illustrations import conv2d as draw
from gpulessons.measure.results import Absent, Timing
from gpulessons.ops.im2col import im2col


def timed(seconds):
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
    return Timing(**{**fields, "backend": "host", "size": 28, "samples": (seconds,)})


def race(slow, fast):
    times = {"slow": dict(zip((3, 9, 27), map(timed, slow), strict=True)),
             "fast": dict(zip((3, 9, 27), map(timed, fast), strict=True))}  # fmt: skip
    return repr(draw.overtaking(times, "slow", "fast"))


def test_the_title_says_where_the_lines_cross_between_two_kernels_that_were_timed():
    """Between, not at: how the lines run from one timed kernel to the next nobody has seen."""
    assert race((1e-3, 2e-3, 9e-3), (2e-3, 1e-3, 1e-3)).startswith(
        "fast overtakes slow between kernels of 3 and 9 pixels a side. "
        "At 27 × 27, fast takes the least time."
    )
    assert race((1e-3, 2e-3, 9e-3), (5e-4, 1e-3, 1e-3)).startswith(
        "fast is faster than slow at every size of kernel."
    )


def test_who_never_overtakes_is_said_to():
    assert race((1e-3, 2e-3, 3e-3), (4e-3,) * 3).startswith("fast does not overtake slow")


def test_a_lead_that_is_lost_again_is_no_overtaking():
    assert "does not overtake slow for good" in race((2e-3, 2e-3, 2e-3), (1e-3, 3e-3, 3e-3))


def test_a_side_without_a_time_is_left_out():
    times = {"slow": {3: timed(1e-3), 9: None, 27: timed(9e-3)},
             "fast": {3: timed(2e-3), 9: timed(1e-3), 27: timed(1e-3)}}  # fmt: skip
    assert draw.first_win(times, "slow", "fast") == 27
    assert draw.crossing(times, "slow", "fast") == pytest.approx(
        (3, 3 * 9 ** (np.log(2) / np.log(18)), 27)
    )
    assert "9 × 9" not in repr(draw.overtaking(times, "slow", "fast"))


@pytest.mark.parametrize(
    ("kernel", "position", "numbers"),
    [((2, 2), 0, "1, 2, 5, 6"), ((2, 2), 5, "7, 8, 11, 12"), ((1, 3), 3, "6, 7, 8")],
)
def test_the_framed_patch_is_the_framed_column(kernel, position, numbers):
    picture = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
    columns = im2col(picture[None, None], kernel)[0]
    drawn = draw.patch_and_column(picture, columns, kernel, position)
    assert numbers in repr(drawn)
    assert ", ".join(f"{v:g}" for v in columns[:, position]) == numbers
    (patch, column), across = (axes.patches[0] for axes in drawn.figure.axes), 5 - kernel[1]
    assert patch.get_xy() == (position % across - 0.5, position // across - 0.5)
    assert (patch.get_height(), patch.get_width()) == kernel
    assert column.get_xy() == (position - 0.5, -0.5)
    assert (column.get_height(), column.get_width()) == (len(columns), 1)
    for axes, matrix in zip(drawn.figure.axes, (picture, columns), strict=True):
        assert [text.get_text() for text in axes.texts] == [f"{v:g}" for v in matrix.ravel()]


def test_where_nothing_was_timed_a_sentence_says_so():
    nothing = {way: {3: Absent("conv2d", way, "host", 3, "not here")} for way in ("slow", "fast")}
    assert "nothing to compare" in draw.overtaking(nothing, "slow", "fast")
    assert draw.crossing(nothing, "slow", "fast") is None
