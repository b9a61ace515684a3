"""The timeline of transfers: steps follow each other, and take what their figures say."""

from itertools import pairwise

import pytest

from gpulessons.illustrations import transfers


def test_steps_follow_each_other_without_a_gap():
    row = transfers.steps(1000, [1, 1, 2], "pinned")
    assert [step.what for step in row] == [
        *["to_device", "kernel", "copy_to_host"] * 2,
        "to_device", "kernel", "kernel", "copy_to_host",
    ]  # fmt: skip
    assert row[0].start == 0
    assert all(b.start == a.end for a, b in pairwise(row))


def test_each_step_takes_its_bytes_over_its_rate():
    there, kernel, back = transfers.steps(1_000_000, [1], "pageable")
    assert there.seconds == pytest.approx(4e6 / 10.0e9)
    assert back.seconds == pytest.approx(4e6 / 10.8e9)
    assert kernel.seconds == pytest.approx(transfers.LAUNCH + 8e6 / (1555e9 * 0.89))


def test_data_that_stay_save_all_but_one_round_trip():
    apart, stay = (transfers.steps(10_000, trips, "pageable") for trips in ([1] * 10, [10]))
    both = sum(step.seconds for step in stay if step.what != "kernel")
    assert apart[-1].end - stay[-1].end == pytest.approx(9 * both)


def test_the_title_says_what_is_saved():
    picture = transfers.timeline(921_600, 10)
    assert repr(picture).startswith(
        "10 layers: data that stay on the GPU save 89%, and pinned as well 95%. 921,600 numbers."
    )
    assert "Modelled for an A100 of 40 GB on the link of a DGX, not measured." in repr(picture)
    assert "nothing to save by staying" in repr(transfers.timeline(100, 1))


def test_four_rows_are_drawn_each_as_long_as_its_steps():
    picture = transfers.timeline(1000, 3)
    totals = [text.get_text() for text in picture.axes.texts]
    ends = [transfers.steps(1000, trips, memory)[-1].end
            for memory in transfers.LINKS for trips in ([1] * 3, [3])]  # fmt: skip
    assert totals == [transfers.units.seconds(end) for end in ends]
    assert len(picture.axes.collections) == 4 * 3


def test_each_figure_names_its_source():
    table = transfers.figures()
    assert all(all(row) for row in table.rows)
    assert {row[2] for row in table.rows} == {"published", "assumed"}


@pytest.mark.parametrize("asked", [(0, 1), (1, 0)])
def test_nothing_has_no_timeline(asked):
    with pytest.raises(ValueError, match="at least"):
        transfers.timeline(*asked)
