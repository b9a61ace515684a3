"""The six networks of 2017, as large as published."""

import pytest
import torch

from gpulessons.models.six_networks import KINDS, cost

WIDE = 26_752 * 2_048
PARAMETERS = {
    "FCN-5": 2 * WIDE + 2 * 2_048**2 + 3 * 2_048 + 26_752,
    "FCN-8": 2 * WIDE + 5 * 2_048**2 + 6 * 2_048 + 26_752,
    "AlexNet": 25 * (3 * 32 + 32 * 32 + 32 * 64) + 32 + 32 + 64 + 16 * 64 * 10 + 10,
    "LSTM-32": 2 * 10_000 * 256 + 10_000 + 2 * 4 * 256 * (256 + 256 + 2),
}
PARAMETERS["LSTM-64"] = PARAMETERS["LSTM-32"]


def test_a_network_as_published_has_as_many_parameters_as_its_sizes_say():
    assert {name: cost(name).parameters for name in PARAMETERS} == PARAMETERS
    assert cost("ResNet").parameters == pytest.approx(0.85e6, rel=0.02)


@pytest.mark.parametrize("name", ["FCN-5", "AlexNet", "ResNet"])
def test_the_operations_are_those_that_pytorch_counts_within_5_percent(name):
    from torch.utils.flop_counter import FlopCounterMode

    make, shape, batch = KINDS[name]
    with torch.device("meta"):
        module, x = make(), torch.empty(batch, *shape, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        module(x).sum().backward()
    assert cost(name).flops == pytest.approx(counter.get_total_flops(), rel=0.05)
