"""The task with many classes, the race that learns it, and what a step costs."""

import math
from itertools import islice, pairwise

import numpy as np
import pytest

from gpulessons.hardware import budget
from gpulessons.models import many_classes
from gpulessons.models.many_classes import (
    LAYERS,
    RATES,
    Learner,
    Task,
    best_rate,
    crossover,
    race,
    step_times,
    train,
)
from gpulessons.models.outputs.full import Full
from gpulessons.models.outputs.hashed import Hashed
from gpulessons.models.outputs.tree import Tree

TASK = Task(500, contexts=30, groups=7)


# -- The task.


def test_the_classes_are_as_frequent_as_zipf_has_them():
    _, classes = TASK.examples(200_000, seed=0)
    share = np.bincount(classes, minlength=500) / 200_000
    assert (np.abs(share - TASK.frequency) < 5 * (TASK.frequency / 200_000) ** 0.5).all()
    assert TASK.frequency[0] / TASK.frequency[9] == pytest.approx(10)


def test_what_follows_a_context_is_what_the_task_says():
    contexts, classes = TASK.examples(400_000, seed=1)
    for context in (0, 6, 29):
        followed = classes[contexts == context]
        share = np.bincount(followed, minlength=500) / followed.size
        want = TASK.probabilities(context)
        assert want.sum() == pytest.approx(1)
        assert np.abs(share - want).max() < 5 * math.sqrt(want.max() / followed.size)


def test_the_entropy_is_the_mean_loss_of_who_knows_the_probabilities():
    contexts, classes = TASK.examples(200_000, seed=2)
    table = np.array([TASK.probabilities(context) for context in range(30)])
    losses = -np.log(table[contexts, classes])
    assert TASK.loss(contexts, classes) == pytest.approx(losses.mean(), rel=1e-9)
    assert TASK.entropy == pytest.approx(losses.mean(), abs=0.02)
    weight = np.bincount(contexts, minlength=30) / contexts.size
    by_context = -(table * np.log(table)).sum(1)
    assert TASK.entropy == pytest.approx((weight * by_context).sum(), abs=0.02)
    assert TASK.entropy < TASK.blind - 1


def test_one_group_teaches_nothing_beyond_frequency():
    task = Task(100, contexts=5, groups=1)
    assert task.entropy == pytest.approx(task.blind)


def test_the_same_seed_gives_the_same_examples_and_another_others():
    one, same, other = (TASK.examples(50, seed)[1].tolist() for seed in (1, 1, 2))
    assert one == same != other


@pytest.mark.parametrize("groups", [0, 31])
def test_groups_without_a_context_are_refused(groups):
    with pytest.raises(ValueError, match="Groups are 1 to 30"):
        Task(500, contexts=30, groups=groups)


# -- Learning.


@pytest.mark.parametrize("make", LAYERS, ids=lambda make: make.__name__)
def test_every_layer_learns_more_than_frequency_and_none_beats_the_entropy(make):
    *_, last = train(make(500, 32), TASK, RATES[make], steps=1500)
    assert last.steps == 1500 and last.examples == 1500 * 64
    assert TASK.entropy - 0.2 < last.loss < TASK.blind - 0.4


def test_the_looks_are_ever_more_steps_apart_and_end_with_the_last():
    points = list(train(Full(500, 16), TASK, 0.05, steps=100))
    steps = [point.steps for point in points]
    assert steps[0] == 0 and steps[-1] == 100
    gaps = [b - a for a, b in pairwise(steps)]
    assert gaps[:-1] == sorted(gaps[:-1])
    assert all(b.seconds > a.seconds for a, b in pairwise(points))


def test_the_same_seed_learns_along_the_same_curve():
    one, same = ([p.loss for p in train(Full(500, 16), TASK, 0.05, steps=40)] for _ in range(2))
    assert one == pytest.approx(same, rel=1e-4)


def test_a_training_that_is_stopped_keeps_what_it_measured():
    points = list(islice(train(Tree(500, 16), TASK, 0.05, steps=10**9), 8))
    assert len(points) == 8


def test_it_ends_after_its_seconds_and_sooner_under_the_budget(monkeypatch):
    ticks = iter(range(10**6))
    monkeypatch.setattr(many_classes, "perf_counter", lambda: float(next(ticks)))
    *_, last = train(Full(500, 16), TASK, 0.05, seconds=25)
    assert last.steps == 25
    monkeypatch.setenv(budget.NAME, "4")
    *_, last = train(Full(500, 16), TASK, 0.05, seconds=25)
    assert last.steps == 4


def test_looks_at_held_out_examples_are_not_on_the_clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(many_classes, "perf_counter", lambda: now[0])
    step, loss = Learner.step, Learner.loss

    def slow(method, seconds):
        def call(self, *arguments):
            now[0] += seconds
            return method(self, *arguments)

        return call

    monkeypatch.setattr(Learner, "step", slow(step, 1))
    monkeypatch.setattr(Learner, "loss", slow(loss, 1000))
    *_, last = train(Full(500, 16), TASK, 0.05, steps=12)
    assert last.seconds == 12


def test_a_rate_far_too_high_ends_it_with_a_loss_of_infinity():
    with np.errstate(all="ignore"):
        *_, last = train(Full(500, 16), TASK, 1e20, steps=200)
    assert last.loss == math.inf and last.steps < 200


def test_a_layer_of_other_classes_is_refused():
    with pytest.raises(ValueError, match="500 classes, the layer 400"):
        next(train(Full(400, 16), TASK, 0.1))


def test_the_race_tells_of_every_layer_how_far_it_is(monkeypatch):
    monkeypatch.setenv(budget.NAME, "0.01")
    told, names = [], []
    for name, _ in race(TASK, tell=lambda *words: told.append(words)):
        names.append(name)
    assert list(dict.fromkeys(names)) == [make.name for make in LAYERS]
    assert [done for done, *_ in told] == sorted(done for done, *_ in told)
    assert told[-1][:2] == (500, 500)


def test_a_race_by_steps_gives_every_layer_as_many():
    ends = {name: point.steps for name, point in race(TASK, (Full, Tree), steps=7)}
    assert ends == {"full softmax": 7, "hierarchical softmax": 7}


def test_the_best_rate_is_that_which_ends_lowest(monkeypatch):
    monkeypatch.setattr(
        many_classes, "train",
        lambda layer, task, rate, seconds, seed: iter(
            [many_classes.Point(1, 1.0, 1, abs(rate - 0.1) if rate < 1 else math.nan)]
        ),
    )  # fmt: skip
    assert best_rate(Full, TASK, rates=(0.01, 0.09, 0.3, 2)) == 0.09


# -- What a step costs.


def test_every_layer_is_timed_at_every_number_of_classes(monkeypatch):
    monkeypatch.setenv(budget.NAME, "0.001")
    told = []
    tell = lambda *words: told.append(words)  # noqa: E731
    times = list(step_times((100, 300), columns=16, batch=4, tell=tell))
    assert [(t.classes, t.layer) for t in times] == [
        (n, make.name) for n in (100, 300) for make in LAYERS
    ]
    assert all(t.spread.median > 0 and t.nbytes > 0 for t in times)
    assert [done for done, *_ in told] == list(range(1, told[-1][1] + 1))
    by_size = {(t.layer, t.classes): t.nbytes for t in times}
    assert by_size["full softmax", 300] == 4 * 300 * (16 + 1)


def test_rebuilding_is_shared_out_among_the_steps(monkeypatch):
    rebuild = Hashed.rebuild

    class Spread:
        def __init__(self, median):
            self.median = median

        def plus(self, more):
            return Spread(self.median + more)

    def alternate(calls, seconds, tell):
        before, step = len(rebuilt), calls["hashed softmax"]
        for _ in range(250):
            step()
        assert len(rebuilt) == before, "a step rebuilt the tables while it was timed"
        return [(name, Spread(50.0 if "rebuilding" in name else 1.0)) for name in calls]

    rebuilt = []
    monkeypatch.setattr(Hashed, "rebuild", lambda self: rebuilt.append(1) or rebuild(self))
    monkeypatch.setattr(many_classes, "alternate", alternate)
    full, hashed = step_times((100,), (Full, Hashed))
    assert full.spread.median == 1.0
    assert hashed.spread.median == 1 + 50 / Hashed(100, 8).every


def test_what_was_measured_before_ctrl_c_is_kept(monkeypatch):
    def alternate(calls, seconds, tell):
        yield next(iter(calls)), "a spread"
        raise KeyboardInterrupt

    monkeypatch.setattr(many_classes, "alternate", alternate)
    monkeypatch.setattr(many_classes, "entries", lambda made, spreads, shares: list(spreads))
    kept = []
    with pytest.raises(KeyboardInterrupt):
        for one in step_times((100,), (Full, Tree)):
            kept.append(one)
    assert kept == ["full softmax"]


def test_layers_that_would_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr(many_classes, "free_memory", lambda: 10**6)
    with pytest.raises(ValueError, match="Take fewer classes"):
        next(step_times((100_000,)))


def test_the_crossover_lies_on_lines_between_logarithms():
    full = {1000: 1.0, 10_000: 10.0, 100_000: 100.0}
    assert crossover(full, dict.fromkeys(full, 10.0)) == pytest.approx(10_000)
    assert crossover(full, dict.fromkeys(full, 1000**0.5)) == pytest.approx(10_000 * 10**0.5)
    assert crossover(full, dict.fromkeys(full, 1000.0)) is None
    assert crossover(full, dict.fromkeys(full, 0.5)) == 1000
    assert crossover(full, {}) is None
    last = {1000: 0.5, 10_000: 20.0, 100_000: 5.0}  # ahead, behind, ahead
    assert 10_000 < crossover(full, last) < 100_000
