"""Output layers over many classes: the full one's gradients, and what a step costs."""

import numpy as np
import pytest
import torch

from gpulessons.models import many_classes
from gpulessons.models.many_classes import Full, Tree, step_times


@pytest.mark.parametrize("chunk, wide", [(8192, 1), (7, 1), (7, 200)])
def test_the_full_softmax_in_chunks_has_the_gradients_of_the_plain_one(monkeypatch, chunk, wide):
    monkeypatch.setattr(many_classes, "CHUNK", chunk)
    layer, rng = Full(300, 20), np.random.default_rng(0)
    h = np.float32(wide) * rng.standard_normal((17, 20), np.float32)
    labels = np.array([5, 5, *rng.integers(0, 300, 15)])
    before = layer.w.copy()
    w64, h64 = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (before, h))
    wanted = torch.nn.functional.cross_entropy(h64 @ w64.T, torch.from_numpy(labels),
                                               reduction="none")  # fmt: skip
    wanted.sum().backward()
    losses, dh = layer.step(h, labels, 0.01 / wide)
    np.testing.assert_allclose(losses, wanted.detach(), rtol=1e-5, atol=1e-4)
    np.testing.assert_allclose(dh, h64.grad, rtol=1e-4, atol=1e-5 * wide)
    np.testing.assert_allclose((before - layer.w) / 0.01, w64.grad / wide, rtol=1e-2, atol=2e-4)


def test_both_layers_are_timed_at_every_number_of_classes_that_fits(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    told = []
    rows = list(step_times((200, 50), columns=8, batch=4, advance=lambda *step: told.append(step)))
    assert [(row.layer, row.classes) for row in rows] == [
        (make.name, classes) for classes in (50, 200) for make in (Full, Tree)
    ]
    assert all(row.spread.median > 0 for row in rows)
    assert told == [(1, 2, "50 classes"), (2, 2, "200 classes")]
    monkeypatch.setattr(many_classes, "free_memory", lambda: 1000)
    with pytest.raises(ValueError, match="of memory is free"):
        list(step_times((200,)))
