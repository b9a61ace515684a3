"""Skip-gram with a tree: words that stand near each other get vectors that point the same way.

    p(word | neighbor) = product over the word's path of sigmoid(± x · y)
    loss = −log p;   x: the neighbor's row of a table,  y: an inner node's, of Huffman's tree

A step to child 0 has the plus, one to child 1 the minus; both add up to one, so the leaves do too.
A pair of words touches one row of x and some ten of y, whatever the vocabulary: nothing in it is
dense. Mikolov et al. 2013, "Distributed Representations of Words and Phrases".

Each word draws how far it looks, from 1 to `window`, and the rate falls in a straight line, as in
word2vec and gensim. On several cores nobody locks anything (Hogwild, Recht et al. 2011; gensim does
the same): two cores that change one row at once may lose a change, and no two runs are the same. On
one core they are.

    model = SkipGram(sentences)
    for epoch in train(model):
        print(epoch)
"""

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

import numpy as np
from numba import njit

from gpulessons import units
from gpulessons.hardware.system import cores as cores_here
from gpulessons.ops.common import CACHE_LINE, HALF, ONE, REASSOCIATING, ZERO, ceil_div, exp32
from gpulessons.ops.huffman import huffman

LONGEST = 1000  # words: longer sentences are cut, so that there is something to share out
PIECE = 2_000  # words that a thread takes at a time
JUDGED = 20_000  # words whose pairs the loss is of
LANES = CACHE_LINE // 4  # rows are padded with zeros, which stay zeros, to whole vectors


class SkipGram:
    """The vectors of a text's words, at first random, and those of the tree's inner nodes, zero.

    sentences: lists of words. dim: numbers in a vector; window: how far a word looks at most; rare:
    words that come less often are left out, and their neighbors close up. words: the most frequent
    first. The same seed gives the same first vectors.
    """

    def __init__(self, sentences, dim=100, window=5, rare=1, seed=0):
        if dim < 1 or window < 1:
            raise ValueError(f"dim and window are 1 at least, not {dim} and {window}.")
        counted = counts_of(sentences)
        # Equally rare words stand by the alphabet. By the text, its neighbors would be neighbors in
        # the tree as well, and pull at the same nodes one after the other.
        known = sorted((-n, word) for word, n in counted.items() if n >= rare)
        if len(known) < 2:
            raise ValueError(
                f"A text to learn from has two different words at least; {len(known)} of this "
                f"one's {len(counted)} come {rare} times or more."
            )
        self.words, self.counts = [word for _, word in known], np.array([-n for n, _ in known])
        self.number = {word: n for n, word in enumerate(self.words)}
        self.tree = huffman(self.counts)
        self.tokens, self.starts = self.read(sentences)
        self.dim, self.window, self.seed = dim, window, seed
        width = ceil_div(dim, LANES) * LANES
        self.x, self.y = (np.zeros((n, width), np.float32) for n in (len(known), len(known) - 1))
        first = np.random.default_rng(seed).random((len(known), dim), np.float32)
        self.x[:, :dim] = (first - HALF) / np.float32(dim)

    def read(self, sentences):
        """(which word each is, where each sentence starts): the text as int32 and int64."""
        found = [[self.number[w] for w in sentence if w in self.number] for sentence in sentences]
        pieces = [s[at : at + LONGEST] for s in found for at in range(0, len(s), LONGEST)]
        starts = np.cumsum([0, *map(len, pieces)])
        return np.array([n for piece in pieces for n in piece], np.int32), starts

    @property
    def vectors(self):
        """(words, dim): what was learned."""
        return self.x[:, : self.dim]

    def vector(self, word):
        """(dim,): a word's vector; KeyError for one that the text does not have."""
        if word not in self.number:
            raise KeyError(f"The text has no word {word!r}, or has it too rarely.")
        return self.vectors[self.number[word]]

    def nearest(self, word, count=5):
        """[(word, cosine)]: those whose vectors point most the same way."""
        mine = self.vector(word)
        lengths = np.linalg.norm(self.vectors, axis=1) * np.linalg.norm(mine)
        cosines = self.vectors @ mine / np.maximum(lengths, 1e-12)
        cosines[self.number[word]] = -np.inf
        best = np.argsort(-cosines)[:count]
        return [(self.words[n], float(cosines[n])) for n in best if cosines[n] > -np.inf]

    def loss(self, words=JUDGED):
        """The mean −log p over all pairs of the first so many words, each looking full-window."""
        return mean_loss(self.x, self.y, self.tree, *self.pairs(words))

    def pairs(self, words=JUDGED):
        """(words, neighbors): every pair within the window, of the sentences of the first words."""
        last = max(1, np.searchsorted(self.starts, words, "right") - 1)
        return pairs_of(self.tokens, self.starts[: last + 1], self.window)


def counts_of(sentences):
    """Counter of the words; ValueError where these are no lists of words."""
    if isinstance(sentences, str) or any(isinstance(sentence, str) for sentence in sentences):
        raise ValueError("A text is a list of sentences, each a list of words: split() them.")
    return Counter(word for sentence in sentences for word in sentence)


def mean_loss(x, y, tree, words, neighbors):
    """The mean −log p(word | neighbor). tree: has starts, nodes and turns; words: (n,) integers.

    x and y may be anybody's vectors: this judges gensim's as well.
    """
    return pair_losses(x, y, tree.starts, tree.nodes, tree.turns, words, neighbors) / len(words)


@dataclass(frozen=True)
class Epoch:
    """Where the vectors stand after reading the text so many times."""

    number: int
    loss: float  # SkipGram.loss
    seconds: float  # of training so far
    words_per_second: float  # in this epoch
    cores: int

    def __repr__(self):
        on = "one core" if self.cores == 1 else f"{self.cores} cores without locks"
        return (f"epoch {self.number}: loss {self.loss:.3f}, {units.seconds(self.seconds)}, "
                f"{units.count(self.words_per_second)} words per second on {on}")  # fmt: skip


def train(model, epochs=5, rate=0.025, least=0.0001, cores=None, tell=None):
    """Yield an Epoch each time the text has been read. rate: at the start; least: at the end.

    cores: how many read at once, all by default; with 1 the result is the same every time.
    tell(done, total, words): called after every piece of the text. On Ctrl-C the model keeps what
    it has learned until then.
    """
    cores = cores or cores_here()
    if epochs < 1 or cores < 1:
        raise ValueError(f"Training takes an epoch and a core at least, not {epochs} and {cores}.")
    total, seconds = epochs * len(model.tokens), 0.0
    read_piece(model.x, model.y, *model.tree[:3], model.tokens, model.starts[:1], model.window,
               ZERO, ZERO, 0)  # fmt: skip  (what must compile, does: it reads nothing)
    for number in range(1, epochs + 1):
        begun, before = perf_counter(), (number - 1) * len(model.tokens)

        def read(piece, before=before):
            first, last = piece
            at = (before + model.starts[first]) / total
            now, fall = least + (rate - least) * (1 - at), (rate - least) / total
            read_piece(
                model.x, model.y, *model.tree[:3], model.tokens, model.starts[first : last + 1],
                model.window, np.float32(now), np.float32(fall), model.seed + before + first,
            )  # fmt: skip
            return last

        for last in shared_out(read, pieces(model.starts), cores):
            if tell:
                tell(before + model.starts[last], total, f"epoch {number}")
        took = perf_counter() - begun
        seconds += took
        yield Epoch(number, model.loss(), seconds, len(model.tokens) / took, cores)


def pieces(starts):
    """Yield (first, last) sentence, some PIECE words of them each time."""
    first = 0
    while first < len(starts) - 1:
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + PIECE, "right")) - 1)
        yield first, last
        first = last


def shared_out(work, parts, cores):
    """Yield work(part) of each, in order; several threads take the next part when they are free.

    What is compiled lets go of Python's lock. On Ctrl-C or an error those that have begun end, and
    no other begins.
    """
    if cores == 1:
        yield from map(work, parts)
        return
    pool = ThreadPoolExecutor(cores)
    try:
        yield from pool.map(work, parts)
    finally:
        pool.shutdown(cancel_futures=True)


# -- The loops.

FREE = REASSOCIATING | {"nogil": True}
LCG, STEP, BITS = np.uint64(25214903917), np.uint64(11), np.uint64(16)  # word2vec's own


@njit(**FREE)
def read_piece(x, y, path, nodes, turns, tokens, starts, window, rate, fall, seed):
    """Read these sentences. rate: at the first; fall: what it loses with a word."""
    change = np.empty(x.shape[1], np.float32)
    for s in range(len(starts) - 1):
        now = rate - fall * np.float32(starts[s] - starts[0])
        luck = np.uint64(seed + s) * LCG + STEP
        sentence = tokens[starts[s] : starts[s + 1]]
        read_sentence(x, y, path, nodes, turns, sentence, window, now, luck, change)


@njit(**FREE)
def read_sentence(x, y, path, nodes, turns, sentence, window, rate, luck, change):
    for at in range(len(sentence)):
        luck = luck * LCG + STEP
        reach = 1 + np.int64((luck >> BITS) % np.uint64(window))
        start, stop = path[sentence[at]], path[sentence[at] + 1]
        for other in range(max(0, at - reach), min(len(sentence), at + reach + 1)):
            if other != at:
                learn(x[sentence[other]], y, nodes[start:stop], turns[start:stop], rate, change)


@njit(**FREE)
def learn(x, y, nodes, turns, rate, change):
    """One pair: every step of the path moves its node, and all together, in the end, x."""
    for j in range(x.size):
        change[j] = ZERO
    for step in range(len(nodes)):
        row, score = y[nodes[step]], ZERO
        for j in range(x.size):
            score += x[j] * row[j]
        slope = rate * (np.float32(1 - turns[step]) - ONE / (ONE + exp32(-score)))
        for j in range(x.size):
            change[j] += slope * row[j]
            row[j] += slope * x[j]
    for j in range(x.size):
        x[j] += change[j]


@njit(**FREE)
def pair_losses(x, y, path, nodes, turns, words, neighbors):
    """The sum of −log p over pairs, in float64."""
    total = 0.0
    for n in range(len(words)):
        for step in range(path[words[n]], path[words[n] + 1]):
            score = 0.0
            for j in range(x.shape[1]):
                score += x[neighbors[n], j] * y[nodes[step], j]
            away = score if turns[step] else -score  # log(1 + exp(away)), without overflow
            total += max(away, 0.0) + math.log1p(math.exp(-abs(away)))
    return total


@njit(**FREE)
def pairs_of(tokens, starts, window):
    """(words, neighbors) of whole sentences, each with its full window."""
    words, neighbors = [np.int32(0) for _ in range(0)], [np.int32(0) for _ in range(0)]
    for s in range(len(starts) - 1):
        for at in range(starts[s], starts[s + 1]):
            for other in range(max(starts[s], at - window), min(starts[s + 1], at + window + 1)):
                if other != at:
                    words.append(tokens[at])
                    neighbors.append(tokens[other])
    return np.array(words), np.array(neighbors)
