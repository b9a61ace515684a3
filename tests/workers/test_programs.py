"""Every program of the course on 1, 2 and 3 workers: they learn and count what one would.

All of them run in one launch of three processes, since processes are what costs.
"""

import math

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from gpulessons import launch
from gpulessons.exercises import reduce_scatter
from gpulessons.workers.memory import APART
from gpulessons.workers.programs import hogwild, lost_updates
from gpulessons.workers.programs.hogwild import ALONE, ATOMIC, FREE, SEPARATE, Ran
from gpulessons.workers.training import examples, network

WORLDS = [1, 2, 3]
LENGTHS = [0, 1, 2, 5, 60, 1009]
EXACT = ["flat", "ring", "DDP", "DDP, one bucket"]
PACKED = {"1-bit": lambda n: 8 + -(-n // 8), "8-bit": lambda n: 4 + n, "16-bit": lambda n: 2 * n}
WAYS = [*EXACT, *PACKED]
STEPS, HIDDEN, BATCH = 4, 15, 62  # a batch that 3 does not divide
SLOW = 2e-3, 1e6  # seconds, and bytes a second: an emulated wire that nothing real is as slow as
SIZES = {"hidden": HIDDEN, "batch": BATCH, "dtype": "float64"}
PIPES = [3, 8]  # micro-batches
FEATURES, EXAMPLES, RATE = 20_000, 60_000, 0.02

JOBS = {
    "collectives": ("check_collectives", {"lengths": LENGTHS}),
    **{how: ("data_parallel", {"how": how, "steps": STEPS, **SIZES}) for how in WAYS},
    **{(how, SLOW): ("data_parallel", {"how": how, "steps": 3, "link": SLOW, **SIZES})
       for how in ("ring", "flat", "DDP", "1-bit")},
    **{(how, "micro"): ("data_parallel", {"how": how, "steps": STEPS, "micro": 3, **SIZES})
       for how in ("flat", "DDP")},
    "paced": ("data_parallel", {"how": "flat", "steps": STEPS, "pace": 1e-3, **SIZES}),
    **{pipe: ("pipeline", {"micro": pipe, "blocks": 4, "hidden": HIDDEN, "batch": 48})
       for pipe in PIPES},
    "parts": ("tensor_parallel", {"hidden": 12, "batch": BATCH}),
    **{cut: ("measure_split", {"widths": [3, 1], "batches": [2], "rounds": 2, "cut": cut})
       for cut in ("layers", "examples")},
    "several": ("several", {"runs": [{"program": "hello"}, {"steps": 3}]}),
    "hogwild": ("hogwild", {"examples": EXAMPLES, "features": FEATURES, "rate": RATE, "rounds": 1}),
    "lost": ("lost_updates", {"cells": [1, 64], "additions": 200_000}),
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    """Each worker's {world: [result of each job]}, and then what `counting` counts."""
    jobs = [(f"gpulessons.workers.programs.{name}", options) for name, options in JOBS.values()]
    jobs += [("counting", {"turns": 200})]
    return launch("many_worlds", workers=3, worlds=WORLDS, jobs=jobs)


def of(found, world, job):
    return [worker[world][list(JOBS).index(job)] for worker in found[:world]]


def near(found, expected):
    """Does no number differ by more than a millionth of the greatest?"""
    found, expected = torch.as_tensor(found), torch.as_tensor(expected)
    assert found.shape == expected.shape
    return (found - expected).abs().max().item() <= 1e-6 * expected.abs().max().item()


# -- All-reduces.


def test_each_all_reduce_is_the_backends_and_sends_the_bytes_of_its_closed_form(found):
    forms = {"naive": naive, "tree": tree, "ring": ring}
    for world in WORLDS:
        for rank, checked in enumerate(of(found, world, "collectives")):
            assert len(checked) == len(LENGTHS) * len(forms)
            for name, length, equal, sent, _ in checked:
                assert equal and sent == 4 * forms[name](length, rank, world), (name, length, rank)
    assert [ring(60, 0, world) for world in (1, 2, 3, 4, 5)] == [0, 60, 80, 90, 96]


@pytest.mark.parametrize("world", [4, 5])
def test_four_and_five_send_the_same_forms_and_a_learners_ring_is_among_them(world):
    found = launch("check_collectives", world, lengths=[60], yours=reduce_scatter.solution)
    for rank, checked in enumerate(found):
        sent = {name: nbytes for name, _, equal, nbytes, _ in checked if equal}
        assert sent == {"naive": 4 * naive(60, rank, world), "tree": 4 * tree(60, rank, world),
                        "ring": 4 * ring(60, rank, world),
                        "yours": 4 * ring(60, rank, world)}  # fmt: skip


def naive(length, rank, world):
    return length * (1 if rank else world - 1)


def tree(length, rank, world):
    """Up once, unless it is the root; down once to each child, rank + 2^k."""
    lowest = rank & -rank if rank else 2**10
    children = [2**k for k in range(10) if 2**k < lowest and rank + 2**k < world]
    return length * ((rank > 0) + len(children))


def ring(length, rank, world):
    """Every piece twice, but for the one it ends up owning, and the one its neighbor owns."""
    pieces = [length // world + (number < length % world) for number in range(world)]
    return 2 * length - pieces[(rank + 1) % world] - pieces[(rank + 2) % world]


def test_on_an_emulated_wire_all_learn_the_same(found):
    for world in WORLDS:
        plain = of(found, world, "flat")[0].losses[:3]
        for how in ("ring", "flat", "DDP", "1-bit"):
            for each in of(found, world, (how, SLOW)):
                assert each.losses == pytest.approx(plain, rel=0.1 if how == "1-bit" else 1e-9)


# -- Data parallel.


def test_workers_with_shares_of_a_batch_learn_what_one_worker_learns_from_it(found):
    size = sum(p.numel() for p in network(HIDDEN).parameters())
    (alone,) = of(found, 1, "flat")
    for world in WORLDS:
        for how in [*EXACT, ("flat", "micro"), ("DDP", "micro"), "paced"]:
            replicas = of(found, world, how)
            assert len({each.parameters for each in replicas}) == 1  # to the last bit
            for each in replicas:
                assert near(each.parameters, alone.parameters), (how, world)
                assert near(each.losses, alone.losses) and each.bytes == STEPS * size * 8
        assert of(found, world, "paced")[0].seconds > 0.99e-3 * (BATCH // world)


def test_what_one_worker_learns_is_plain_gradient_descent(found):
    (x, labels), _ = examples(torch.float64)
    model, generator = network(HIDDEN, torch.float64), torch.Generator().manual_seed(0)
    for _ in range(STEPS):
        chosen = torch.randint(len(x), (BATCH,), generator=generator)
        parameters = list(model.parameters())
        gradients = torch.autograd.grad(cross_entropy(model(x[chosen]), labels[chosen]), parameters)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter -= 0.5 * gradient
    expected = [v for p in model.parameters() for v in p.detach().reshape(-1)[:100].tolist()]
    assert near(of(found, 1, "flat")[0].parameters, expected)


def test_packed_gradients_learn_nearly_the_same_and_send_what_their_code_says(found):
    size = sum(p.numel() for p in network(HIDDEN).parameters())
    (alone,) = of(found, 1, "flat")
    for how, packed in PACKED.items():
        for world in WORLDS:
            replicas = of(found, world, how)
            assert len({each.parameters for each in replicas}) == 1
            for each in replicas:
                assert each.bytes == STEPS * packed(size)
                assert each.losses[-1] == pytest.approx(alone.losses[-1], rel=0.1)


# -- A network in stages, and layers in parts.


def test_a_network_in_stages_has_the_gradients_of_the_whole(found):
    (x, labels), _ = examples(torch.float64)
    model = network(HIDDEN, torch.float64, depth=4)
    cross_entropy(model(x[:48]), labels[:48]).backward()
    for world in WORLDS:
        for pipe in PIPES:
            stages = of(found, world, pipe)
            passed = [gradient for stage in stages for gradient in stage.gradients]
            for one, parameter in zip(passed, model.parameters(), strict=True):
                assert near(one, parameter.grad), (world, pipe)
            assert all(stage.rounds == stages[0].rounds for stage in stages)  # of the slowest


def test_layers_in_parts_have_the_loss_and_the_gradients_of_whole_ones(found):
    (x, labels), _ = examples(torch.float64)
    x, whole = x[:BATCH].clone().requires_grad_(), network(12, torch.float64, depth=1)
    loss = cross_entropy(whole(x), labels[:BATCH])
    loss.backward()
    due = {name: p.grad for name, p in whole.named_parameters()} | {"x": x.grad}
    for world in WORLDS:
        for each in of(found, world, "parts"):
            assert each.loss == pytest.approx(loss.item(), rel=1e-12)
            assert all(near(each.gradients[name], gradient) for name, gradient in due.items())
            assert each.shapes["0.weight"] == (12 // world, 64)
            assert world == 1 or each.calls == 2  # y forward, the gradient of x backward


# -- Programs that measure: what they do is all there. How long it took, no test asks.


def test_each_size_is_measured_and_all_tell_the_time_of_the_slowest(found):
    for world in WORLDS:
        for cut in ("layers", "examples"):
            pairs, *others = of(found, world, cut)
            assert all(each == pairs for each in others)
            assert [(pair.width, pair.batch) for pair in pairs] == [(3, 2), (1, 2)]
        for hello, trained in of(found, world, "several"):
            assert hello == sum(range(1, world + 1)) and len(trained.losses) == 3


def test_two_cuts_on_two_wires_are_no_quicker_than_their_bytes_over_each():
    sizes = {"width": 32, "rows": 128, "blocks": 2, "rounds": 1}
    for worker in launch("two_cuts", workers=4, near=(0, 1e8), far=(0, 1e6), **sizes):
        sums, gradients = 4 * 4 * 128 * 32, 2 * 4 * 4 * 32**2
        for inside, far in {"tensor": gradients, "data": sums}.items():
            least = far / 1e6 + (sums + gradients - far) / 1e8
            assert 0.999 * least < worker[inside] < 10 * least


# -- Shared memory: Hogwild, and additions that vanish.


def test_two_without_locks_reach_the_loss_of_one(found):
    first, second = of(found, 2, "hogwild")
    (serial,) = first[ALONE]
    assert serial.curve[-1][1] < 0.97 * math.log(2)  # it has learned: a coin has a loss of log 2
    for way in (FREE, ATOMIC):
        (ran,) = first[way]
        assert ran.curve[0][1] == pytest.approx(math.log(2))
        assert ran.curve[-1][1] == pytest.approx(serial.curve[-1][1], rel=0.03)
        assert [each[way][0].updates for each in (first, second)] == [EXAMPLES // 2] * 2
        assert ran.counts[-1] == EXAMPLES
    assert [each[ALONE][0].updates for each in (first, second)] == [EXAMPLES, 0]
    assert first[SEPARATE][0].curve[-1][1] > first[FREE][0].curve[-1][1]  # half of the examples


def test_one_worker_alone_is_plain_stochastic_gradient_descent():
    places, labels = hogwild.sparse(2_000, 1, FEATURES)
    expected = np.zeros(FEATURES)
    for place, label in zip(places, labels, strict=True):
        np.add.at(expected, place, RATE * label / (1 + np.exp(label * expected[place].sum())))
    weights, clock = np.zeros(FEATURES), np.zeros(APART, np.int64)
    hogwild.learn(weights, clock, 0, places, labels, RATE, False)
    np.testing.assert_allclose(weights, expected, rtol=1e-9, atol=1e-12)


def test_rounds_without_two_free_cores_do_not_count_and_the_typical_one_is_in_the_middle():
    def ran(*seconds):
        return tuple(Ran(1, each, ((0.0, 1.0), (each, 0.5))) for each in seconds)

    rounds = {ALONE: ran(2.0, 2.0, 2.0, 6.0, 3.0), SEPARATE: ran(1.0, 1.8, 1.0, 1.0, 1.5),
              FREE: ran(4.0, 1.0, 1.0, 1.0, 2.0)}  # fmt: skip
    fair = hogwild.fair(rounds)
    assert hogwild.gains(fair) == pytest.approx([0.5, 2.0, 1.5])
    assert hogwild.typical(fair)[FREE].seconds == 2.0
    none = hogwild.fair({way: rans[1:2] for way, rans in rounds.items()})
    assert (hogwild.gains(none), hogwild.typical(none)) == ([], {})


def test_additions_vanish_without_a_lock_and_none_atomically(found):
    assert found[0][2][len(JOBS)] < 400  # of 400
    first, second = of(found, 2, "lost")
    assert {name: one.found for name, one in first.items()} == {
        name: one.found for name, one in second.items()
    }
    for name, one in first.items():
        assert 0 < one.found <= one.made
        assert isinstance(name, int) or one.lost == 0


def test_what_is_called_atomic_is_so_in_the_compiled_code_too():
    cells, places = np.zeros(3, np.int64), np.array([1, 2, 1])  # two processes may never meet
    lost_updates.bump_atomically(cells, places, 2)
    assert cells.tolist() == [0, 4, 2]
    made = "".join(lost_updates.bump_atomically.inspect_llvm().values())
    assert "atomicrmw add " in made or "cmpxchg" in made
