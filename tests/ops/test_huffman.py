"""Huffman's tree is a tree, is optimal, and lies in memory as it says."""

import heapq
from itertools import pairwise

import numpy as np
import pytest

from gpulessons.ops.huffman import huffman, zipf

RNG = np.random.default_rng(0)
COUNTS = {
    "two": [3, 1],
    "three": [1, 1, 1],
    "equal": [5] * 37,
    "zeros": [0] * 12,
    "some zeros": [0, 3, 0, 0, 9, 1],
    "zipf": zipf(1009),
    "shuffled": RNG.permutation(zipf(1000)),
    "integers": RNG.integers(1, 50, 400),
    "doubling": 2.0 ** np.arange(200),
    "fibonacci": np.array([1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89]),
}
each = pytest.mark.parametrize("counts", [np.asarray(c) for c in COUNTS.values()], ids=[*COUNTS])


def cost_by_heap(counts):
    """The sum of count times depth in an optimal tree: what all inner nodes weigh."""
    heap, cost = sorted(map(float, counts)), 0.0
    while len(heap) > 1:
        pair = heapq.heappop(heap) + heapq.heappop(heap)
        cost += pair
        heapq.heappush(heap, pair)
    return cost


def names(tree):
    return [tuple(tree.turns[a:b]) for a, b in pairwise(tree.starts)]


@each
def test_krafts_sum_is_one(counts):
    depths = huffman(counts).depths
    assert sum(2 ** int(depths.max() - d) for d in depths) == 2 ** int(depths.max())


@each
def test_no_tree_has_a_smaller_mean_depth(counts):
    assert np.dot(counts, huffman(counts).depths) == pytest.approx(cost_by_heap(counts), rel=1e-12)


@each
def test_the_mean_depth_is_less_than_one_above_the_entropy(counts):
    if not counts.sum():
        pytest.skip("no counts, no entropy")
    p = counts[counts > 0] / counts.sum()
    entropy, mean = -(p * np.log2(p)).sum(), (counts / counts.sum()) @ huffman(counts).depths
    assert entropy - 1e-9 <= mean < entropy + 1


@each
def test_no_name_begins_another(counts):
    found = sorted(names(huffman(counts)))  # sorted, a prefix stands right before what it begins
    assert not any(b[: len(a)] == a for a, b in pairwise(found))


@each
def test_a_path_follows_the_children_from_the_root_to_its_class(counts):
    tree = huffman(counts)
    for c, (start, stop) in enumerate(pairwise(tree.starts)):
        at = 0
        for node, turn in zip(tree.nodes[start:stop], tree.turns[start:stop], strict=True):
            assert node == at
            at = tree.children[node, turn]
        assert at == ~c
    assert tree.longest == tree.depths.max()


@each
def test_numbers_grow_with_depth_and_the_rarer_child_is_first(counts):
    tree = huffman(counts)
    depth, weight = np.zeros(len(tree.children), int), np.asarray(counts, float)[::-1]
    for node, pair in enumerate(tree.children):
        assert all(child < 0 or child > node for child in pair)
        depth[pair[pair >= 0]] = depth[node] + 1
    assert (np.diff(depth) >= 0).all()
    sums = np.concatenate([np.zeros(len(depth)), weight])  # ~c, counted from the end, is class c
    for node in range(len(depth) - 1, -1, -1):
        rarer, other = sums[tree.children[node]]
        assert rarer <= other
        sums[node] = rarer + other


def test_equal_counts_make_paths_of_equal_length():
    assert set(huffman([1] * 64).depths) == {6}
    assert set(huffman([1] * 65).depths) == {6, 7}


def test_a_million_words_are_13_steps_deep_on_average_and_24_at_most():
    counts = zipf(1_000_000)
    tree = huffman(counts)
    assert tree.longest == 24
    assert counts @ tree.depths / counts.sum() == pytest.approx(13.43, abs=0.01)


def test_the_same_counts_make_the_same_tree_in_any_unit():
    counts = RNG.integers(0, 9, 300)
    for again in (counts.copy(), counts.astype(np.float32), list(map(int, counts)), counts / 8):
        for a, b in zip(huffman(counts), huffman(again), strict=True):
            assert np.array_equal(a, b)


def test_the_arrays_are_as_small_as_they_say():
    tree = huffman(zipf(50))
    assert [a.dtype for a in (tree.starts, tree.nodes, tree.turns, tree.children)] == [
        np.int64, np.int32, np.int8, np.int32]  # fmt: skip
    assert tree.children.shape == (49, 2) and len(tree.nodes) == tree.starts[-1]


@pytest.mark.parametrize(
    "counts, said",
    [
        ([], "two classes at least, and counts has 0"),
        ([7], "two classes at least, and counts has 1"),
        ([1, -2, 3], "class 1's is -2"),
        ([1, 2, np.nan], "class 2's is nan"),
        ([1, np.inf], "class 1's is inf"),
        ([[1, 2], [3, 4]], "one for each class"),
        (["a", "b"], "one for each class"),
    ],
)
def test_bad_counts_are_refused_in_a_sentence(counts, said):
    with pytest.raises(ValueError, match=said):
        huffman(counts)
