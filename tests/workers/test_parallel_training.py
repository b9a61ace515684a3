"""Many workers learn what one would: shares of a batch, stages, parts of layers."""

import pytest
import torch
from torch.nn.functional import cross_entropy

from gpulessons import launch
from gpulessons.illustrations.data_parallel import effects_first
from gpulessons.workers.programs import pipeline, tensor_parallel
from gpulessons.workers.training import examples, network

WORLDS = [1, 2, 3, 4, 5]
EXACT = ["one by one", "flat", "naive", "tree", "ring", "DDP", "DDP, one bucket"]
PACKED = {"fp16": lambda n: 2 * n, "8-bit": lambda n: 4 + n, "1-bit": lambda n: 8 + -(-n // 8)}
WAYS = [*EXACT, *PACKED, "alone"]
STEPS, HIDDEN, BATCH = 4, 15, 62  # a batch that no world but 1 and 2 divides
PIPES = [(schedule, micro) for schedule in ("GPipe", "1F1B") for micro in (1, 3, 8)]
SIZES = {"hidden": HIDDEN, "batch": BATCH, "dtype": "float64"}


@pytest.fixture(scope="module")
def found():
    """Each worker's {world: [results]}, first of each way, then of each pipe, then of the parts."""
    ways = [("data_parallel", {"how": how, "steps": STEPS, **SIZES}) for how in WAYS]
    pipes = [
        ("pipeline", {"schedule": schedule, "micro": micro, "blocks": 4, "rounds": 1, **SIZES})
        for schedule, micro in PIPES
    ]
    jobs = [*ways, *pipes, ("tensor_parallel", SIZES)]
    jobs = [(f"gpulessons.workers.programs.{name}", options) for name, options in jobs]
    return launch("many_worlds", workers=5, worlds=WORLDS, jobs=jobs)


def trained(found, world, how):
    number = WAYS.index(how)
    return [worker[world][number] for worker in found[:world]]


def piped(found, world, pipe):
    number = len(WAYS) + PIPES.index(pipe)
    return [worker[world][number] for worker in found[:world]]


def split(found, world):
    return [worker[world][-1] for worker in found[:world]]


def near(found, due):
    """The greatest difference, of the greatest number."""
    found, due = torch.as_tensor(found), torch.as_tensor(due)
    assert found.shape == due.shape
    return (found - due).abs().max().item() <= 1e-6 * due.abs().max().item()


# -- Data parallel.


@pytest.mark.parametrize("how", EXACT)
@pytest.mark.parametrize("world", WORLDS)
def test_workers_with_shares_of_a_batch_learn_what_one_worker_learns_from_it(found, world, how):
    (alone,) = trained(found, 1, "flat")
    for each in trained(found, world, how):
        assert near(each.parameters, alone.parameters)
        assert near(each.losses, alone.losses)


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
    (alone,) = trained(found, 1, "flat")
    assert near(
        alone.parameters,
        [v for p in model.parameters() for v in p.detach().reshape(-1)[:100].tolist()],
    )


@pytest.mark.parametrize("how", [*EXACT, *PACKED])
def test_the_replicas_stay_equal_to_the_last_bit(found, how):
    for world in WORLDS:
        assert len({each.parameters for each in trained(found, world, how)}) == 1


@pytest.mark.parametrize("how", PACKED)
def test_packed_gradients_learn_nearly_the_same_and_send_what_their_code_says(found, how):
    size = sum(p.numel() for p in network(HIDDEN).parameters())
    (alone,) = trained(found, 1, "flat")
    for world in WORLDS:
        for each in trained(found, world, how):
            assert each.bytes == STEPS * PACKED[how](size)
            assert each.losses[-1] == pytest.approx(alone.losses[-1], rel=0.1)


@pytest.mark.parametrize("how", EXACT)
def test_every_parameter_is_handed_over_once_in_a_step(found, how):
    size = sum(p.numel() for p in network(HIDDEN).parameters())
    assert {each.bytes for each in trained(found, 3, how)} == {STEPS * size * 8}


def test_workers_who_start_apart_tell_of_one_clock():
    for run in zip(*launch("late", workers=2), strict=True):
        assert not effects_first(run)


def test_alone_worker_0_has_the_whole_minibatch_and_nothing_is_sent(found):
    (alone,) = trained(found, 1, "flat")
    for world in WORLDS:
        first, *others = trained(found, world, "alone")
        assert near(first.losses, alone.losses) and near(first.parameters, alone.parameters)
        assert {each.bytes for each in [first, *others]} == {0}


# -- A network in stages.


def serial(count):
    """(loss, gradients) of the whole pipeline on one minibatch."""
    (x, labels), _ = examples(torch.float64)
    (model,) = pipeline.stages(HIDDEN, 4, 1)
    loss = cross_entropy(model(x[:BATCH]), labels[:BATCH])
    loss.backward()
    return loss.item(), [p.grad for p in model.parameters()]


@pytest.mark.parametrize("pipe", PIPES, ids=str)
@pytest.mark.parametrize("world", WORLDS)
def test_a_network_in_stages_has_the_loss_and_the_gradients_of_the_whole(found, world, pipe):
    loss, gradients = serial(world)
    stages = piped(found, world, pipe)
    assert stages[-1].loss == pytest.approx(loss, rel=1e-9)
    passed = [gradient for stage in stages for gradient in stage.gradients]
    assert len(passed) == len(gradients)
    assert all(near(one, due) for one, due in zip(passed, gradients, strict=True))


@pytest.mark.parametrize("world", WORLDS)
def test_a_stage_does_every_microbatch_both_ways_and_keeps_no_more_than_its_schedule(found, world):
    for schedule, micro in PIPES:
        for rank, stage in enumerate(piped(found, world, (schedule, micro))):
            done = sorted((task.kind, task.micro_batch) for task in stage.tasks)
            assert done == sorted((kind, m) for kind in "FB" for m in range(micro))
            assert stage.kept == min(micro, world - rank if schedule == "1F1B" else micro)


# -- Layers in parts.


@pytest.mark.parametrize("world", WORLDS)
def test_layers_in_parts_have_the_loss_and_the_gradients_of_whole_ones(found, world):
    (x, labels), _ = examples(torch.float64)
    x, labels = x[:BATCH].clone().requires_grad_(), labels[:BATCH]
    whole = tensor_parallel.parameters(HIDDEN, x.dtype)
    for parameter in whole.values():
        parameter.requires_grad_()
    h = torch.sigmoid(x @ whole["w1"].T + whole["b1"])
    loss = cross_entropy(h @ whole["w2"].T + whole["b2"], labels)
    loss.backward()
    parts = split(found, world)
    for name, axis in {"w1": 0, "b1": 0, "w2": 1}.items():
        joined = torch.cat([torch.tensor(each.gradients[name]) for each in parts], axis)
        assert near(joined, whole[name].grad), name
    for each in parts:
        assert each.loss == pytest.approx(loss.item(), rel=1e-12)
        assert near(each.gradients["b2"], whole["b2"].grad)
        assert near(each.gradients["x"], x.grad)
        assert each.bytes == 8 * BATCH * (10 + 64)  # y forward, the gradient of x backward
