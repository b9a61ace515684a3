"""Output layers: their gradients against autograd's, what they refuse, and what hashing finds."""

import numpy as np
import pytest
import torch

from gpulessons.models.outputs.full import Full
from gpulessons.models.outputs.hashed import Hashed
from gpulessons.models.outputs.sampled import Sampled
from gpulessons.models.outputs.tree import Tree

LAYERS = (Full, Sampled, Tree)
CLASSES, COLUMNS, EXAMPLES = 300, 20, 17


def batch(seed=0, examples=EXAMPLES):
    """h, and labels some of which are the same and some of which are frequent."""
    rng = np.random.default_rng(seed)
    h = rng.standard_normal((examples, COLUMNS), np.float32)
    labels = rng.integers(0, CLASSES, examples)
    labels[1], labels[2] = labels[0], 0
    return h, labels


def scrambled(layer, seed=5):
    """The layer with weights wide enough to tell right from wrong."""
    rng = np.random.default_rng(seed)
    layer.w[...] = rng.standard_normal(layer.w.shape, np.float32) / 3
    return layer


def assert_step(layer, step, losses_of, h, rate=0.01):
    """Losses, dh and the change of w, against autograd in float64."""
    before = layer.w.copy()
    w64, h64 = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (before, h))
    wanted = losses_of(w64, h64)
    wanted.sum().backward()
    losses, dh = step(rate)
    np.testing.assert_allclose(losses, wanted.detach().numpy(), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(dh, h64.grad.numpy(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose((before - layer.w) / rate, w64.grad.numpy(), rtol=1e-2, atol=2e-4)


@pytest.mark.parametrize("chunk", [8192, 7])
def test_the_full_softmax_in_chunks_has_the_gradients_of_the_plain_one(monkeypatch, chunk):
    monkeypatch.setattr("gpulessons.models.outputs.full.CHUNK", chunk)
    layer, (h, labels) = scrambled(Full(CLASSES, COLUMNS)), batch()
    prior, right = torch.from_numpy(layer.prior), torch.from_numpy(labels)

    def losses_of(w, h):
        return torch.nn.functional.cross_entropy(h @ w.T + prior, right, reduction="none")

    assert_step(layer, lambda rate: layer.step(h, labels, rate), losses_of, h)


def test_the_tree_has_the_gradients_of_its_own_probabilities():
    layer, (h, labels) = scrambled(Tree(CLASSES, COLUMNS)), batch()
    starts, nodes, turns = (torch.from_numpy(a.astype(np.int64)) for a in layer.tree[:3])

    def losses_of(w, h):
        losses = []
        for label, row in zip(labels, h, strict=True):
            path = slice(starts[label], starts[label + 1])
            scores = (1 - 2 * turns[path]) * (w[nodes[path]] @ row)
            losses.append(-torch.nn.functional.logsigmoid(scores).sum())
        return torch.stack(losses)

    assert_step(layer, lambda rate: layer.step(h, labels, rate), losses_of, h)


def test_the_sampled_softmax_has_the_gradients_of_its_own_loss_for_these_samples():
    layer, (h, labels) = scrambled(Sampled(CLASSES, COLUMNS, draws=40)), batch()
    drawn = np.unique([*layer.draw(), labels[0]])  # an accidental hit, surely
    expected = torch.from_numpy(layer.log_expected(np.arange(CLASSES)).astype(np.float64))
    hits = torch.from_numpy(drawn == labels[:, None])

    def losses_of(w, h):
        z = h @ w.T + torch.from_numpy(layer.prior) - expected
        right = z[torch.arange(EXAMPLES), torch.from_numpy(labels)]
        others = z[:, torch.from_numpy(drawn)].masked_fill(hits, -torch.inf)
        return torch.logsumexp(torch.cat([right[:, None], others], 1), 1) - right

    assert_step(layer, lambda rate: layer.step_against(drawn, h, labels, rate), losses_of, h)


@pytest.mark.parametrize("make", LAYERS)
def test_scores_in_the_hundreds_overflow_nowhere(make):
    layer, (h, labels) = scrambled(make(CLASSES, COLUMNS)), batch()
    losses, dh = layer.step(200 * h, labels, 0.0)
    assert np.isfinite(losses).all() and np.isfinite(dh).all()
    assert losses.min() >= 0 and losses.max() > 100


@pytest.mark.parametrize("make", LAYERS)
def test_a_layer_begins_with_frequency_and_learns_examples_by_heart(make):
    layer, (h, labels) = make(CLASSES, COLUMNS), batch(examples=12)
    p = 1 / np.arange(1, CLASSES + 1)
    entropy = -np.log(p / p.sum())[labels].mean()
    assert layer.loss(h, labels) == pytest.approx(entropy, abs=0.5)
    before = layer.w.copy()
    layer.step(h, labels, 0.0)
    assert np.array_equal(layer.w, before)
    for _ in range(150):
        layer.step(h, labels, 0.1)
    assert layer.loss(h, labels) < 0.3
    assert layer.nbytes >= layer.w.nbytes


@pytest.mark.parametrize("make", LAYERS)
def test_a_batch_that_does_not_fit_is_refused_and_nothing_is_learned(make):
    layer, (h, labels) = scrambled(make(CLASSES, COLUMNS)), batch()
    before = layer.w.copy()
    for wrong, why in (
        ((h[:, :5], labels), "h is"), ((h.astype(float), labels), "float64"),
        ((h, labels[:4]), "h is"), ((h, labels / 2), "integers from 0 to 299"),
        ((h, labels - 301), "integers"), ((h, labels + 300), "integers"),
    ):  # fmt: skip
        for call in (lambda: layer.step(*wrong, 0.1), lambda: layer.loss(*wrong)):  # noqa: B023
            with pytest.raises(ValueError, match=why):
                call()
    assert np.array_equal(layer.w, before)


def test_hashing_finds_close_rows_far_more_often_than_chance():
    hashed, rng = Hashed(2000, 24), np.random.default_rng(0)
    hits, active = {"near": 0, "anywhere": 0}, 0
    for c in rng.integers(0, 2000, 100):
        aside = rng.standard_normal(24) * np.linalg.norm(hashed.w[c]) / 24**0.5
        for kind, h in (("near", hashed.w[c] + 0.2 * aside), ("anywhere", aside)):
            found = hashed.found(h[None].astype(np.float32))
            hits[kind] += c in found
            active += len(found)
    assert hits["near"] > 80 > 10 > hits["anywhere"] and active / 200 < 200
    rows = hashed.found(hashed.w[:3])
    assert set(rows) >= {0, 1, 2} and len(set(rows)) == len(rows)
