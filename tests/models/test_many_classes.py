"""The task with many classes, the race that learns it, and what a step costs."""

import math

import numpy as np
import pytest

from gpulessons.models import many_classes
from gpulessons.models.many_classes import LAYERS, Task, crossover, race, step_times, train
from gpulessons.models.outputs.full import Full
from gpulessons.models.outputs.tree import Tree

TASK = Task(500, contexts=30, groups=7)


def probabilities(context):
    """Of each class after this context: its group's share of the own part, and of the rest."""
    own = np.arange(500) % 7 == context % 7
    return TASK.frequency * (0.9 / TASK.frequency[own].sum() * own + 0.1)


def test_classes_are_frequent_as_zipf_and_follow_a_context_as_the_task_says():
    contexts, classes = TASK.examples(400_000, seed=1)
    share = np.bincount(classes, minlength=500) / 400_000
    assert (np.abs(share - TASK.frequency) < 5 * (TASK.frequency / 400_000) ** 0.5).all()
    assert TASK.frequency[0] / TASK.frequency[9] == pytest.approx(10)
    for context in (0, 6, 29):
        followed = classes[contexts == context]
        share = np.bincount(followed, minlength=500) / followed.size
        want = probabilities(context)
        assert want.sum() == pytest.approx(1)
        assert np.abs(share - want).max() < 5 * math.sqrt(want.max() / followed.size)
    every = [probabilities(context) for context in range(7)]
    shares = [TASK.frequency[group::7].sum() for group in range(7)]
    entropy = -sum(share * (p * np.log(p)).sum() for share, p in zip(shares, every, strict=True))
    assert TASK.entropy == pytest.approx(entropy)
    again, others = (TASK.examples(9, seed=seed) for seed in (1, 2))
    assert np.array_equal(again, TASK.examples(9, seed=1)) and not np.array_equal(again, others)


@pytest.mark.nightly
@pytest.mark.parametrize("make", LAYERS)
def test_every_layer_learns_more_than_frequency_and_none_beats_the_entropy(make):
    curve = list(train(make(500, 24), TASK, math.inf, steps=400, rate=0.1))
    held = np.mean([-np.log(probabilities(context)[label])
                    for context, label in zip(*TASK.examples(1000, seed=0), strict=True)])
    assert [point.steps for point in curve][:4] == [0, 1, 2, 4 - 1]
    assert curve[-1].steps == 400
    assert held < curve[-1].loss < TASK.blind - 0.3 < curve[0].loss
    again = list(train(make(500, 24), TASK, math.inf, steps=400, rate=0.1))
    assert curve[-1].loss == pytest.approx(again[-1].loss, rel=1e-3)


def test_a_race_gives_every_layer_its_turn_and_tells_how_far_it_is():
    told = []
    curves = {}
    for name, point in race(TASK, seconds=0.001, advance=lambda *step: told.append(step)):
        curves.setdefault(name, []).append(point)
    assert list(curves) == [make.name for make in LAYERS]
    assert all(curve[0].steps == 0 < curve[-1].steps for curve in curves.values())
    assert all(curve[-1].seconds >= 0.001 for curve in curves.values())
    assert [done for done, *_ in told] == sorted(done for done, *_ in told)
    assert told[-1] == (300, 300, Tree.name)


def test_every_layer_is_timed_at_every_number_of_classes_that_fits(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    told = []
    rows = list(step_times((200, 50), (Full, Tree), columns=8, batch=4,
                           advance=lambda *step: told.append(step)))  # fmt: skip
    assert [(row.layer, row.classes) for row in rows] == [
        (make.name, classes) for classes in (50, 200) for make in (Full, Tree)
    ]
    assert all(row.spread.median > 0 and row.nbytes > 0 for row in rows)
    assert told == [(1, 2, "50 classes"), (2, 2, "200 classes")]
    monkeypatch.setattr(many_classes, "free_memory", lambda: 1000)
    with pytest.raises(ValueError, match="Take fewer classes"):
        list(step_times((200,), (Tree,)))


def test_the_crossover_lies_on_lines_between_logarithms():
    line = {n: n * 1e-6 for n in (10, 100, 1000)}
    assert crossover(line, dict.fromkeys(line, 1e-4)) == pytest.approx(100)
    assert crossover(line, dict.fromkeys(line, 3e-5)) == pytest.approx(30)
    assert crossover(line, dict.fromkeys(line, 1e-9)) == 10
    assert crossover(line, dict.fromkeys(line, 1.0)) is None and crossover({}, {}) is None
