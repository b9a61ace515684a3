"""The picture of waves deals blocks out as a GPU does, and counts what it draws."""

from itertools import pairwise

import pytest

from gpulessons.illustrations import waves

M = waves.MULTIPROCESSORS


@pytest.mark.parametrize("resident", [1, 4])
@pytest.mark.parametrize("blocks", [1, M, M + 1, 4 * M, 4 * M + 1, 50])
def test_every_block_runs_once_and_no_place_holds_two(blocks, resident):
    runs = waves.placed(blocks, resident)
    assert len(runs) == blocks
    for m in range(M):
        for place in range(resident):
            times = sorted((start, stop) for a, b, start, stop in runs if (a, b) == (m, place))
            assert all(one[1] <= other[0] for one, other in pairwise(times))


@pytest.mark.parametrize("resident", [1, 4])
def test_one_block_more_than_fits_costs_a_part_of_a_wave(resident):
    end = max(stop for *_, stop in waves.placed(M * resident + 1, resident))
    assert end == 1 + 1 / resident


def test_the_title_says_how_much_of_the_time_is_used():
    assert "the time of 2 waves, 56% of it used" in waves.waves(M + 1, 1).alt
    assert "the time of 1 wave, 100% of it used" in waves.waves(4 * M, 4).alt


def test_what_ends_last_is_counted():
    assert "1 of them ends last" in waves.waves(M + 1, 1).alt
