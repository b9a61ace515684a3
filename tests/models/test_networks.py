"""The digits, and the network that reads them: the same on every toolkit, and well enough."""

import numpy as np
import pytest

import warplens
from gpulessons.models.data import digits
from gpulessons.models.digits import TOOLKITS, Network, pixels, train

HERE = [name for name, (_, backend) in TOOLKITS.items() if not backend.why_not()]


@pytest.fixture(scope="module")
def curves():
    """{toolkit: its epochs}, for the toolkits of this machine."""
    data = digits()
    return {toolkit: list(train(Network(toolkit), data)) for toolkit in HERE}


@pytest.mark.nightly
def test_every_toolkit_learns_along_numpys_curve_and_reads_96_percent(curves):
    assert {"NumPy", "Numba", "PyTorch on CPU"} <= set(HERE)
    for epochs in curves.values():
        assert [epoch.number for epoch in epochs] == list(range(1, 31))
        assert all(epoch.accuracy >= 0.96 for epoch in epochs[-10:])
        assert epochs[-1].loss < epochs[4].loss < epochs[0].loss
        for ours, numpys in zip(epochs, curves["NumPy"], strict=True):
            assert ours.loss == pytest.approx(numpys.loss, rel=1e-4)
            assert abs(ours.accuracy - numpys.accuracy) <= 1 / 360 + 1e-9  # one digit of 360


def tiny():
    (images, labels), _ = digits()
    return pixels(images[:3]), labels[:3].astype(np.int32)


def stepped(toolkit, hidden, steps):
    network = Network(toolkit, hidden)
    x, labels = map(network.backend.put, tiny())
    for _ in range(steps):
        network.step(x, labels)
    return [network.backend.get(each) for each in (*network.parameters, *network.speeds)]


def test_cuda_takes_the_same_step_thread_by_thread():
    with warplens.tracing() as launches:
        ours = stepped("CUDA", 9, steps=2)
    assert not any(launch.races().cells for launch in launches)
    for got, want in zip(ours, stepped("NumPy", 9, steps=2), strict=True):
        assert np.allclose(got.reshape(-1), want.reshape(-1), rtol=1e-5, atol=1e-6)


def by_hand(steps, hidden):
    """The same steps with none of the course's ops: PyTorch's autograd and its SGD, in float64."""
    torch = pytest.importorskip("torch")
    start = Network("NumPy", hidden)
    w1, b1, w2, b2 = (torch.tensor(p.astype(float), requires_grad=True) for p in start.parameters)
    optimizer = torch.optim.SGD([w1, b1, w2, b2], lr=1e-3, momentum=0.9)
    x, labels = (torch.tensor(each) for each in tiny())
    for _ in range(steps):
        h = torch.sigmoid(x.double() @ w1.T + b1)
        loss = torch.nn.functional.cross_entropy(h @ w2.T + b2, labels.long(), reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [p.detach().numpy() for p in (w1, b1, w2, b2)]


@pytest.mark.parametrize("toolkit", [
    pytest.param(name, marks=[pytest.mark.nightly] * (name == "Numba")) for name in HERE
])  # fmt: skip
def test_three_steps_are_those_of_torch_optim(toolkit):
    for got, want in zip(stepped(toolkit, 5, steps=3)[:4], by_hand(3, 5), strict=True):
        assert np.allclose(got, want, rtol=1e-5, atol=1e-6)


# -- The digits.


def test_the_digits_are_split_once_and_for_all():
    (images, labels), (held, held_labels) = digits()
    assert images.shape == (1437, 8, 8) and held.shape == (360, 8, 8)
    assert images.dtype == held.dtype == np.uint8 and images.max() == held.max() == 16
    assert labels.shape == (1437,) and held_labels.shape == (360,)
    assert set(labels) == set(held_labels) == set(range(10))
    assert held_labels[:4].tolist() == [0, 5, 0, 5]
