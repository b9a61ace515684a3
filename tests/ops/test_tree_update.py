"""The tree learns: each way to add up a batch's changes, and that nothing changes when refused."""

import numba
import numpy as np
import pytest

from gpulessons import tree_softmax
from gpulessons.ops import tree_update as updates
from gpulessons.ops.huffman import huffman, zipf
from gpulessons.ops.rows import warp_per_row
from gpulessons.ops.tree_softmax import zipf_tree
from gpulessons.ops.tree_update import tree_step, tree_update, tree_update_cuda, tree_update_numba
from warplens import trace, tracing
from warplens.code.cuda import CAPABILITIES, assembly

SIZES = ODD, MANY, *_ = tree_softmax.edge_cases


def batch(classes):
    """h, labels, w, tree and slopes."""
    h, labels, w, *paths = tree_softmax.inputs(classes)
    return h, labels, w, zipf_tree(classes), tree_softmax(h, labels, w, *paths)[2]


def by_add_at(w, h, labels, slopes, tree, rate):
    """In float64, one addition for each step of each path; duplicates are added up."""
    which = np.repeat(np.arange(len(labels)), tree.depths[labels])
    steps = np.concatenate([np.arange(d) for d in tree.depths[labels]])
    nodes = tree.nodes[tree.starts[labels][which] + steps]
    changed = w.astype(np.float64)
    np.add.at(changed, nodes, -rate * slopes[which, steps][:, None] * h[which].astype(float))
    return changed


@pytest.mark.parametrize("update", [tree_update, tree_update_numba, tree_update_cuda])
@pytest.mark.parametrize("classes", SIZES)
def test_every_update_is_that_of_add_at(classes, update):
    h, labels, w, tree, slopes = batch(classes)
    labels[-1] = labels[0]  # one path twice, besides the root
    due = by_add_at(w, h, labels, slopes, tree, 0.1)
    with tracing():
        update(w, h, labels, slopes, tree.starts, tree.nodes, 0.1)
    assert np.allclose(w, due, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("dim", [1, 15, 17, 64, 100])
def test_whatever_the_cores_the_bits_are_the_same(dim):
    rng, tree = np.random.default_rng(dim), huffman(zipf(50))
    h = rng.standard_normal((40, dim), np.float32)
    labels = rng.integers(0, 50, 40)
    slopes = rng.standard_normal((40, tree.longest), np.float32)
    results, before = [], numba.get_num_threads()
    try:
        for cores in range(1, before + 1):
            numba.set_num_threads(cores)
            w = np.ones((49, dim), np.float32)
            tree_update_numba(w, h, labels, slopes, tree.starts, tree.nodes, 0.5)
            results.append(w)
    finally:
        numba.set_num_threads(before)
    w = np.ones((49, dim), np.float32)
    tree_update(w, h, labels, slopes, tree.starts, tree.nodes, np.float32(0.5))
    assert all(np.array_equal(results[0], other) for other in results)
    assert np.allclose(results[0], w, atol=1e-4)


def test_a_step_is_the_forward_pass_before_and_the_update_after():
    h, labels, w, tree, _ = batch(MANY)
    losses, dh, slopes = tree_softmax(h, labels, w, *tree.paths)
    due = by_add_at(w, h, labels, slopes, tree, 0.05)
    got = tree_step(h, labels, w, tree, 0.05)
    assert np.allclose(got[0], losses, rtol=1e-5) and np.allclose(got[1], dh, atol=1e-3)
    assert np.allclose(w, due, rtol=1e-5, atol=1e-4)


def test_steps_on_one_batch_bring_its_loss_down():
    rng = np.random.default_rng(0)
    tree, labels = huffman(zipf(100)), rng.integers(0, 100, 32)
    h, w = rng.standard_normal((32, 16), np.float32), np.zeros((99, 16), np.float32)
    losses = [tree_step(h, labels, w, tree, 0.1)[0].mean() for _ in range(30)]
    assert np.all(np.diff(losses) < 0) and losses[-1] < losses[0] / 3


@pytest.mark.parametrize("fault", ["label", "nan", "infinity"])
def test_what_is_refused_changes_nothing(fault):
    h, labels, w, tree, _ = batch(ODD)
    before = w.copy()
    if fault == "label":
        labels[5], said = 33, "Example 5 has the label 33; the classes are 0 to 32"
    else:
        h[5, 2], said = np.nan if fault == "nan" else -np.inf, r"h\[5\] holds a NaN"
    with pytest.raises(ValueError, match=said):
        tree_step(h, labels, w, tree, 0.1)
    assert np.array_equal(w, before)


@pytest.mark.parametrize("update", [tree_update, tree_update_numba])
def test_an_update_refuses_a_label_that_is_no_class(update):
    h, labels, w, tree, slopes = batch(ODD)
    labels[1], before = -1, w.copy()
    with pytest.raises(ValueError, match="Example 1 has the label -1"):
        update(w, h, labels, slopes, tree.starts, tree.nodes, 0.1)
    assert np.array_equal(w, before)


def test_on_a_gpu_a_label_that_is_no_class_changes_nothing():
    h, labels, w, tree, slopes = batch(ODD)
    labels[:], before = [33, -1, *[40] * 31], w.copy()
    with tracing():
        tree_update_cuda(w, h, labels, slopes, tree.starts, tree.nodes, 0.1)
    assert np.array_equal(w, before)


def test_only_the_rows_on_the_batchs_paths_change():
    h, labels, w, tree, _ = batch(1000)
    before = w.copy()
    tree_step(h, labels, w, tree, 0.1)
    seen = np.unique(np.concatenate([tree.nodes[tree.starts[c] : tree.starts[c + 1]]
                                     for c in labels]))  # fmt: skip
    changed = (w != before).any(axis=1).nonzero()[0]
    assert np.isin(changed, seen).all() and len(changed) > 0.8 * len(seen)


@pytest.fixture(scope="module")
def arguments():
    h, labels, w, tree, slopes = batch(MANY)
    return w, h, labels, slopes, tree.starts, tree.nodes, np.float32(0.1)


def test_the_kernel_has_no_races(arguments):
    seen = trace(updates.update_kernel)[warp_per_row(len(arguments[1]))](*arguments)
    assert not seen.races().cells and not seen.warnings
    assert seen.coalescing("h", "read").efficiency > 0.5


@pytest.mark.parametrize("capability", CAPABILITIES)
def test_the_kernel_compiles_without_spills_or_doubles(arguments, capability):
    compiled = assembly(updates.update_kernel, *arguments, capability=capability)
    assert (compiled.spills, compiled.local, compiled.doubles) == (0, 0, ())
