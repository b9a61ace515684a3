"""The six networks of 2017: as large as published, and small enough for whatever machine."""

from dataclasses import replace

import pytest
import torch

from gpulessons.models import six_networks
from gpulessons.models.six_networks import (
    FULL,
    Size,
    Trainee,
    cost,
    fitted,
    step,
    timed,
)

SMALL = {name: Size(name, 2, 16) for name in FULL}
SLOW = {"AlexNet", "ResNet", "LSTM-64"}
each = pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.nightly] * (name in SLOW)) for name in FULL
])  # fmt: skip

WIDE = 26_752 * 2_048
PARAMETERS = {
    "FCN-5": 2 * WIDE + 2 * 2_048**2 + 3 * 2_048 + 26_752,
    "FCN-8": 2 * WIDE + 5 * 2_048**2 + 6 * 2_048 + 26_752,
    "AlexNet": 25 * (3 * 32 + 32 * 32 + 32 * 64) + 32 + 32 + 64 + 16 * 64 * 10 + 10,
    "LSTM-32": 2 * 10_000 * 256 + 10_000 + 2 * 4 * 256 * (256 + 256 + 2),
}
PARAMETERS["LSTM-64"] = PARAMETERS["LSTM-32"]


def test_a_network_as_published_has_as_many_parameters_as_its_sizes_say():
    assert {name: cost(FULL[name]).parameters for name in PARAMETERS} == PARAMETERS
    assert cost(FULL["ResNet"]).parameters == pytest.approx(0.85e6, rel=0.02)
    assert Trainee(SMALL["AlexNet"]).parameters == cost(SMALL["AlexNet"]).parameters


@each
def test_the_operations_are_those_that_pytorch_counts_within_5_percent(name):
    from torch.utils.flop_counter import FlopCounterMode

    trainee = Trainee(SMALL[name], "meta")  # where no library hides an LSTM's products
    trainee.x.requires_grad_(trainee.x.is_floating_point())  # the rule counts its gradient too
    with FlopCounterMode(display=False) as counter:
        step(trainee)
    assert cost(SMALL[name]).flops == pytest.approx(counter.get_total_flops(), rel=0.05)


@each
def test_a_step_learns_every_parameter_and_the_same_step_lowers_the_loss(name):
    trainee = Trainee(SMALL[name])
    trainee.module.eval()  # batch normalization aside, the loss is a function of the parameters
    before = [each.detach().clone() for each in trainee.module.parameters()]
    first = step(trainee)
    after = trainee.module.parameters()
    assert not any(map(torch.equal, before, after))
    for _ in range(10):
        last = step(trainee)
    assert last < first


def test_a_network_is_shrunk_until_it_fits_and_no_further():
    name = "FCN-5"
    assert fitted(FULL[name], 1, flop_rate=1e15, bandwidth=1e14, memory=1e12) == FULL[name]
    slow = fitted(FULL[name], 0.05, flop_rate=5e9, bandwidth=5e9, memory=1e12)
    assert cost(slow).seconds(5e9, 5e9) <= 0.05 or (slow.batch, slow.narrower) == (2, 16)
    little = cost(FULL[name]).memory / 2
    assert cost(fitted(FULL[name], 1e9, 1e9, 1e9, memory=little)).memory <= little


def test_the_batch_shrinks_before_the_width_and_both_are_said():
    roomy = {"flop_rate": 1e12, "bandwidth": 1e12}
    full = FULL["FCN-5"]
    half = cost(replace(full, batch=32)).seconds(1e12, 1e12)
    assert fitted(full, half, **roomy, memory=1e12) == replace(full, batch=32)
    narrow = fitted(full, 1e9, **roomy, memory=cost(replace(full, batch=2)).memory - 1)
    assert narrow == Size("FCN-5", 2, 2)
    assert narrow.shrunk() == "batch 2 instead of 64, layers 1/2 as wide"


def test_a_step_that_somebody_disturbed_makes_the_figure_noisy(monkeypatch):
    for slow, noisy in ((0.11, False), (0.3, True)):
        clock = iter((0.0, 0.5, 1.0, 1.1, 2.0, 2.0 + slow))  # begin and end; the first is left out
        monkeypatch.setattr(six_networks, "perf_counter", lambda clock=clock: next(clock))
        monkeypatch.setattr(six_networks, "step", lambda trainee: None)
        assert timed(SMALL["AlexNet"], steps=2).noisy == noisy
