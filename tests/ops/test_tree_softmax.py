"""The tree: a softmax along paths, how it learns in place, and the search for a class."""

import numpy as np
import pytest
from numba import set_num_threads

from gpulessons import gpu, microscope, tree_softmax
from gpulessons.backends import host
from gpulessons.ops.huffman import huffman, zipf
from gpulessons.ops.tree_search import nodes_visited, search
from gpulessons.ops.tree_softmax import zipf_tree
from gpulessons.ops.tree_update import tree_step, tree_update, tree_update_cuda

ON_CPU = [v for v in tree_softmax.versions.values() if v.backend is host]
ON_GPU = [v for v in tree_softmax.versions.values() if v.backend is gpu]


def losses_of_all(h, w, tree):
    """−log p of every class, for one h: (classes,)."""
    classes = len(tree.starts) - 1
    return tree_softmax(np.tile(h, (classes, 1)), np.arange(classes), w, *tree.paths)[0]


def test_the_probabilities_of_all_classes_add_up_to_one():
    rng = np.random.default_rng(0)
    for classes, scale in ((2, 1.0), (3, 30.0), (100, 1.0), (301, 5.0)):
        h, w = rng.standard_normal(7), scale * rng.standard_normal((classes - 1, 7))
        assert np.exp(-losses_of_all(h, w, zipf_tree(classes))).sum() == pytest.approx(1)


def test_two_classes_are_a_sigmoid():
    h, w = np.array([[0.3, -2.0]]), np.array([[1.5, 0.25]])
    tree = huffman([1, 2])  # the rarer class is child 0
    p = 1 / (1 + np.exp(-h[0] @ w[0]))
    assert np.exp(-losses_of_all(h, w, tree)) == pytest.approx([p, 1 - p])


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
def test_a_label_that_is_no_class_is_named_or_a_nan_on_a_gpu(label):
    h, labels, *rest = tree_softmax.inputs(33, examples=5, dim=4)
    out = tree_softmax.poisoned(host, h, labels, *rest)
    labels[2] = label
    for version in ON_CPU:
        with pytest.raises(ValueError, match=f"Example 2 has the label {label}"):
            version.function(h, labels, *rest, **({"out": out} if version.writes_out else {}))
    with microscope.tracing():
        for version in ON_GPU:
            room = tuple(map(gpu.put, out))
            inputs = [gpu.put(each) for each in (h, labels, *rest)]
            losses = gpu.get(version(*inputs, out=room)[0])
            assert np.isnan(losses[2]) and np.isfinite(np.delete(losses, 2)).all()


def test_a_warp_reads_whole_rows_and_32_threads_read_as_many_places():
    inputs, sectors = tree_softmax.inputs(1000, examples=64, dim=32), {}
    for version in ON_GPU:
        with microscope.tracing() as launches:
            version(*inputs)
        sectors[version.name] = launches[0].coalescing("w").sectors_per_request
    thread, warp, block = sectors.values()
    assert warp == block == 4 < thread / 2


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
    labels[3] = 101
    with pytest.raises(ValueError, match="Example 3"):
        learned(tree_update, *arrays)


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


def test_what_a_step_refuses_changes_nothing():
    h, labels, w, *_ = tree_softmax.inputs(33, examples=5, dim=4)
    before, hole = w.copy(), np.where(np.arange(5)[:, None] == 2, np.nan, h)
    for wrong_h, wrong_labels, why in ((h, labels + 33, "label"), (hole, labels, r"h\[2\]")):
        with pytest.raises(ValueError, match=why):
            tree_step(wrong_h, wrong_labels, w, zipf_tree(33), 0.1)
    assert np.array_equal(w, before)


# -- Answering.


def test_the_search_finds_the_likeliest_of_all_classes():
    rng = np.random.default_rng(1)
    for classes, scale in ((2, 1), (50, 0.1), (50, 1), (301, 3)):
        tree = huffman(rng.permutation(zipf(classes)))
        w = np.float32(scale) * rng.standard_normal((classes - 1, 9), np.float32)
        for h in rng.standard_normal((5, 9), np.float32):
            found, chance, visited = search(h, w, tree.children, tree.longest)
            losses = losses_of_all(h.astype(float), w.astype(float), tree)
            assert found == losses.argmin() and chance == pytest.approx(-losses.min(), abs=1e-4)
            assert tree.depths[found] <= visited <= classes - 1


def test_a_sure_layer_walks_one_path_and_an_unsure_one_the_whole_tree():
    tree, rng = huffman(np.ones(64)), np.random.default_rng(0)
    w = rng.standard_normal((63, 8), np.float32)
    h = rng.standard_normal((3, 8), np.float32)
    assert nodes_visited(0 * h, w, tree.children, tree.longest).tolist() == [63] * 3
    assert nodes_visited(1000 * h, w, tree.children, tree.longest).tolist() == [6] * 3
    found, chance, _ = search(np.nan * h[0], w, tree.children, tree.longest)
    assert found == -1 and np.isnan(chance)
