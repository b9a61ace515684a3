"""Pictures of attention say what was given: the firmest look, the growth, the shares, the times."""

import numpy as np
import pytest

from gpulessons.illustrations import attention as draw


def test_the_firmest_look_is_named_and_every_row_s_is_said():
    shares = np.array([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8], [0, 0.7, 0.3]])
    picture = draw.attending(["she", "reads", "it"], shares)
    assert "The firmest look: “reads” at “it”, 80%." in picture.alt
    assert picture.alt.endswith("she at she: 50%; reads at it: 80%; it at reads: 70%.")
    assert [text.get_text() for text in picture.axes.texts[:3]] == ["50", "25", "25"]


@pytest.mark.parametrize(
    "costs, factor",
    [({64: 5, 512: 3, 1024: 12}, 4), ({256: 1, 1024: 16}, 4), ({100: 7, 200: 14}, 2)],
)
def test_what_a_doubling_costs_is_read_off_the_last_two_lengths(costs, factor):
    assert draw.doubling(costs) == pytest.approx(factor)
    assert draw.doubling(dict(reversed(costs.items()))) == pytest.approx(factor)


def test_the_title_of_the_peaks_has_the_growth_of_each_way():
    ways = {"all": {256: 2**18, 512: 2**20}, "tiled": {256: 2**16, 512: 2**17}}
    picture = draw.peaks(ways)
    assert picture.alt.startswith("Twice the length, and memory grows: 4.0 times for all, 2.0 ")
    assert [list(line.get_ydata()) for line in picture.axes.lines] == [
        [2**18, 2**20], [2**16, 2**17],
    ]  # fmt: skip


def test_parts_are_shares_of_their_own_whole():
    picture = draw.parts({"operations": {"products": 990, "the rest": 10},
                           "time": {"products": 3, "the rest": 1}})  # fmt: skip
    assert picture.alt.startswith("Products: 99.0% of the operations; 75% of the time.")
    bars = picture.axes.patches[:4]
    assert [bar.get_x() for bar in bars] == pytest.approx([0, 0.99, 0, 0.75])
    assert [bar.get_width() for bar in bars] == pytest.approx([0.99, 0.01, 0.75, 0.25])


def test_a_part_that_one_way_has_not_leaves_no_gap():
    picture = draw.parts({"one": {"a": 1, "b": 1, "c": 2}, "two": {"a": 1, "c": 1}})
    assert picture.alt.endswith("two: a 50%, c 50%.")
    assert [bar.get_x() for bar in picture.axes.patches[3:6]] == pytest.approx([0, 0.5, 0.5])


def test_what_is_modelled_is_hollow_and_what_is_measured_solid():
    picture = draw.estimates({"TPU": 1e-3}, {"this CPU": 4e-3}, title="So it is.")
    modelled, measured = picture.axes.patches
    assert modelled.get_facecolor()[3] == 0 and measured.get_facecolor()[3] == 1
    assert modelled.get_x() + modelled.get_width() == pytest.approx(1e-3)
    assert picture.alt == "So it is. TPU: 1 ms; this CPU: 4 ms."
