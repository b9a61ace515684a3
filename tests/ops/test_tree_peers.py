"""Beside gensim, which has the same tree: as short, and with the same weights as likely."""

import numpy as np
import pytest

from gpulessons import tree_softmax
from gpulessons.ops.huffman import huffman

pytestmark = pytest.mark.nightly

WORDS, DIM = 60, 12
# gensim looks sigmoids up: 1,000 scores from −6 to 6, and takes 83 of them for one unit, where 83⅓
# are. So a score is off by as much as this, always downwards; and beyond ±6 a node is left out.
TABLE = 12 / 1000 + 12 * (1 - 83 * 12 / 1000)


@pytest.fixture
def model():
    """A word2vec model with random weights in both layers, and no training."""
    word2vec = pytest.importorskip("gensim.models")

    counts = {f"word{n}": 200 // (n + 1) + n % 3 + 1 for n in range(WORDS)}
    model = word2vec.Word2Vec(vector_size=DIM, hs=1, negative=0, sg=1, window=1, min_count=1,
                              sample=0)  # fmt: skip
    model.build_vocab_from_freq(counts)
    rng = np.random.default_rng(0)
    model.wv.vectors[:] = rng.standard_normal((WORDS, DIM))
    model.syn1[:] = rng.standard_normal((WORDS, DIM)) / 4  # one row more than inner nodes
    return model


def counts_of(model):
    return np.array([model.wv.get_vecattr(c, "count") for c in range(WORDS)])


def paths_of(model):
    """gensim's own codes and points, as tree_softmax takes them."""
    codes, points = ([model.wv.get_vecattr(c, what) for c in range(WORDS)]
                     for what in ("code", "point"))  # fmt: skip
    starts = np.cumsum([0, *map(len, codes)])
    nodes, turns = np.concatenate(points), np.concatenate(codes)
    return starts, nodes.astype(np.int32), turns.astype(np.int8), max(map(len, codes))


def test_its_codes_are_no_shorter_on_the_mean_and_ours_are_no_deeper(model):
    counts, theirs = counts_of(model), np.diff(paths_of(model)[0])
    ours = huffman(counts)
    assert counts @ ours.depths == counts @ theirs
    assert ours.longest <= theirs.max()
    assert len(set(theirs)) > 3


def looked_up(scores):
    """The score whose sigmoid gensim finds in its table."""
    return np.floor((scores + 6) * 83) * 12 / 1000 - 6


def test_with_its_weights_and_paths_the_loss_is_its_score(model):
    rng, (starts, nodes, turns, longest) = np.random.default_rng(1), paths_of(model)
    for pair in rng.integers(0, WORDS, (20, 2)):
        h, labels = model.wv.vectors[pair], pair[::-1]
        (score,) = model.score([[model.wv.index_to_key[c] for c in pair]], total_sentences=1)
        losses, _, _ = tree_softmax(h, labels, model.syn1, starts, nodes, turns, longest)
        steps = np.concatenate([np.arange(starts[c], starts[c + 1]) for c in labels])
        assert -score == pytest.approx(losses.sum(), abs=steps.size * TABLE)
        # Its scores as weights, one node for each step, so that nothing differs but the table.
        which = np.repeat([0, 1], np.diff(starts)[labels])
        toward = (1 - 2 * turns[steps]) * (model.syn1[nodes[steps]] * h[which]).sum(axis=1)
        one_path = np.array([0, steps.size]), np.arange(steps.size), 0 * turns[steps], steps.size
        w = looked_up(toward)[:, None]
        exact, _, _ = tree_softmax(np.ones((1, 1)), np.array([0]), w, *one_path)
        assert -score == pytest.approx(exact[0], rel=1e-5)
