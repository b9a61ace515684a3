"""Pictures of samples: what they say is computed, and what they draw is what they say."""

import dataclasses
import re
from statistics import fmean, median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulessons.illustrations import samples
from gpulessons.measure.results import Timing
from gpulessons.plots.picture import COLORS

MICRO = 1e-6
QUIET = [n * MICRO for n in (10, 11, 12, 13, 14)]
HICCUP = [*QUIET, 900 * MICRO]

timed = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=50)


def timing(times, backend="gpu"):
    fields = dict.fromkeys((field.name for field in dataclasses.fields(Timing)), 0)
    return Timing(**{**fields, "backend": backend, "samples": tuple(times)})


def texts(picture):
    return [text.get_text() for text in picture.axes.texts]


def bars(picture):
    return [bar for container in picture.axes.containers for bar in container]


def overlapping(picture):
    """Pairs of words in a picture that cover each other, once it is laid out."""
    axes = picture.axes
    picture.figure.draw_without_rendering()
    words = [*axes.texts, *axes.get_yticklabels(), *axes.get_xticklabels()]
    boxes = [(w.get_text(), w.get_window_extent()) for w in words if w.get_text()]
    return [
        (one, other)
        for i, (one, box) in enumerate(boxes)
        for other, other_box in boxes[i + 1 :]
        if box.overlaps(other_box)
    ]


@given(timed)
def test_any_samples_can_be_drawn_and_every_bar_counts_samples(times):
    picture = samples.histogram(times)
    shown = sum(bar.get_height() for bar in bars(picture))
    beyond = re.search(r"([\d,]+) beyond", picture.axes.get_xlabel())
    assert shown + int(beyond[1].replace(",", "") if beyond else 0) == len(times)
    assert samples.in_order(times).axes.lines[0].get_ydata().tolist() == times


def test_the_title_names_the_median_and_the_slowest():
    picture = samples.histogram(HICCUP)
    assert repr(picture).startswith("6 samples: the median is 12.5 µs; the slowest took 72× that.")
    assert "mean 160 µs" in repr(picture)
    assert "90 times as long as the fastest" in repr(samples.in_order(HICCUP))


def test_median_and_mean_stand_where_they_are_and_an_arrow_points_past_the_axis():
    near = samples.histogram(QUIET).axes.lines[1:]
    assert [line.get_xdata()[0] for line in near] == [median(QUIET), fmean(QUIET)]
    far = samples.histogram(HICCUP)
    assert [line.get_xdata()[0] for line in far.axes.lines[1:]] == [median(HICCUP)]
    assert texts(far) == ["median 12.5 µs", "mean 160 µs →"]
    assert "1 beyond, up to 900 µs" in far.axes.get_xlabel()


def test_histograms_drawn_alike_share_an_axis():
    few, all_of_them = samples.histogram(HICCUP[:2], like=HICCUP), samples.histogram(HICCUP)
    assert few.axes.get_xlim() == all_of_them.axes.get_xlim()
    assert few.axes.get_xlim() != samples.histogram(HICCUP[:2]).axes.get_xlim()


def test_a_timing_brings_its_samples_and_the_color_of_its_backend():
    given_timing, plain = samples.in_order(timing(QUIET)), samples.in_order(QUIET)
    assert given_timing.axes.lines[0].get_color() == COLORS["gpu"]
    assert plain.axes.lines[0].get_color() == COLORS["host"]
    assert repr(given_timing) == repr(plain)


def test_a_stopped_clock_says_by_how_much_and_where():
    picture = samples.stopped(20 * MICRO, 5_000 * MICRO, "a stand-in")
    assert repr(picture).startswith("The clock stopped 250 times too early.")
    assert "Your clock: 20 µs; a stand-in: 5 ms." in repr(picture)
    assert [bar.get_width() for bar in bars(picture)] == [5_000 * MICRO, 20 * MICRO]


def test_lies_go_left_when_too_short_and_right_when_too_long():
    picture = samples.lies({"early": (1, 4_000), "late": (90_000, 1), "fine": (1.05, 1)})
    assert "from 4,000× too short to 90,000× too long" in repr(picture)
    assert "fine: right within 10 %" in repr(picture)
    dots = [line.get_xdata()[0] for line in picture.axes.lines if line.get_marker() == "o"]
    _fine, late, early = dots  # the first stands on top
    assert (early, late) == (pytest.approx(1 / 4_000), pytest.approx(90_000))


@pytest.mark.parametrize("worst", [1, 30, 5_000, 2_000_000])
def test_no_words_of_the_lies_cover_others(worst):
    picture = samples.lies({
        "one sample, the unluckiest": (1, worst), "timed the first call": (worst, 1),
        "hot, sold as cold": (1, 3),
    })  # fmt: skip
    assert not overlapping(picture)


@pytest.mark.parametrize("times", [QUIET, HICCUP, [1.0], [1.0] * 9, [1, 1.01, 1.02, 1.5, 40]])
def test_no_words_of_a_histogram_cover_others(times):
    assert not overlapping(samples.histogram(times))


@given(st.floats(1e-9, 1e3), st.floats(1, 1e6))
def test_an_axis_of_times_has_two_labels_at_least_and_few(low, factor):
    places = [p for p in samples.ladder(low, low * factor) if low <= p <= low * factor]
    assert len(places) <= 9
    assert len(places) >= 2 or factor < 5


@pytest.mark.parametrize(
    ("factor", "words"),
    [(0.9, "right within 10 %"), (0.89, "1.12× too short"), (1.11, "1.11× too long")],
)
def test_a_reading_is_right_within_a_tenth_and_else_wrong_by_a_factor(factor, words):
    assert samples.off(factor) == words


def test_one_sample_is_one():
    assert samples.in_order([2e-3]).alt.startswith("1 sample:")


@pytest.mark.parametrize("draw", [samples.in_order, samples.histogram])
def test_without_samples_it_says_what_to_do(draw):
    with pytest.raises(ValueError, match="time something first"):
        draw([])
    with pytest.raises(ValueError, match="at least one reading"):
        samples.lies({})
