"""Hogwild: learning survives the lost updates; where it must not, there is a lock that holds."""

import fcntl
import math

import numpy as np
import pytest

from gpulessons import launch
from gpulessons.workers.hogwild import learn, loss, sparse
from gpulessons.workers.memory import APART, locked

FEATURES, EXAMPLES, RATE, TURNS = 20_000, 120_000, 0.02, 200


@pytest.fixture(scope="module")
def found():
    """Each worker's {world: [with no lock, with one, a count with none, and with one]}."""
    size = {"examples": EXAMPLES, "features": FEATURES, "rate": RATE, "looks": 4}
    learning = [("gpulessons.workers.hogwild", {"lock": lock, **size}) for lock in (False, True)]
    counts = [("counting", {"turns": TURNS, "lock": lock}) for lock in (False, True)]
    return launch("many_worlds", workers=2, patience=60, worlds=[1, 2], jobs=[*learning, *counts])


def reached(found, world, number):
    return found[0][world][number].curve[-1][1]


def test_two_without_locks_reach_the_loss_of_one(found):
    serial = reached(found, 1, 0)
    assert serial < 0.95 * math.log(2)  # it has learned something: a coin has a loss of log 2
    for number in (0, 1):
        assert reached(found, 2, number) == pytest.approx(serial, rel=0.03)


def test_one_worker_alone_is_plain_stochastic_gradient_descent(found):
    places, labels = sparse(2_000, 1, FEATURES)
    weights, clock, due = np.zeros(FEATURES), np.zeros(APART, np.int64), np.zeros(FEATURES)
    assert learn(weights, clock, 0, places, labels, RATE) == 0  # nobody else, nothing is stale
    for place, label in zip(places, labels, strict=True):
        np.add.at(due, place, RATE * label / (1 + np.exp(label * due[place].sum())))
    assert clock[0] == 2_000
    np.testing.assert_allclose(weights, due, rtol=1e-9, atol=1e-12)
    assert loss(weights, places, labels) < math.log(2)


def test_everybody_takes_a_share_and_sees_the_others_writing(found):
    assert [worker[2][0].updates for worker in found] == [EXAMPLES // 2] * 2
    assert found[0][1][0].staleness == 0
    assert found[0][2][1].staleness == 0  # under a lock nobody writes in between
    curve = found[0][2][0].curve
    assert [at for at, _ in curve] == sorted(at for at, _ in curve)
    assert found[0][2][0].counts[-1] == EXAMPLES
    assert found[1][2][0].curve == ()


def test_additions_are_lost_without_a_lock_and_none_with_it(found):
    assert found[0][2][2] < 2 * TURNS
    assert [worker[2][3] for worker in found] == [2 * TURNS] * 2


def test_a_lock_lets_one_in_at_a_time(tmp_path):
    class Here:
        folder = tmp_path

    one, other = locked(Here), locked(Here)
    with one, pytest.raises(BlockingIOError):
        fcntl.flock(other.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(other.file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # free again
