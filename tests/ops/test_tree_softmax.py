"""Huffman's tree, a softmax along its paths, how it learns in place."""

import heapq
from itertools import pairwise

import numpy as np
import pytest
from numba import set_num_threads

from gpulessons import gpu, microscope, tree_softmax
from gpulessons.ops.huffman import huffman, zipf
from gpulessons.ops.tree_softmax import zipf_tree
from gpulessons.ops.tree_update import tree_step, tree_update, tree_update_cuda

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


def test_a_million_words_are_13_steps_deep_on_average_and_24_at_most():
    frequency = zipf(1_000_000)
    tree = huffman(frequency)
    assert np.average(tree.depths, weights=frequency) == pytest.approx(13.4336, abs=1e-3)
    assert tree.longest == 24
    assert (tree.nodes.dtype, tree.turns.dtype) == (np.int32, np.int8)


# -- The softmax.


def losses_of_all(h, w, tree):
    """−log p of every class, for one h: (classes,)."""
    classes = len(tree.starts) - 1
    return tree_softmax(np.tile(h, (classes, 1)), np.arange(classes), w, *tree.paths)[0]


def test_the_probabilities_of_all_classes_add_up_to_one():
    rng = np.random.default_rng(0)
    for classes, scale in ((2, 1.0), (3, 30.0), (100, 1.0), (301, 5.0)):
        h, w = rng.standard_normal(7), scale * rng.standard_normal((classes - 1, 7))
        assert np.exp(-losses_of_all(h, w, zipf_tree(classes))).sum() == pytest.approx(1)


def test_dh_and_slopes_are_derivatives():
    h, labels, w, *paths = tree_softmax.inputs(33, examples=5, dim=4)
    h, w = h.astype(float) / 50, w.astype(float)
    _, dh, slopes = tree_softmax(h, labels, w, *paths)
    starts, nodes = paths[:2]
    tiny, rng = 1e-6, np.random.default_rng(0)
    for way in (rng.standard_normal(h.shape), *np.eye(h.size).reshape(-1, *h.shape)[:3]):
        more, less = (tree_softmax(h + s * tiny * way, labels, w, *paths)[0].sum() for s in (1, -1))
        assert (more - less) / (2 * tiny) == pytest.approx((dh * way).sum(), abs=1e-7)
    gradient = np.zeros_like(w)
    for e, label in enumerate(labels):
        path = nodes[starts[label] : starts[label + 1]]
        gradient[path] += slopes[e, : len(path), None] * h[e]
    way = rng.standard_normal(w.shape)
    more, less = (tree_softmax(h, labels, w + s * tiny * way, *paths)[0].sum() for s in (1, -1))
    assert (more - less) / (2 * tiny) == pytest.approx((gradient * way).sum(), abs=1e-7)


@pytest.mark.parametrize("label", [-1, 33])
def test_a_label_that_is_no_class_is_named(label):
    h, labels, *rest = tree_softmax.inputs(33, examples=5, dim=4)
    labels[2] = label
    with pytest.raises(ValueError, match=f"Example 2 has the label {label}"):
        tree_softmax(h, labels, *rest)


def test_a_warp_reads_whole_rows():
    (warp,) = (v for v in tree_softmax.versions.values() if v.backend is gpu)
    with microscope.tracing() as launches:
        warp(*tree_softmax.inputs(1000, examples=64, dim=32))
    assert launches[0].coalescing("w").sectors_per_request == 4


# -- Learning, in place.


def learned(update, h, labels, w, slopes, starts, nodes):
    w = w.copy()
    update(w, h, labels, slopes, starts, nodes, 0.1)
    return w


def test_an_update_moves_the_rows_on_the_paths_and_no_others():
    h, labels, w, *paths = tree_softmax.inputs(101, examples=40, dim=37)
    starts, nodes, *_ = paths
    slopes = tree_softmax(h, labels, w, *paths)[2].astype(np.float32)
    arrays = h, labels, w, slopes, starts, nodes
    wanted = w.astype(float)
    for e, label in enumerate(labels):
        for step, node in enumerate(nodes[starts[label] : starts[label + 1]]):
            wanted[node] -= 0.1 * slopes[e, step] * h[e].astype(float)
    assert np.allclose(learned(tree_update, *arrays), wanted, atol=1e-3)
    with microscope.tracing() as launches:
        assert np.allclose(learned(tree_update_cuda, *arrays), wanted, atol=1e-3)
    assert not launches[0].races().cells


def test_a_step_is_the_forward_pass_and_then_the_update_whatever_the_cores():
    h, labels, w, *paths = tree_softmax.inputs(101, examples=40, dim=70)
    tree, results = zipf_tree(101), []
    losses, dh, slopes = tree_softmax(h, labels, w, *paths)
    wanted = learned(tree_update, h, labels, w, slopes, *paths[:2])
    for cores in (1, 2):
        set_num_threads(cores)
        results.append((own := w.copy(), *tree_step(h, labels, own, tree, 0.1)))
    for new_w, new_losses, new_dh in results:
        assert np.allclose(new_losses, losses, rtol=1e-4, atol=1e-4)
        assert np.allclose(new_dh, dh, atol=1e-3) and np.allclose(new_w, wanted, atol=1e-3)
    assert np.array_equal(results[0][0], results[1][0])
