"""Pictures of divided work: the shares they name are those of the tasks they are given."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpulessons.illustrations import pipeline as draw
from gpulessons.workers import bubble, simulate


def test_a_timetable_says_how_long_the_stages_wait_and_what_each_does_in_order():
    runs = {name: simulate(name, 2, 4) for name in ("GPipe", "1F1B")}
    told = draw.gantt(runs).alt
    assert "wait? GPipe: 20%; 1F1B: 20%." in told  # (2 − 1) / (4 + 2 − 1)
    assert "GPipe, stage 0: F0 F1 F2 F3 B0 B1 B2 B3;" in told
    assert "1F1B, stage 0: F0 F1 B0 F2 B1 F3 B2 B3; stage 1: F0 B0 F1 B1 F2 B2 F3 B3." in told


def test_useful_work_is_the_least_that_one_needs_of_all_workers_time():
    alone, piped = {1: 1.0, 4: 1.2}, {"GPipe": {1: 1.1, 4: 0.7}, "1F1B": {1: 1.0, 4: 0.8}}
    told = draw.efficiency(alone, piped, bubble).alt
    assert told.startswith("2 workers do 71% useful work at best, 1.43× the quickest single "
                           "process, with GPipe at M = 4.")  # fmt: skip
    assert "GPipe with 1: 45%; GPipe with 4: 71%; 1F1B with 1: 50%; 1F1B with 4: 62%." in told


def test_a_map_says_what_share_of_it_each_way_wins():
    batches, widths = [1, 2, 4, 8, 16], [10, 100]
    models = {"steady": lambda batch, width: 3, "growing": lambda batch, width: batch}
    told = draw.winners(models, batches, widths).alt
    assert "steady 60%, growing 40%, a close call 0%." in told


def test_a_lead_of_less_than_a_tenth_is_a_close_call_and_what_fits_nowhere_wins_nothing():
    models = {"steady": lambda batch, width: 1 if width < 100 else math.inf,
              "other": lambda batch, width: batch if width < 100 else math.inf}  # fmt: skip
    told = draw.winners(models, [0.5, 1.05], [10, 100]).alt
    assert "steady 0%, other 25%, a close call 25%, nothing fits 50%." in told


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6))
def test_percents_of_a_whole_add_up_to_100_and_are_off_by_less_than_one(parts):
    found = draw.percents([part / sum(parts) for part in parts])
    assert sum(found) == 100
    assert all(abs(n - 100 * part / sum(parts)) < 1 for n, part in zip(found, parts, strict=True))


def test_every_block_that_has_room_is_numbered_forward_and_backward():
    axes = draw.gantt({"slow": simulate("1F1B", 4, 8, pace=[1, 1, 2, 1])}).axes
    assert sorted(text.get_text() for text in axes.texts) == sorted(8 * list("01234567"))


def test_two_cut_layers_are_told_by_each_workers_part_and_their_sum():
    x, a, b = np.array([[1, 2]]), np.array([[1, 0, -1, 2], [0, 1, 1, -3]]), np.ones((4, 2), int)
    told = draw.cut_layers(x, a, b).alt
    assert "a part of the result: [3 3] + [1 1]. Their sum: [4 4]." in told


def test_a_name_stands_where_its_region_is_widest():
    mask = np.zeros((9, 12), bool)
    mask[1:4, :] = True
    assert draw.middle(mask)[0] == 2
    mask[1:8, 4:11] = True
    assert draw.middle(mask) == (4, 7)


@pytest.mark.parametrize("place", [(0, 0), (2, 3)])
def test_a_region_of_one_place_is_named_there(place):
    mask = np.zeros((3, 4), bool)
    mask[place] = True
    assert draw.middle(mask) == place
