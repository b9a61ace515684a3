"""Huffman's tree is a tree, is optimal, and lies in memory as it says."""

import heapq
from itertools import pairwise

import numpy as np
import pytest

from gpulessons.ops.huffman import huffman, zipf

RNG = np.random.default_rng(0)
COUNTS = {
    "two": [3, 1],
    "equal": [5] * 37,
    "zeros": [0] * 12,
    "some zeros": [0, 3, 0, 0, 9, 1],
    "shuffled": RNG.permutation(zipf(1000)),
    "doubling": 2.0 ** np.arange(200),
    "fibonacci": [1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89],
}


def cost_by_heap(counts):
    """The sum of count times depth in an optimal tree: what all inner nodes weigh."""
    heap, cost = sorted(map(float, counts)), 0.0
    while len(heap) > 1:
        pair = heapq.heappop(heap) + heapq.heappop(heap)
        cost += pair
        heapq.heappush(heap, pair)
    return cost


@pytest.mark.parametrize("name", COUNTS)
def test_it_is_a_tree_and_no_tree_has_a_smaller_mean_depth(name):
    counts = np.asarray(COUNTS[name])
    tree = huffman(counts)
    assert np.dot(counts, tree.depths) == pytest.approx(cost_by_heap(counts), rel=1e-12)
    assert sum(2 ** int(tree.longest - d) for d in tree.depths) == 2**tree.longest  # Kraft's sum
    for c, (first, end) in enumerate(pairwise(tree.starts)):
        node = 0
        for step in range(first, end):  # the path leads from the root to the class
            assert tree.nodes[step] == node
            node = tree.children[node, tree.turns[step]]
        assert node == ~c
    for node, pair in enumerate(tree.children):
        assert all(child < 0 or child > node for child in pair)


def test_equal_counts_make_paths_of_equal_length():
    assert set(huffman(np.ones(64)).depths) == {6}
    assert set(huffman(np.zeros(37)).depths) == {5, 6}


def test_a_million_words_are_13_steps_deep_on_average_and_24_at_most():
    frequency = zipf(1_000_000)
    tree = huffman(frequency)
    assert np.average(tree.depths, weights=frequency) == pytest.approx(13.4336, abs=1e-3)
    assert tree.longest == 24
    assert (tree.nodes.dtype, tree.turns.dtype) == (np.int32, np.int8)


@pytest.mark.parametrize(
    "counts, why",
    [([1], "two classes at least"), ([[1, 2]], "array of numbers"), ([1, -2, 3], "class 1's is -2"),
     ([1, 2, np.nan], "class 2's is nan"), (["a", "b"], "array of numbers")],
)  # fmt: skip
def test_bad_counts_are_refused_by_name(counts, why):
    with pytest.raises(ValueError, match=why):
        huffman(counts)
