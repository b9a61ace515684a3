"""What the pictures of output layers say: who is ahead, from where, and what was not drawn."""

import math
from dataclasses import dataclass

import pytest

from gpulessons.illustrations import many_classes
from gpulessons.models.many_classes import Point, crossover


@dataclass(frozen=True)
class Spread:
    median: float

    @property
    def quartiles(self):
        return 0.9 * self.median, 1.1 * self.median


@dataclass(frozen=True)
class Entry:
    layer: str
    classes: int
    spread: Spread
    nbytes: int


def entries(tree=1e-3):
    numbers = 1_000, 10_000, 100_000
    full = [Entry("full softmax", n, Spread(1e-6 * n), 256 * n) for n in numbers]
    return full + [Entry("hierarchical softmax", n, Spread(tree), 300 * n) for n in numbers]


def test_the_crossover_is_in_the_title_and_marked():
    picture = many_classes.cost_against_classes(entries(tree=3e-3), crossover)
    assert "quicker from 3,000 classes on: 33.3× at 100,000 classes." in picture.alt
    (line,) = [line for line in picture.axes.lines if line.get_linestyle() == ":"]
    assert line.get_xdata()[0] == pytest.approx(3000)
    assert "full softmax: 1 ms at 1,000, 10 ms at 10,000" in picture.alt
    assert picture.axes.get_xscale() == picture.axes.get_yscale() == "log"


def test_without_a_crossover_it_says_who_is_slower():
    picture = many_classes.cost_against_classes(entries(tree=1.0), crossover)
    assert "still takes 10× that of the full softmax" in picture.alt
    assert not [line for line in picture.axes.lines if line.get_linestyle() == ":"]


def test_ahead_everywhere_is_said_so_and_needs_no_mark():
    picture = many_classes.cost_against_classes(entries(tree=1e-6), crossover, note="rough")
    assert "quicker at every size" in picture.alt and picture.alt.endswith("rough")
    assert not [line for line in picture.axes.lines if line.get_linestyle() == ":"]


def test_where_the_samples_overlap_nobody_is_quicker():
    picture = many_classes.cost_against_classes(entries(tree=0.095), crossover)
    assert "too close to tell who is quicker" in picture.alt and "×" not in picture.alt


def test_layers_of_other_names_are_drawn_too():
    only = [entry for entry in entries() if entry.layer == "full softmax"]
    assert "What a training step costs" in many_classes.cost_against_classes(only, crossover).alt


RUNS = {
    "thorough": [Point(0, 0.0, 0, 8.0), Point(50, 1.0, 3200, 5.0), Point(100, 2.0, 6400, 4.0)],
    "quick": [Point(0, 0.0, 0, 8.0), Point(100, 0.1, 6400, 6.0), Point(2000, 2.0, 128000, 3.5)],
    "wild": [Point(0, 0.0, 0, 8.0), Point(3, 0.1, 192, math.inf)],
}


def test_who_is_lowest_per_step_and_per_second_is_said():
    picture = many_classes.losses(RUNS, floor=3.0, blind=6.6)
    assert "after equal steps: the thorough; after equal seconds: the quick." in picture.alt
    names = [text.get_text() for axes in picture.figure.axes for text in axes.texts]
    assert {"thorough", "quick"} <= set(names) and "wild" not in names
    assert "not drawn, as it did not learn: wild" in picture.alt
    assert "thorough: 4.00 after 100 steps in 2 s" in picture.alt
    left, right = picture.figure.axes
    for axes in (left, right):
        assert 3.0 in [line.get_ydata()[0] for line in axes.lines]
    assert right.get_xscale() == "linear" and left.get_xscale() == "log"


def test_the_loss_between_two_points_lies_on_the_line():
    assert many_classes.loss_at(RUNS["thorough"], lambda p: p.steps, 75) == pytest.approx(4.5)
    assert many_classes.loss_at(RUNS["thorough"], lambda p: p.steps, 1000) == 4.0


def flat(loss, steps=100):
    return [Point(0, 0.0, 0, 8.0), Point(steps, 1.0, 64 * steps, loss)]


def test_a_lead_within_noise_names_no_winner():
    runs = {"full softmax": flat(4.02), "sampled softmax": flat(4.0), "tree softmax": flat(5.0)}
    alt = many_classes.losses(runs, floor=3.0).alt
    both = "sampled and full softmax within 0.05 nats"
    assert alt.startswith(f"Lowest loss after equal steps and after equal seconds: {both}.")
    runs["full softmax"] = flat(4.06)
    alone = many_classes.losses(runs, floor=3.0).alt
    assert alone.startswith("Lowest loss after equal steps and after equal seconds: the sampled s")


def test_the_ratio_is_written_at_the_most_classes_and_at_100_000():
    more = [Entry("full softmax", 10**6, Spread(1.0), 1), Entry("tree", 10**6, Spread(2e-3), 1)]
    times = [*entries(), *more, *(Entry("tree", n, Spread(1e-3), 1) for n in (1000, 10**5))]
    picture = many_classes.cost_against_classes(times, crossover, rival="tree")
    assert {"100×", "500×"} <= {text.get_text() for text in picture.axes.texts}
    close = many_classes.cost_against_classes(entries(tree=0.09), crossover)
    assert not [text for text in close.axes.texts if "×" in text.get_text()]


def test_nothing_learned_is_no_error():
    assert "Nothing has been learned" in many_classes.losses({}, 3.0).alt
