"""Pictures of access patterns say what was measured, and model what a memory moves."""

import dataclasses

import pytest

from gpulessons.illustrations import strides
from gpulessons.measure.results import Absent, Timing


def timed(seconds, size=1_000_000):
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
    return Timing(**{**fields, "backend": "host", "size": size, "samples": (seconds,)})


@pytest.fixture
def picture():
    times = {1: 4e-3, 4: 3e-3, 16: 2e-3, 64: 1e-3}
    return strides.strides({s: timed(t) for s, t in times.items()}, limit=1e9)


def test_the_title_compares_one_number_a_line_with_all_of_them(picture):
    assert repr(picture).startswith("Skip 15 of 16 numbers, and you save 50% of the time.")
    assert "stride 64: 1 ms" in repr(picture)


def test_no_saving_is_called_none():
    slower = strides.strides({1: timed(1e-3), 16: timed(2e-3)}, limit=1e9)
    assert "you save no time" in repr(slower)


def noisy(seconds):
    return dataclasses.replace(timed(seconds), samples=(seconds, 1.2 * seconds, 1.4 * seconds))


MISSING = Absent("copy", "mine", "host", 1, "a cache still held it")


def test_a_noisy_time_makes_no_headline_and_what_was_not_timed_is_left_out():
    title = "Too noisy here to say what skipping saves."
    assert repr(strides.strides({1: noisy(4e-3), 16: timed(2e-3)}, limit=1e9)).startswith(title)
    assert repr(strides.strides({1: MISSING, 16: timed(2e-3)}, limit=1e9)).startswith(title)
    left = strides.strides({1: timed(4e-3), 4: MISSING, 16: timed(2e-3)}, limit=1e9)
    assert len(left.axes.lines[0].get_ydata()) == 2 and "you save 50%" in repr(left)
    assert strides.strides({1: MISSING}, 1e9) == "Nothing to draw: a cache still held it."


def test_a_ratio_is_refused_where_a_time_is_missing_or_too_noisy():
    wild = dataclasses.replace(timed(1), samples=(1.0, 2.0, 3.0), version="mine")
    assert strides.times(timed(4e-3), timed(2e-3)) == 2
    assert strides.times(MISSING, timed(1)) is None and strides.times(timed(1), wild) is None


def test_measured_and_modelled_are_drawn_at_every_stride(picture):
    measured, lines, alone = (line.get_ydata() for line in picture.axes.lines[:3])
    assert list(measured) == [4e-3, 3e-3, 2e-3, 1e-3]
    assert lines[0] == alone[0] == pytest.approx(8e-3)
    assert all(lines[1:] > alone[1:])


def test_lines_move_whole_until_the_stride_skips_some():
    assert strides.moved(1600, 1) == 2 * 6400
    assert strides.moved(1600, 16) == 6400 + 400
    assert strides.moved(1600, 32) == 3200 + 200
    assert strides.moved(1601, 1600) == 2 * 64 + 2 * 4
