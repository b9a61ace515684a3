"""A roof is drawn where it is, and the title says how near the best came."""

import pytest

from gpulessons.illustrations.roof import under_the_roof


def test_the_title_names_the_best_and_its_share():
    picture = under_the_roof({"NumPy": 5e9, "Numba": 8e9}, 10e9, "read")
    assert picture.figure.get_suptitle() == "Numba: 80% of this machine's read ceiling."
    assert picture.alt.endswith("NumPy, 5 GB/s; Numba, 8 GB/s; read ceiling, 10 GB/s.")


def test_the_title_may_be_about_another_one():
    picture = under_the_roof({"NumPy": 5e9, "Numba": 8e9}, 10e9, "read", about="NumPy")
    assert picture.alt.startswith("NumPy: 50% of")


def test_bars_begin_at_zero_and_every_line_stands_at_its_rate():
    axes = under_the_roof({"a": 5e9, "b": 12e9}, 10e9, "copy", {"two thirds": 20e9 / 3}).axes
    assert [bar.get_width() for bar in axes.patches] == [5e9, 12e9]
    assert axes.get_xlim()[0] == 0 and axes.get_xlim()[1] > 12e9
    assert [line.get_xdata()[0] for line in axes.lines] == [20e9 / 3, 10e9]
    assert [line.get_linestyle() for line in axes.lines] == [":", "-"]


def test_no_line_runs_through_the_words_of_another():
    axes = under_the_roof({"a": 5e9}, 10e9, "copy", {"two thirds": 20e9 / 3}).axes
    ends = {line.get_xdata()[0]: line.get_ydata()[1] for line in axes.lines}
    for words in axes.texts:
        rate, height = words.get_position()
        assert all(height < end for other, end in ends.items() if other < rate)


def test_nothing_to_draw_is_said():
    with pytest.raises(ValueError, match="at least one rate"):
        under_the_roof({}, 1e9, "copy")
