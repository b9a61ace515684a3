"""What needs no processes: packed gradients, schedules by the clock, the model of a link."""

import math
from itertools import pairwise, product

import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st

from gpulessons.workers import Link, batches, bubble, kept, simulate, waiting
from gpulessons.workers.batches import Reached
from gpulessons.workers.collectives import Wire
from gpulessons.workers.emulated import Emulated, Port
from gpulessons.workers.gradients import Forgetful, OneBit, from_signs, to_signs
from gpulessons.workers.links import messages
from gpulessons.workers.training import examples, mean_loss, minibatches, network

NUMBERS = st.lists(st.floats(-1e3, 1e3, width=32), min_size=1, max_size=40)


# -- Codes.


@given(NUMBERS)
def test_a_bit_comes_back_as_the_mean_of_its_sign(numbers):
    gradient = torch.tensor(numbers, dtype=torch.float64)
    found = from_signs(to_signs(gradient), gradient)
    for side in (gradient < 0, gradient >= 0):
        if side.any():
            due = torch.full((int(side.sum()),), gradient[side].mean().float().item())
            torch.testing.assert_close(found[side], due.double(), rtol=1e-6, atol=1e-30)


@pytest.fixture(scope="module")
def alone():
    """A group of one process: this."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def test_what_a_code_loses_is_only_owed_and_does_not_grow(alone):
    way, generator = OneBit([], Wire()), torch.Generator().manual_seed(1)
    made = given = torch.zeros(257, dtype=torch.float64)
    for step in range(200):
        gradient = torch.randn(257, generator=generator, dtype=torch.float64)
        made = made + gradient
        way.all_reduce(gradient)
        given = given + gradient
        if step == 20:
            early = way.residual.abs().max()
    assert not torch.equal(made, given)
    torch.testing.assert_close(given + way.residual, made)
    assert way.residual.abs().max() < 5 * early


def test_where_nothing_is_owed_what_rounding_loses_is_lost(alone):
    way, gradient = Forgetful([], Wire()), torch.tensor([1.0, 2.0, 9.0, -4.0])
    for _ in range(2):
        way.all_reduce(found := gradient.clone())
        assert found.tolist() == [4, 4, 4, -4]


# -- A wire that is emulated.


def test_a_port_takes_one_message_after_the_other():
    port = Port()
    assert [port.take(1, 2), port.take(1.5, 1), port.take(9, 0.5)] == [(1, 3), (3, 4), (9, 9.5)]


def test_neighbors_have_a_link_of_their_own(alone):
    near, far = Link(1e-6, 1e9), Link(1e-3, 1e6)
    wire = Emulated(near, beyond=far, together=2)
    wire.rank = 3
    assert [wire.link_to(other) for other in range(6)] == [far, far, near, near, far, far]


# -- Batches.


def test_the_best_rate_is_that_of_the_fewest_steps_and_the_others_are_given_up(monkeypatch):
    needs, asked = dict(zip(batches.RATES, (50, 30, 30, 10, 99, 99), strict=True)), []

    def reach(batch, rate, goal, most, seed=0):
        asked.append(most)
        return needs[rate] + 10 * seed if needs[rate] <= most else None

    monkeypatch.setattr(batches, "reach", reach)
    (found,) = batches.returns([7], seeds=3)
    assert found == Reached(7, 4.0, (10, 20, 30)) and found.steps == 20
    assert asked == [batches.MOST, 49, 29, 29, 9, 9, batches.MOST, batches.MOST]


@given(st.floats(1, 1e4), st.floats(0.1, 1e4))
def test_the_critical_batch_is_found_where_the_law_holds(least, due):
    found = [Reached(n, 1.0, (least * (1 + due / n),)) for n in (4, 64, 1024)]
    assert batches.critical(found) == pytest.approx((least, due), rel=1e-3)


def test_a_loss_is_reached_when_that_of_all_examples_is_there():
    found = batches.reach(32, 1.0, goal=2.0, most=400, hidden=8)
    assert batches.reach(32, 1.0, goal=2.0, most=found - 1, hidden=8) is None
    (x, labels), _ = examples()
    model, losses = network(8), [math.inf]
    optimizer = torch.optim.SGD(model.parameters(), 1.0)
    for chosen in minibatches(len(x), 32, found):
        optimizer.zero_grad()
        mean_loss(model, x[chosen], labels[chosen]).backward()
        optimizer.step()
        losses.append(mean_loss(model, x, labels).item())
    before = int(found / batches.LOOKS) - 1  # where it was looked at before, or sooner
    assert losses[-1] <= 2.0 < losses[before]


# -- Schedules.


@pytest.mark.parametrize("schedule", ["GPipe", "1F1B"])
def test_the_simulated_bubble_is_that_of_the_formula(schedule):
    for stages, micro, backward in product((1, 2, 3, 8), (1, 2, 3, 32), (1.0, 3.7)):
        lost = waiting(simulate(schedule, stages, micro, backward=backward))
        assert lost == pytest.approx((stages - 1) / (micro + stages - 1), abs=1e-9)
        assert lost == pytest.approx(bubble(stages, micro), rel=0.01, abs=1e-9)


@pytest.mark.parametrize("schedule", ["GPipe", "1F1B"])
def test_nothing_is_done_twice_at_once_or_before_what_it_needs(schedule):
    tasks = simulate(schedule, stages=4, batches=6)
    at = {(task.stage, task.kind, task.micro_batch): task for task in tasks}
    assert len(tasks) == len(at) == 4 * 6 * 2
    for (stage, kind, batch), task in at.items():
        needed = (stage - 1, "F", batch) if kind == "F" else (stage + 1, "B", batch)
        assert needed not in at or at[needed].stop <= task.start
        assert kind == "F" or at[stage, "F", batch].stop <= task.start
    for stage in range(4):
        own = sorted((task.start, task.stop) for task in tasks if task.stage == stage)
        assert all(one[1] <= two[0] for one, two in pairwise(own))


def test_one_forward_one_backward_keeps_no_more_microbatches_than_there_are_stages():
    for micro in (1, 3, 8):
        ours, gpipe = simulate("1F1B", 4, micro), simulate("GPipe", 4, micro)
        assert [kept(ours, stage) for stage in range(4)] == [min(4 - s, micro) for s in range(4)]
        assert [kept(gpipe, stage) for stage in range(4)] == [micro] * 4


@pytest.mark.parametrize(("schedule", "times"), [("interleaved", 2), ("zero bubble", 3)])
def test_the_other_two_wait_as_if_there_were_more_micro_batches(schedule, times):
    for stages, micro in ((2, 4), (4, 4), (4, 8), (8, 16), (8, 64)):
        tasks = simulate(schedule, stages, micro)
        assert waiting(tasks) == pytest.approx(bubble(stages, times * micro))
        assert len({(t.stage, t.kind, t.micro_batch, t.chunk) for t in tasks}) == len(tasks)
        busy = [sum(t.stop - t.start for t in tasks if t.stage == s) for s in range(stages)]
        assert busy == pytest.approx([3 * micro] * stages)  # all of F, and of B with W
        if schedule == "zero bubble":
            assert [kept(tasks, stage) for stage in range(stages)] == [stages] * stages


# -- Links.


def test_so_many_messages_wait_for_each_other():
    for algorithm, workers, expected in (
        ("naive", 4, (2, 3)), ("tree", 4, (4, 1)), ("tree", 5, (6, 1)), ("tree", 1000, (20, 1)),
        ("ring", 4, (6, 1 / 4)), ("backend", 4, (6, 1 / 4)),
    ):  # fmt: skip
        assert messages(algorithm, workers) == expected, (algorithm, workers)
