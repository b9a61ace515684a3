"""Hogwild: learning survives the lost updates; where it must not, there is a lock that holds."""

import fcntl
import math

import numpy as np
import pytest

from gpulessons import launch
from gpulessons.workers.memory import APART, locked
from gpulessons.workers.programs.hogwild import (
    ALONE,
    ATOMIC,
    FREE,
    LOCKED,
    OLD,
    SEPARATE,
    Ran,
    at_the_end,
    doubts,
    gains,
    learn,
    loss,
    middle,
    quickest,
    sparse,
)

FEATURES, EXAMPLES, RATE, TURNS = 20_000, 120_000, 0.02, 200


@pytest.fixture(scope="module")
def found():
    """Of each worker: [{way: two rounds}, a count without a lock, and one with it]."""
    size = {"examples": EXAMPLES, "features": FEATURES, "rate": RATE, "rounds": 2}
    counts = [("counting", {"turns": TURNS, "lock": lock}) for lock in (False, True)]
    jobs = [("gpulessons.workers.programs.hogwild", size), *counts]
    return [each[2] for each in launch("many_worlds", 2, worlds=[2], jobs=jobs)]


def test_two_without_locks_reach_the_loss_of_one(found):
    rounds = found[0][0]
    serial = rounds[ALONE][0].curve[-1][1]
    assert serial < 0.95 * math.log(2)  # it has learned something: a coin has a loss of log 2
    for way in (ALONE, FREE, ATOMIC, LOCKED):
        for ran in rounds[way]:  # every round begins anew
            assert ran.curve[0][1] == pytest.approx(math.log(2))
            assert ran.curve[-1][1] == pytest.approx(serial, rel=0.03)


@pytest.mark.parametrize("atomic", [False, True])
def test_one_worker_alone_is_plain_stochastic_gradient_descent(atomic):
    places, labels = sparse(2_000, 1, FEATURES)
    weights, clock, due = np.zeros(FEATURES), np.zeros(APART, np.int64), np.zeros(FEATURES)
    assert learn(weights, clock, 0, places, labels, RATE, atomic) == 0  # nobody else: not stale
    for place, label in zip(places, labels, strict=True):
        np.add.at(due, place, RATE * label / (1 + np.exp(label * due[place].sum())))
    assert clock[0] == 2_000
    np.testing.assert_allclose(weights, due, rtol=1e-9, atol=1e-12)
    assert loss(weights, places, labels) < math.log(2)


def test_everybody_takes_a_share_and_sees_the_others_writing(found):
    first, second = (each[0] for each in found)
    for way in (SEPARATE, FREE, ATOMIC, LOCKED):
        assert [each[way][1].updates for each in (first, second)] == [EXAMPLES // 2] * 2
    assert [each[ALONE][1].updates for each in (first, second)] == [EXAMPLES, 0]
    for way in (ALONE, LOCKED):  # alone, or under a lock, nobody writes in between
        assert [(ran.staleness, ran.old) for ran in first[way]] == [(0, 0)] * 2
    assert first[SEPARATE][0].curve[-1][1] > first[FREE][0].curve[-1][1]  # half of the examples
    for ran in (*first[FREE], *second[ATOMIC]):  # a share, and those beyond ten make the mean
        assert 0 <= ran.old <= 1 and ran.staleness >= OLD * ran.old
    curve = first[FREE][0].curve
    assert [at for at, _ in curve] == sorted(at for at, _ in curve)
    assert first[FREE][0].counts[-1] == EXAMPLES
    assert second[FREE][0].curve == ()


def test_the_quickest_round_of_each_way_is_chosen():
    slow, fast = (Ran(1, seconds, 0.0, ()) for seconds in (2.0, 1.0))
    assert quickest({FREE: (slow, fast), LOCKED: (slow,)}) == {FREE: fast, LOCKED: slow}


def test_gains_that_cores_cannot_give_or_that_the_whole_run_lacks_allow_no_verdict():
    def ran(target, end):
        return Ran(1, end, 0.0, ((0.0, 1.0), (target, 0.5), (end, 0.49)))

    steady = {ALONE: (ran(1.0, 2.0),) * 3, FREE: (ran(0.6, 1.2),) * 3}
    assert at_the_end(steady) == pytest.approx([2 / 1.2] * 3)
    assert doubts(steady) == []
    held_up = {ALONE: (*steady[ALONE][:2], ran(3.0, 6.0)), FREE: steady[FREE]}
    assert "2 of 6 gains are above 2.2" in doubts(held_up)[0]
    changed = {ALONE: steady[ALONE], FREE: (ran(0.6, 2.0),) * 3}
    assert "sooner, through all 1.00: a worker may" in doubts(changed)[0]


def test_the_round_in_the_middle_is_the_one_with_the_median_gain():
    def ran(seconds):
        return Ran(1, seconds, 0.0, ((0.0, 1.0), (seconds, 0.5)))

    found = {ALONE: tuple(map(ran, (2.0, 4.0, 6.0))), FREE: tuple(map(ran, (4.0, 1.0, 3.0)))}
    assert gains(found) == pytest.approx([0.5, 4, 2])
    assert middle(gains(found)) == 2
    assert middle([3.0]) == 0 and middle([2.0, 1.0]) == 0


def test_additions_are_lost_without_a_lock_and_none_with_it(found):
    assert found[0][1] < 2 * TURNS
    assert [each[2] for each in found] == [2 * TURNS] * 2


def test_a_lock_lets_one_in_at_a_time(tmp_path):
    class Here:
        folder = tmp_path

    one, other = locked(Here), locked(Here)
    with one, pytest.raises(BlockingIOError):
        fcntl.flock(other.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(other.file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # free again
