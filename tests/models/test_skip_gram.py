"""Skip-gram: its steps are gradients of its loss, and it learns what gensim learns."""

from types import SimpleNamespace

import numpy as np
import pytest

from gpulessons.models import skip_gram
from gpulessons.models.skip_gram import SkipGram, mean_loss, train
from gpulessons.ops.huffman import Tree

RNG = np.random.default_rng(0)
WORDS = [f"word{n}" for n in range(30)]
TEXT = [[WORDS[n] for n in RNG.integers(0, 30, 12) ** 2 // 30] for _ in range(50)]


def losses_by_hand(model, words, neighbors):
    """−log p of each pair, by walking the tree in float64."""
    for word, neighbor in zip(words, neighbors, strict=True):
        steps = slice(model.tree.starts[word], model.tree.starts[word + 1])
        scores = model.y[model.tree.nodes[steps]].astype(float) @ model.x[neighbor]
        yield np.logaddexp(0, np.where(model.tree.turns[steps], scores, -scores)).sum()


@pytest.fixture
def learned():
    model = SkipGram(TEXT, dim=10, window=3)
    for _ in train(model, epochs=3, cores=1):
        pass
    return model


def test_the_loss_is_the_mean_over_the_pairs_walked_by_hand(learned):
    words, neighbors = learned.pairs(100)
    by_hand = list(losses_by_hand(learned, words, neighbors))
    assert learned.loss(100) == pytest.approx(np.mean(by_hand), rel=1e-5)


def test_the_probabilities_of_all_words_add_up_to_one(learned):
    every = np.arange(len(learned.words))
    found = list(losses_by_hand(learned, every, np.full(len(every), 3)))
    assert np.exp(-np.array(found)).sum() == pytest.approx(1, abs=1e-6)


def test_one_pair_moves_against_the_gradient_of_its_loss(learned):
    rate, eps = 1e-3, 1e-3
    word, neighbor = 4, 7
    steps = slice(learned.tree.starts[word], learned.tree.starts[word + 1])
    nodes = learned.tree.nodes[steps]
    for rows in (learned.x[neighbor], learned.y):  # large enough for a gradient to be seen
        rows += RNG.standard_normal(rows.shape).astype(np.float32)

    def loss():
        return next(losses_by_hand(learned, [word], [neighbor]))

    def slopes(row):
        for j in range(row.size):
            middle = row[j]
            row[j] = middle + eps
            up = loss()
            row[j] = middle - eps
            yield (up - loss()) / (2 * eps)
            row[j] = middle

    rows = [learned.x[neighbor], *learned.y[nodes]]
    expected = [np.array([*slopes(learned.x[neighbor])])]
    expected += [np.array([*slopes(learned.y[node])]) for node in nodes]
    x, y = learned.x.astype(float), learned.y.copy()
    change = np.empty(y.shape[1], np.float32)
    moved = learned.x[neighbor].copy()
    skip_gram.learn(moved, y, nodes, learned.tree.turns[steps], np.float32(rate), change)
    after = [moved, *y[nodes]]
    for before, now, gradient in zip(rows, after, expected, strict=True):
        np.testing.assert_allclose((before - now) / rate, gradient, atol=1e-2)
    assert np.array_equal(x, learned.x)


def test_one_core_learns_the_same_every_time():
    one, other = (SkipGram(TEXT, dim=10) for _ in range(2))
    found = [list(train(model, 2, cores=1)) for model in (one, other)]
    assert np.array_equal(one.x, other.x) and np.array_equal(one.y, other.y)
    assert [epoch.loss for epoch in found[0]] == [epoch.loss for epoch in found[1]]


def test_several_cores_learn_as_well():
    one, several = SkipGram(TEXT, dim=10), SkipGram(TEXT, dim=10)
    *_, alone = train(one, 5, cores=1)
    *_, together = train(several, 5, cores=2)
    assert together.loss == pytest.approx(alone.loss, rel=0.02)
    assert "2 cores without locks" in repr(together)


def test_the_loss_falls_and_padding_stays_zero(learned):
    fresh = SkipGram(TEXT, dim=10, window=3)
    assert learned.loss() < fresh.loss()
    assert fresh.loss() == pytest.approx(  # a fair coin at every inner node
        np.log(2) * np.mean(fresh.tree.depths[fresh.pairs()[0]]), rel=1e-5
    )
    assert not learned.x[:, 10:].any() and not learned.y[:, 10:].any()
    assert learned.vectors.shape == (len(learned.words), 10)


def test_pairs_look_as_far_as_the_window_and_never_over_a_sentences_end():
    model = SkipGram([["a", "b", "c"], ["d", "a"]], window=1, dim=4)
    found = {(model.words[w], model.words[n]) for w, n in zip(*model.pairs(), strict=True)}
    assert found == {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("d", "a"), ("a", "d")}


def test_rare_words_are_left_out_and_long_sentences_cut():
    model = SkipGram([["a", "rare", "b"] * 1000, ["a"]], dim=4, rare=1)
    assert np.diff(model.starts).tolist() == [1000, 1000, 1000, 1]
    model = SkipGram([["a", "rare", "b"], ["a", "b"]], dim=4, rare=2)
    assert model.words == ["a", "b"] and model.tokens.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ([], "two different words at least; 0"),
        ([[]], "two different words at least; 0"),
        ([["one", "one"]], "two different words at least; 1"),
        ("one two", "list of words"),
        (["one two"], "list of words"),
    ],
)
def test_a_text_without_two_words_is_refused_in_a_sentence(text, words):
    with pytest.raises(ValueError, match=words):
        SkipGram(text)


def test_a_strange_word_and_impossible_numbers_are_refused(learned):
    with pytest.raises(KeyError, match="no word 'unheard'"):
        learned.nearest("unheard")
    with pytest.raises(ValueError, match="1 at least"):
        SkipGram(TEXT, window=0)
    with pytest.raises(ValueError, match="an epoch and a core"):
        next(train(learned, epochs=0))


def test_the_nearest_words_are_others_and_the_nearest_first(learned):
    found = learned.nearest("word0", 4)
    cosines = [cosine for _, cosine in found]
    assert len(found) == 4 and "word0" not in dict(found) and cosines == sorted(cosines)[::-1]


def test_progress_is_told_to_the_end():
    told = []
    list(train(SkipGram(TEXT, dim=4), 2, cores=1, tell=lambda *line: told.append(line)))
    assert told[-1][0] == told[-1][1] == 2 * sum(map(len, TEXT))


def gensims(sentences, **options):
    """(gensim's untrained model, its tree in our words)"""
    word2vec = pytest.importorskip("gensim.models")
    options |= {"sg": 1, "hs": 1, "negative": 0, "sample": 0, "min_count": 1, "workers": 1}
    model = word2vec.Word2Vec(alpha=0.025, min_alpha=0.0001, seed=1, **options)
    model.build_vocab(sentences)
    codes, points = ([model.wv.get_vecattr(word, name) for word in model.wv.index_to_key]
                     for name in ("code", "point"))  # fmt: skip
    return model, SimpleNamespace(
        starts=np.cumsum([0, *map(len, codes)]),
        nodes=np.concatenate(points).astype(np.int32),
        turns=np.concatenate(codes).astype(np.int8),
    )


def news():
    """Gensim's little corpus of 300 news items, its first 100, as lists of words."""
    utils, tests = pytest.importorskip("gensim.utils"), pytest.importorskip("gensim.test.utils")
    with open(tests.datapath("lee_background.cor"), encoding="utf-8") as lines:
        return [utils.simple_preprocess(line) for line in lines][:100]


def test_the_tree_is_as_short_as_gensims():
    text = news()
    ours, (theirs, tree) = SkipGram(text), gensims(text)
    counts = np.array([theirs.wv.get_vecattr(word, "count") for word in theirs.wv.index_to_key])
    assert ours.tree.depths @ ours.counts == np.diff(tree.starts) @ counts


@pytest.fixture(scope="module")
def race():
    """(ours, on gensim's tree, on our own; gensim's) losses before, and after 5 epochs on the same
    text, from the same vectors, at the same rate, all by our own sum over the same pairs."""
    text = news()
    theirs, tree = gensims(text, vector_size=50, window=5, epochs=5, batch_words=500)
    on_theirs, ours = (SkipGram(text, dim=50, window=5) for _ in range(2))
    number = np.array([theirs.wv.key_to_index[word] for word in ours.words])
    ours.x[:, :50] = theirs.wv.vectors[number]
    on_theirs.x[:, :50], on_theirs.tokens = theirs.wv.vectors, number[ours.tokens].astype(np.int32)
    on_theirs.tree = Tree(tree.starts, tree.nodes, tree.turns, max(np.diff(tree.starts)), None)
    before = ours.loss()
    theirs.train(text, total_examples=theirs.corpus_count, epochs=5, start_alpha=0.1)
    words, neighbors = on_theirs.pairs()
    found = mean_loss(theirs.wv.vectors, theirs.syn1, tree, words, neighbors)
    (*_, one), (*_, other) = (train(m, epochs=5, rate=0.1, cores=1) for m in (on_theirs, ours))
    return before, one.loss, other.loss, found


def test_on_gensims_tree_it_learns_what_gensim_learns(race):
    """Seeds, which draw how far each word looks, were seen 0.7 % apart in what was learned."""
    before, on_theirs, _, theirs = race
    assert before - theirs > 0.5
    assert before - on_theirs == pytest.approx(before - theirs, rel=0.03)


def test_on_its_own_tree_it_ends_as_low(race):
    """Equally rare words stand elsewhere in the tree: 0.5 % was seen."""
    _, _, ours, theirs = race
    assert ours == pytest.approx(theirs, rel=0.02)
