"""Meeting seldom: the meeting is the exercise's, and meeting at every step is synchronous SGD."""

import numpy as np

from gpulessons.exercises import outer_step
from gpulessons.exercises.asking import solved
from gpulessons.workers import seldom


def mean(common, own, velocity):
    return own.mean(axis=0), velocity


def test_diloco_meets_as_the_learner_has_written():
    common, velocity, *own = np.random.default_rng(0).normal(size=(6, 9))
    for ours, theirs in zip(
        seldom.nesterov(common, np.stack(own), velocity),
        solved(outer_step.text)(common, np.stack(own), velocity), strict=True,
    ):  # fmt: skip
        np.testing.assert_allclose(ours, theirs)


def test_meeting_at_every_step_is_one_worker_with_the_whole_batch_and_seldom_is_not():
    rng, (x, labels) = np.random.default_rng(0), seldom.data()[0]
    start, some = seldom.first(0)[None, None], rng.integers(0, len(x), (1, 4, 16))
    apart = np.repeat(start, 4, axis=1) - 0.1 * seldom.gradient(
        np.repeat(start, 4, axis=1), x[some], labels[some])  # fmt: skip
    whole = some.reshape(1, 1, 64)
    together = start - 0.1 * seldom.gradient(start, x[whole], labels[whole])
    np.testing.assert_allclose(apart.mean(axis=1), together[:, 0], rtol=1e-6, atol=1e-9)
    often, rare = (seldom.train(mean, every, 0.2, steps=60, own_classes=True) for every in (1, 60))
    assert (often < rare).all()
