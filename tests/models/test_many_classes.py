"""Output layers over many classes: the full one's gradients, and what a step costs."""

import numpy as np
import pytest
import torch

from gpulessons.models import many_classes
from gpulessons.models.many_classes import full_step


@pytest.mark.parametrize("chunk, wide", [(8192, 1), (7, 1), (7, 200)])
def test_the_full_softmax_in_chunks_has_the_gradients_of_the_plain_one(monkeypatch, chunk, wide):
    monkeypatch.setattr(many_classes, "CHUNK", chunk)
    rng = np.random.default_rng(0)
    w = rng.random((300, 20), np.float32) - np.float32(0.5)
    h = np.float32(wide) * rng.standard_normal((17, 20), np.float32)
    labels = np.array([5, 5, *rng.integers(0, 300, 15)])
    before = w.copy()
    w64, h64 = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (before, h))
    wanted = torch.nn.functional.cross_entropy(h64 @ w64.T, torch.from_numpy(labels),
                                               reduction="none")  # fmt: skip
    wanted.sum().backward()
    losses, dh = full_step(h, labels, w, 0.01 / wide)
    np.testing.assert_allclose(losses, wanted.detach(), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(dh, h64.grad, rtol=1e-4, atol=1e-5 * wide)
    np.testing.assert_allclose((before - w) / 0.01, w64.grad / wide, rtol=1e-2, atol=2e-4)


def test_a_call_of_either_layer_is_a_step_of_a_batch():
    for call in many_classes.calls_of(50).values():
        losses, dh = call()
        assert losses.shape == (many_classes.BATCH,) and dh.shape[1] == many_classes.COLUMNS
        assert (losses > 0).all()
