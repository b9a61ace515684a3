"""A table here, a network there: the same steps wherever that is, and nobody waits forever."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from gpulessons.models import hybrid
from gpulessons.models.hybrid import measure, problem
from gpulessons.models.placement import Step, break_even, largest_rows, step_seconds

pytest.importorskip("torch")
SMALL = {"rows": 50, "width": 8, "examples": 32, "per_example": 3, "batches": 6, "hidden": 16}


@pytest.fixture(scope="module")
def task():
    return problem(**SMALL)


def on_cpu(placement, task, **options):
    return measure(placement, task, device="cpu", **options)


def stages_of(run, batch):
    return [task.stage for task in sorted(run.tasks, key=lambda t: t.start) if task.batch == batch]


def test_who_waits_learns_just_what_one_alone_does(task):
    waits = on_cpu("hybrid", task, waits=True)
    assert hybrid.alone(task, 1)[1] == list(waits.losses) and len(waits.losses) == 6
    np.testing.assert_allclose(hybrid.alone(task, 2)[1], waits.losses, rtol=1e-4)
    np.testing.assert_allclose(on_cpu("all CPU", task).losses, waits.losses, rtol=1e-4)


def test_one_ahead_misses_the_last_update_and_nothing_else():
    shared = problem(**SMALL)
    ahead, waits = (on_cpu("hybrid", shared, waits=waits) for waits in (False, True))
    assert ahead.losses[0] == waits.losses[0]  # nobody has moved anything yet
    assert ahead.losses[1] != waits.losses[1]
    apart = shared.ids[:2] % 25 + np.array([0, 25], np.int32)[:, None, None]  # no row in common
    alone = replace(shared, ids=apart, labels=shared.labels[:2])
    ahead, waits = (on_cpu("hybrid", alone, waits=waits) for waits in (False, True))
    assert ahead.losses == waits.losses
    assert ahead.stale == waits.stale == 0


def test_a_batch_is_gathered_computed_and_updated_in_this_order(task):
    for waits in (True, False):
        run = on_cpu("hybrid", task, waits=waits)
        for batch in range(6):
            assert stages_of(run, batch) == ["gather", "dense", "update"]
        when = {(t.stage, t.batch): t for t in run.tasks}
        for batch in range(1, 6):
            late = when["gather", batch].start >= when["update", batch - 1].stop
            assert late == waits
        assert set(run.medians) == {"gather", "dense", "update"}
        assert run.examples_per_second == pytest.approx(6 * 32 / run.seconds)


def failing(at, error):
    """A dense worker that fails at one batch; the first calls are the warming up."""
    calls = []

    def dense(*arguments):
        calls.append(threading.current_thread())
        if len(calls) == at + 2:
            raise error
        return hybrid_dense(*arguments)

    return dense


hybrid_dense = hybrid.dense_on_cpu


@pytest.mark.parametrize("waits", [True, False])
def test_what_goes_wrong_in_the_other_thread_is_raised_here(task, waits, monkeypatch):
    before = set(threading.enumerate())
    monkeypatch.setattr(hybrid, "dense_on_cpu", failing(3, ArithmeticError("batch three")))
    with pytest.raises(ArithmeticError, match="batch three"):
        on_cpu("hybrid", task, waits=waits)
    assert set(threading.enumerate()) <= before


def test_what_cannot_be_is_refused_in_a_sentence(task):
    with pytest.raises(ValueError, match="all CPU, all GPU, hybrid, not 'cloud'"):
        measure("cloud", task)
    with pytest.raises(ValueError, match="no GPU here for the table"):
        on_cpu("all GPU", task)
    with pytest.raises(ValueError, match="at least 1"):
        problem(rows=0)
    wild = replace(task, ids=task.ids + 49)
    with pytest.raises(ValueError, match="is no row of a table with 50 rows"):
        on_cpu("hybrid", wild)


# -- The model.

STEP = Step(
    rows=1e6, width=10, per_example=5, examples=100, hot=0.5, cpu_bandwidth=1e9, cpu_flops=1e9,
    gpu_bandwidth=1e10, gpu_flops=1e11, gpu_memory=4 * 11 * 2e6, link_bandwidth=1e8,
    link_latency=1e-5, flops=1e4,
)  # fmt: skip


def test_the_model_adds_up_as_by_hand():
    took = step_seconds(STEP)
    rows = 3 * 100 * 5 * 0.5 * 40  # bytes
    assert took["all CPU"] == pytest.approx(rows / 1e9 + 1e6 / 1e9)
    assert took["all GPU"] == pytest.approx(1e-5 + 4 * 500 / 1e8 + rows / 1e10 + 1e6 / 1e11)
    away = 2 * (1e-5 + 4000 / 1e8) + 1e6 / 1e11
    assert took["hybrid"] == pytest.approx(away) and away > rows / 1e9
    slow = step_seconds(replace(STEP, cpu_bandwidth=1e6))["hybrid"]  # the table's side is slower
    assert slow == pytest.approx(rows / 1e6)


def test_a_table_that_does_not_fit_ends_all_gpu_and_nothing_else():
    assert largest_rows(STEP) == 2_000_000
    just, over = (step_seconds(replace(STEP, rows=n)) for n in (2_000_000, 2_000_001))
    assert np.isfinite(just["all GPU"]) and over["all GPU"] == np.inf
    assert just["hybrid"] == over["hybrid"]


def test_at_the_break_even_hybrid_and_all_cpu_take_the_same():
    link = break_even(STEP)
    took = step_seconds(replace(STEP, link_bandwidth=link))
    assert took["hybrid"] == pytest.approx(took["all CPU"])
    faster = step_seconds(replace(STEP, link_bandwidth=2 * link))
    assert faster["hybrid"] < faster["all CPU"]
    assert break_even(replace(STEP, link_latency=1.0)) == np.inf
