"""What needs no processes: packed gradients, schedules by the clock, the model of a link."""

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise, product
from queue import SimpleQueue
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.distributed as dist
from hypothesis import given
from hypothesis import strategies as st

from gpulessons.workers import Link, batches, bubble, collectives, emulated, kept, simulate, waiting
from gpulessons.workers.batches import Reached
from gpulessons.workers.collectives import ALGORITHMS, Wire
from gpulessons.workers.emulated import Emulated
from gpulessons.workers.gradients import WAYS, Forgetful, OneBit, from_signs, to_signs
from gpulessons.workers.links import messages, ring_of
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


@pytest.fixture
def in_threads(monkeypatch):
    """run(world, reduce): [(what a worker then has, bytes it sent, when done)] and all were given.

    Nobody sleeps: each worker is a thread, and its clock a number. The link: 3 s, 8 bytes a second.
    """
    here = threading.local()

    def send(x, to):
        here.mail[here.rank, to].put(x.clone())
        return SimpleNamespace(wait=lambda: None)

    def worker(rank, reduce, given, mail):
        here.rank, here.world, here.mail, here.now = rank, len(given), mail, 0.0
        wire, x = Emulated(Link(3.0, 8.0)), torch.tensor(given[rank])
        reduce(x, wire)
        return x.numpy(), wire.sent, here.now

    def run(world, reduce):
        mail = {pair: SimpleQueue() for pair in product(range(world), repeat=2)}
        given = np.random.default_rng(1).integers(-99, 99, (world, 60)).astype(np.float32)
        with ThreadPoolExecutor(world) as threads:
            asked = [threads.submit(worker, rank, reduce, given, mail) for rank in range(world)]
        return [each.result() for each in asked], given

    fake = SimpleNamespace(
        get_rank=lambda: here.rank, get_world_size=lambda: here.world, isend=send,
        recv=lambda x, source: x.copy_(here.mail[source, here.rank].get(timeout=60)))  # fmt: skip
    for module in (collectives, emulated):
        monkeypatch.setattr(module, "dist", fake)
    monkeypatch.setattr(emulated, "time", lambda: here.now)
    monkeypatch.setattr(emulated, "sleep", lambda more: setattr(here, "now", here.now + more))
    return run


@pytest.mark.parametrize("world", [1, 2, 3, 4, 5])
def test_sums_are_numpys_and_take_the_time_of_the_formulas_steps_and_bytes(in_threads, world):
    for name, algorithm in ALGORITHMS.items():
        done, given = in_threads(world, algorithm)
        assert all(np.array_equal(x, given.sum(0)) for x, _, _ in done)
        expected = (world > 1) * Link(3.0, 8.0).seconds(name, world, 4 * 60)
        took = max(when for *_, when in done)
        assert took == pytest.approx(expected, rel=0.05 * (name == "tree" and world in (3, 5)))


def test_fewer_bits_are_a_sum_of_rounded_numbers_and_send_fewer_bytes(in_threads):
    for how, nbytes, apart in (("flat", 8 * 48, 0), ("16-bit", 8 * 24, 1), ("8-bit", 4 * 64, 2)):
        done, given = in_threads(5, lambda x, wire, how=how: WAYS[how]([], wire).all_reduce(x))
        off = max(np.abs(x - given.sum(0)).max() for x, _, _ in done)
        assert {sent for _, sent, _ in done} == {nbytes} and 0 <= off <= apart, (how, off)


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


def test_a_ring_through_servers_leaves_each_by_one_hop_and_all_its_network_cards():
    near, far = Link(3e-6, 450e9), Link(14e-6, 50e9)
    assert ring_of(8, near, far) == near and ring_of(1, near, far) == near
    many = ring_of(64, near, far)  # 2 (64 − 1) steps, of which 2 (8 − 1) go to another server
    assert 126 * many.latency == pytest.approx(112 * 3e-6 + 14 * 14e-6)
    assert many.bandwidth == 8 * 50e9


def test_so_many_messages_wait_for_each_other():
    for algorithm, workers, expected in (
        ("naive", 4, (2, 3)), ("tree", 4, (4, 1)), ("tree", 5, (6, 1)), ("tree", 1000, (20, 1)),
        ("ring", 4, (6, 1 / 4)), ("backend", 4, (6, 1 / 4)),
        ("halving", 4, (4, 3 / 8)), ("halving", 1, (0, 0)),
    ):  # fmt: skip
        assert messages(algorithm, workers) == expected, (algorithm, workers)
