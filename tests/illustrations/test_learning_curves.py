"""Time to equal loss, and the pictures that say it."""

import math
from dataclasses import dataclass

import pytest

from gpulessons.illustrations import learning_curves
from gpulessons.illustrations.learning_curves import goal, reached

CURVE = ((0.0, 1.0), (2.0, 0.6), (4.0, 0.2), (6.0, 0.3))


@dataclass(frozen=True)
class Run:
    curve: tuple
    by_updates: tuple


@pytest.mark.parametrize(
    ("target", "at"), [(1.0, 0), (0.8, 1), (0.6, 2), (0.3, 3.5), (0.2, 4), (0.19, math.inf)]
)
def test_the_time_to_a_loss_lies_on_the_line_between_two_looks(target, at):
    assert reached(CURVE, target) == pytest.approx(at)


def test_a_run_that_begins_below_the_target_is_there_at_once():
    assert reached(((0.5, 0.1), (1.0, 0.05)), 0.2) == 0.5


def test_the_goal_is_one_that_every_run_reaches():
    slow = tuple((2 * at, loss + 0.1) for at, loss in CURVE)
    target = goal([Run(CURVE, CURVE), Run(slow, slow)])
    assert target == pytest.approx(1 - 0.8 * (1 - 0.4))
    assert reached(slow, target) < math.inf


def test_twice_the_pace_takes_half_the_time_in_the_title():
    fast = tuple((at / 2, loss) for at, loss in CURVE)
    runs = {"1 process": Run(CURVE, CURVE), "2 processes": Run(fast, CURVE)}
    assert "1 process, 2.8 s; 2 processes, 1.4 s" in learning_curves.curves(runs).alt


@dataclass(frozen=True)
class Lost:
    lost: float


def test_the_picture_of_lost_additions_names_the_fewest_and_the_most_cells():
    picture = learning_curves.lost_shares({1: Lost(0.25), 16: Lost(0.01), "apart": Lost(0.0)})
    assert "Of all additions to one cell, 25% vanish" in picture.alt
    assert "16 cells: 1%" in picture.alt
    nearly = learning_curves.lost_shares({1: Lost(0.999), 16: Lost(0.00012)})
    assert "one cell, 100% vanish; of those to 16 cells, 0.012%" in nearly.alt


@pytest.mark.parametrize(
    ("values", "word"),
    [
        *[([0, 2.9, 3], "arrives"), ([0, 9, 1], "under way"), ([0, 9, -9], "thrown out")],
        *[([3], "arrives"), ([0], "under way")],
    ],
)
def test_a_descent_says_how_it_ends(values, word):
    assert word in learning_curves.descent(values, goal=3).alt


def test_cells_side_by_side_share_a_line_and_those_apart_do_not():
    side_by_side, apart = learning_curves.cache_lines(apart=16, line=8).figure.axes
    at = [[int(text.get_position()[0]) for text in axes.texts if text.get_text()]
          for axes in (side_by_side, apart)]  # fmt: skip
    assert [[cell // 8 for cell in cells] for cells in at] == [[0, 0], [0, 2]]


def test_a_picture_of_turns_counts_who_added_and_says_what_is_left():
    history = [("A", "reads 0", 0), ("B", "reads 0", 0), ("A", "writes 1", 1), ("B", "writes 1", 1)]
    assert "2 workers add one each. The cell holds 1." in learning_curves.turns(history).alt
