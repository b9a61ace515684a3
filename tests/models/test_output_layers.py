"""Output layers: their gradients against autograd's, what they find, what they refuse."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from gpulessons.models.many_classes import LAYERS
from gpulessons.models.outputs import common, sampled
from gpulessons.models.outputs.adaptive import Adaptive, default_cutoffs
from gpulessons.models.outputs.common import full_best, full_loss
from gpulessons.models.outputs.full import Full
from gpulessons.models.outputs.hashed import Hashed
from gpulessons.models.outputs.sampled import Sampled
from gpulessons.models.outputs.tree import Tree

CLASSES, COLUMNS, EXAMPLES = 300, 20, 17
each_layer = pytest.mark.parametrize("make", LAYERS, ids=lambda make: make.__name__)
# The others' own losses are of other classes at every step: their gradients are checked apart.
each_exact_layer = pytest.mark.parametrize(
    "make", [Full, Adaptive, Tree], ids=lambda make: make.__name__
)


def batch(seed=0, classes=CLASSES, examples=EXAMPLES, columns=COLUMNS):
    """h, and labels some of which are the same and some of which are frequent."""
    rng = np.random.default_rng(seed)
    h = rng.standard_normal((examples, columns), np.float32)
    labels = rng.integers(0, classes, examples)
    labels[1], labels[2] = labels[0], 0
    return h, labels


def scrambled(layer, seed=5):
    """The layer with weights wide enough to tell right from wrong."""
    rng = np.random.default_rng(seed)
    for w in weights(layer):
        w[...] = rng.standard_normal(w.shape, np.float32) / 3
    if isinstance(layer, Hashed):
        layer.rebuild()
    return layer


def weights(layer):
    """The arrays that a step changes, as NumPy's: the layer's own memory."""
    if isinstance(layer, Adaptive):
        return [p.detach().numpy() for p in layer.softmax.parameters()]
    return [layer.w]


def by_autograd(losses_of, w, h):
    """(losses, dh, dw) of summed losses, by torch, in float64."""
    w, h = (torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (w, h))
    losses = losses_of(w, h)
    losses.sum().backward()
    return losses.detach().numpy(), h.grad.numpy(), w.grad.numpy()


def check_step(layer, step, losses_of, h, rate=0.01):
    before = layer.w.copy()
    want, dh_want, dw_want = by_autograd(losses_of, before, h)
    losses, dh = step(rate)
    assert losses.dtype == dh.dtype == layer.w.dtype == np.float32
    np.testing.assert_allclose(losses, want, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(dh, dh_want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose((before - layer.w) / rate, dw_want, rtol=1e-2, atol=2e-4)


# -- Gradients.


@pytest.mark.parametrize("chunk", [8192, 64, 7])
def test_the_full_softmax_in_chunks_has_the_gradients_of_the_plain_one(monkeypatch, chunk):
    monkeypatch.setattr("gpulessons.models.outputs.full.CHUNK", chunk)
    layer, (h, labels) = scrambled(Full(CLASSES, COLUMNS)), batch()
    assert layer.chunk == chunk
    right = torch.from_numpy(labels)
    check_step(layer, lambda rate: layer.step(h, labels, rate),
               lambda w, h: torch.nn.functional.cross_entropy(
                   h @ w.T + torch.from_numpy(layer.prior), right, reduction="none"),
               h)  # fmt: skip


@pytest.mark.parametrize("chunk", [8192, 7])
def test_wide_scores_overflow_nowhere(monkeypatch, chunk):
    monkeypatch.setattr("gpulessons.models.outputs.full.CHUNK", chunk)
    monkeypatch.setattr(common, "CHUNK", chunk)
    layer, (h, labels) = scrambled(Full(CLASSES, COLUMNS)), batch()
    h *= 200
    z = h.astype(np.float64) @ layer.w.astype(np.float64).T + layer.prior
    want = np.log(np.exp(z - z.max(1, keepdims=True)).sum(1)) + z.max(1)
    want -= z[np.arange(EXAMPLES), labels]
    assert layer.loss(h, labels) == pytest.approx(want.mean(), rel=1e-5)
    losses, dh = layer.step(h, labels, 0.0)
    np.testing.assert_allclose(losses, want, rtol=1e-4, atol=1e-3)
    assert np.isfinite(dh).all()


@each_layer
def test_scores_in_the_hundreds_leave_every_loss_and_gradient_finite(make):
    layer, (h, labels) = scrambled(make(CLASSES, COLUMNS)), batch()
    losses, dh = layer.step(200 * h, labels, 0.0)
    assert np.isfinite(losses).all() and np.isfinite(dh).all()
    assert losses.min() >= 0 and losses.max() > 100


def test_the_tree_has_the_gradients_of_its_own_probabilities():
    layer, (h, labels) = scrambled(Tree(CLASSES, COLUMNS)), batch()
    starts, nodes, turns = (torch.from_numpy(a.astype(np.int64)) for a in layer.tree[:3])

    def losses_of(w, h):
        paths = [slice(starts[label], starts[label + 1]) for label in labels]
        scores = [w[nodes[path]] @ row for path, row in zip(paths, h, strict=True)]
        signs = [1 - 2 * turns[path] for path in paths]
        return torch.stack([
            -torch.nn.functional.logsigmoid(sign * score).sum()
            for sign, score in zip(signs, scores, strict=True)
        ])  # fmt: skip

    check_step(layer, lambda rate: layer.step(h, labels, rate), losses_of, h)


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

    check_step(layer, lambda rate: layer.step_against(drawn, h, labels, rate), losses_of, h)


def test_the_hashed_softmax_has_the_gradients_of_a_softmax_over_the_active_classes():
    layer, (h, labels) = scrambled(Hashed(CLASSES, COLUMNS, tables=2)), batch()
    active = layer.found(h, labels)
    assert set(labels) <= set(active) and len(set(active)) == len(active) < CLASSES
    order = np.sort(active)
    at = torch.from_numpy(np.searchsorted(order, labels))

    def losses_of(w, h):
        z = h @ w[torch.from_numpy(order).long()].T + torch.from_numpy(layer.prior[order])
        return torch.nn.functional.cross_entropy(z, at, reduction="none")

    check_step(layer, lambda rate: layer.step(h, labels, rate), losses_of, h)


@each_exact_layer
def test_a_small_step_lowers_the_loss_by_rate_times_the_gradient_squared(make):
    layer, (h, labels) = make(CLASSES, COLUMNS), batch()
    scrambled(layer)
    before, old = layer.loss(h, labels) * EXAMPLES, [w.copy() for w in weights(layer)]
    rate = 1e-4
    layer.step(h, labels, rate)
    squared = sum(
        float((((w - o) / rate) ** 2).sum()) for w, o in zip(weights(layer), old, strict=True)
    )
    fall = (before - layer.loss(h, labels) * EXAMPLES) / rate
    assert fall == pytest.approx(squared, rel=0.05)


@each_exact_layer
def test_dh_is_the_slope_of_the_sum_of_the_losses(make):
    layer, (h, labels) = scrambled(make(CLASSES, COLUMNS)), batch()
    _, dh = layer.step(h, labels, 0.0)
    direction = np.random.default_rng(1).standard_normal(h.shape).astype(np.float32) / 100
    up, down = (layer.loss(h + s * direction, labels) * EXAMPLES for s in (1, -1))
    assert (up - down) / 2 == pytest.approx(float((dh * direction).sum()), rel=0.02)


@each_layer
def test_at_a_rate_of_zero_nothing_is_learned(make):
    layer, (h, labels) = scrambled(make(CLASSES, COLUMNS)), batch()
    before = [w.copy() for w in weights(layer)]
    layer.step(h, labels, 0.0)
    assert all(np.array_equal(w, o) for w, o in zip(weights(layer), before, strict=True))


@each_layer
def test_every_layer_learns_examples_by_heart(make):
    layer, (h, _) = make(CLASSES, 64), batch(columns=64)
    labels = 17 * np.arange(EXAMPLES)  # no two alike, few of them frequent
    before = layer.loss(h, labels)
    for _ in range(600):
        losses, _ = layer.step(h, labels, 0.02)
    assert losses.shape == (EXAMPLES,)
    assert layer.loss(h, labels) < 0.2 * before
    assert (layer.best(h) == labels).mean() > 0.9


# -- Probabilities.


@pytest.mark.parametrize("make", [Full, Sampled, Hashed], ids=lambda make: make.__name__)
def test_before_it_learns_anything_a_layer_says_what_frequency_says(make):
    counts = np.arange(CLASSES, 0, -1)
    layer = make(CLASSES, COLUMNS, counts=counts)
    labels = np.arange(CLASSES)
    want = -np.log(counts / counts.sum()).mean()
    assert layer.loss(np.zeros((CLASSES, COLUMNS), np.float32), labels) == pytest.approx(want, 1e-5)
    assert set(layer.best(np.zeros((3, COLUMNS), np.float32))) == {0}


@pytest.mark.parametrize("counts", [np.ones(CLASSES - 1), np.zeros(CLASSES)])
def test_counts_that_are_none_are_refused(counts):
    for make in (Full, Sampled, Hashed):
        with pytest.raises(ValueError, match="numbers above 0, one for each class"):
            make(CLASSES, COLUMNS, counts=counts)


@each_exact_layer
def test_the_probabilities_of_all_classes_add_up_to_one(make):
    layer, h = scrambled(make(CLASSES, COLUMNS)), batch()[0][:1]
    losses = [layer.loss(h, np.array([c])) for c in range(CLASSES)]
    assert np.exp(-np.array(losses)).sum() == pytest.approx(1, abs=1e-4)
    assert int(layer.best(h)[0]) == int(np.argmin(losses))


@pytest.mark.parametrize("seed", range(8))
def test_the_trees_best_class_is_the_likeliest_leaf(seed):
    layer = scrambled(Tree(CLASSES, COLUMNS), seed)
    h, _ = batch(seed)
    every = np.arange(CLASSES)
    for row, best in zip(h[:3], layer.best(h[:3]), strict=True):
        losses, _ = layer.step(np.tile(row, (CLASSES, 1)), every, 0.0)
        assert losses[best] == losses.min()


def test_evaluation_in_chunks_is_that_of_all_at_once(monkeypatch):
    layer, (h, labels) = scrambled(Full(CLASSES, COLUMNS)), batch()
    whole, best = full_loss(h, labels, layer.w, layer.prior), full_best(h, layer.w, layer.prior)
    monkeypatch.setattr(common, "CHUNK", 7)
    assert full_loss(h, labels, layer.w, layer.prior) == pytest.approx(whole, rel=1e-6)
    assert np.array_equal(full_best(h, layer.w, layer.prior), best)
    assert np.array_equal(best, (h @ layer.w.T + layer.prior).argmax(1))


# -- Sampling.


def test_as_often_as_expected_is_how_often_a_class_is_drawn():
    layer = Sampled(50, 4, draws=20)
    rounds = 4000
    counts = np.bincount(np.concatenate([layer.draw() for _ in range(rounds)]), minlength=50)
    expected = np.exp(layer.log_expected(np.arange(50)))
    np.testing.assert_allclose(counts / rounds, expected, atol=5 * 0.5 / rounds**0.5)
    assert expected[0] > 3 * expected[-1]


def test_given_counts_decide_what_is_drawn():
    counts = np.ones(50)
    counts[30] = 1e9
    layer = Sampled(50, 4, draws=5, counts=counts)
    assert list(layer.draw()) == [30]
    assert layer.log_expected(np.array([30]))[0] == pytest.approx(0, abs=1e-6)


def test_with_many_draws_of_few_classes_it_is_the_full_softmax():
    h, labels = batch(classes=10)
    layer, full = Sampled(10, COLUMNS, draws=10, counts=np.ones(10)), Full(10, COLUMNS, np.ones(10))
    layer.draws = 2000  # every class is drawn: each is expected once
    scrambled(layer), scrambled(full)
    for one, other in zip(layer.step(h, labels, 0.01), full.step(h, labels, 0.01), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer.w, full.w, atol=1e-6)


def test_its_mean_loss_comes_nearer_to_the_full_one_with_every_draw_more():
    h, labels = batch(examples=200)
    full = scrambled(Full(CLASSES, COLUMNS, np.ones(CLASSES)))
    want, off = full.loss(h, labels), []
    for draws in (5, 30, 300):
        layer = Sampled(CLASSES, COLUMNS, draws, counts=np.ones(CLASSES))
        layer.w[...] = full.w
        losses = [layer.gradients(layer.draw(), h, labels)[0].mean() for _ in range(60)]
        off.append(abs(np.mean(losses) - want))
    assert off[0] > off[1] > off[2]
    assert off[2] < 0.1 * want


def test_weights_of_log_uniform_fall_and_add_up_to_a_logarithm():
    weights = sampled.log_uniform(100)
    assert (np.diff(weights) < 0).all()
    assert weights.sum() == pytest.approx(np.log(101))


# -- Hashing.


def test_hashing_finds_the_best_class_far_more_often_than_chance():
    classes, examples = 20_000, 200
    layer = Hashed(classes, 32, tables=16, bits=10, counts=np.ones(classes))
    rng = np.random.default_rng(0)
    layer.w[...] = rng.standard_normal(layer.w.shape, np.float32)
    layer.w /= np.linalg.norm(layer.w, axis=1, keepdims=True)
    layer.rebuild()
    best = rng.integers(0, classes, examples)
    h = layer.w[best] + 0.08 * rng.standard_normal((examples, 32)).astype(np.float32)
    best = layer.best(h)
    found = [layer.found(row[None]) for row in h]
    chance = np.mean([len(each) / classes for each in found])
    share = np.mean([b in each for b, each in zip(best, found, strict=True)])
    assert chance < 0.05
    assert share > 0.6 and share > 15 * chance


def test_rows_that_have_moved_are_found_after_a_rebuild_and_not_before():
    layer = scrambled(Hashed(CLASSES, COLUMNS, tables=4, bits=12))
    h = batch()[0][:1]
    layer.w[7] = 3 * h[0]
    before = 7 in layer.found(h)
    layer.rebuild()
    assert (before, 7 in layer.found(h)) == (False, True)


def test_the_tables_are_rebuilt_every_so_many_steps(monkeypatch):
    layer, rebuilt = Hashed(CLASSES, COLUMNS, every=3), []
    monkeypatch.setattr(Hashed, "rebuild", lambda self: rebuilt.append(self.steps))
    for _ in range(7):
        layer.step(*batch(), 0.1)
    assert rebuilt == [3, 6]


def test_each_bucket_holds_the_rows_of_its_code():
    layer = scrambled(Hashed(CLASSES, COLUMNS, tables=3))
    codes = layer.codes(layer.w)
    for table in range(3):
        assert sorted(layer.members[table]) == list(range(CLASSES))
        for code in np.unique(codes[table]):
            start, end = layer.starts[table, code : code + 2]
            assert set(layer.members[table, start:end]) == set(np.flatnonzero(codes[table] == code))


# -- Refusals.


def bad_batches():
    h, labels = batch()
    stranger, negative, nan = labels.copy(), labels.copy(), h.copy()
    stranger[3], negative[3], nan[2, 2] = CLASSES, -1, np.nan
    return {
        "Labels run from 0 to 299": (h, stranger),
        "these from -1": (h, negative),
        "one integer for each of the 17": (h, labels[1:]),
        "one integer": (h, labels.astype(np.float32)),
        r"h is \(examples, 20\)": (h[:, 1:].copy(), labels),
        "of float32 for this layer": (h.astype(np.float64), labels),
        "NaN or an infinity": (nan, labels),
    }


@each_layer
@pytest.mark.parametrize("words", bad_batches())
def test_what_does_not_fit_is_refused_in_a_sentence_and_nothing_is_learned(make, words):
    layer = scrambled(make(CLASSES, COLUMNS))
    before = [w.copy() for w in weights(layer)]
    with pytest.raises(ValueError, match=words):
        layer.step(*bad_batches()[words], 0.1)
    with pytest.raises(ValueError, match=words):
        layer.loss(*bad_batches()[words])
    assert all(np.array_equal(w, o) for w, o in zip(weights(layer), before, strict=True))


@each_layer
@pytest.mark.parametrize(("classes", "columns"), [(1, 8), (0, 8), (10, 0)])
def test_nothing_to_choose_between_is_refused(make, classes, columns):
    with pytest.raises(ValueError, match="2 classes at least"):
        make(classes, columns)


@each_layer
def test_two_classes_are_enough(make):
    layer, (h, labels) = make(2, COLUMNS), batch()
    losses, dh = layer.step(h, labels % 2, 0.01)
    assert np.isfinite(losses).all() and dh.shape == h.shape


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (Sampled, {"draws": CLASSES + 1}, "Draws are 1 to 300"),
        (Sampled, {"draws": 0}, "Draws are 1 to 300"),
        (Sampled, {"counts": np.ones(3)}, "300 numbers above 0"),
        (Sampled, {"counts": np.zeros(CLASSES)}, "300 numbers above 0"),
        (Tree, {"counts": np.ones(3)}, "300 numbers"),
        (Adaptive, {"cutoffs": [20, 10]}, "Cutoffs rise"),
        (Adaptive, {"cutoffs": [CLASSES]}, "Cutoffs rise"),
        (Adaptive, {"cutoffs": []}, "Cutoffs rise"),
        (Adaptive, {"cutoffs": [10, 20, 30]}, "64 columns at least, not 20"),
        (Hashed, {"bits": 17}, "of 1 to 16 bits"),
        (Hashed, {"tables": 0}, "1 table at least"),
    ],
)
def test_options_that_make_no_sense_are_refused(make, options, words):
    with pytest.raises(ValueError, match=words):
        make(CLASSES, COLUMNS, **options)


@pytest.mark.parametrize("classes", [2, 3, 4, 7, 50, 1000, 10**6])
def test_default_cutoffs_rise_within_the_classes(classes):
    cutoffs = default_cutoffs(classes)
    assert cutoffs and sorted({0, *cutoffs, classes}) == [0, *cutoffs, classes]


# -- Size.


def test_a_million_classes_take_less_than_4_gb():
    resource = pytest.importorskip("resource")
    psutil = pytest.importorskip("psutil")
    if psutil.virtual_memory().available < 4 * 2**30:
        pytest.skip("this machine has less than 4 GiB to spare")
    code = (
        "import numpy as np, resource\n"
        "from gpulessons.models.many_classes import LAYERS\n"
        "h, labels = np.ones((64, 64), np.float32), np.arange(64) * 15_000\n"
        "layers = [make(1_000_000, 64) for make in LAYERS]\n"
        "print(sum(len(layer.step(h, labels, 0.01)[0]) for layer in layers))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    steps, peak = map(int, done.stdout.split())
    assert resource and steps == 64 * len(LAYERS)
    assert peak * (1 if sys.platform == "darwin" else 1024) < 4 * 10**9
