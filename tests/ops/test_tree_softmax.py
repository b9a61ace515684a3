"""A softmax over a tree: its probabilities add up, its gradients are right, its rows scatter."""

import math

import numpy as np
import pytest

from gpulessons import tree_softmax
from gpulessons.backends import gpu, host, torch_cpu
from gpulessons.operation import fetched
from gpulessons.ops.huffman import huffman, zipf
from warplens import tracing

ON_CPU = [v for v in tree_softmax.versions.values() if v.backend in (host, torch_cpu)]
ON_GPU = [v for v in tree_softmax.versions.values() if v.backend is gpu]
each_on_cpu = pytest.mark.parametrize("version", ON_CPU, ids=lambda v: v.name)
each_on_gpu = pytest.mark.parametrize("version", ON_GPU, ids=lambda v: v.name)


def problem(classes, examples=5, dim=6, scale=1.0, counts=None):
    """h, labels, w in float64, and a tree."""
    rng = np.random.default_rng(classes)
    h, w = rng.normal(0, scale, (examples, dim)), rng.normal(0, 1, (classes - 1, dim))
    tree = huffman(zipf(classes) if counts is None else counts)
    return h, rng.integers(0, classes, examples), w, tree


def run(version, *inputs):
    if why := version.backend.why_not():
        pytest.skip(why)
    return fetched(version.backend, version(*map(version.backend.put, inputs)))


def singles(h, labels, w):
    return h.astype(np.float32), labels.astype(np.int32), w.astype(np.float32)


@pytest.mark.parametrize("scale", [0, 1, 30])
@pytest.mark.parametrize("classes", [2, 3, 7, 1000])
def test_the_probabilities_of_all_classes_add_up_to_one(classes, scale):
    h, _, w, tree = problem(classes, examples=1, scale=scale)
    everyone = np.repeat(h, classes, axis=0)
    losses, _, _ = tree_softmax(everyone, np.arange(classes), w, *tree.paths)
    assert np.exp(-losses).sum() == pytest.approx(1, abs=1e-12)


def test_with_no_weights_a_probability_is_that_of_tossing_coins():
    _, labels, w, tree = problem(50, examples=50)
    losses, _, _ = tree_softmax(np.ones((50, 6)), labels, 0 * w, *tree.paths)
    assert np.allclose(losses, tree.depths[labels] * math.log(2))


def test_two_classes_are_a_sigmoid():
    h, _, w, tree = problem(2)
    losses, _, slopes = tree_softmax(h, np.array([0, 1, 1, 0, 0]), w, *tree.paths)
    p = 1 / (1 + np.exp(-h @ w[0]))
    right = np.where([0, 1, 1, 0, 0], p, 1 - p)  # the rarer class, 1, is child 0
    assert np.allclose(losses, -np.log(right))
    assert np.allclose(slopes[:, 0], p - [0, 1, 1, 0, 0])


@pytest.mark.parametrize("classes", [2, 3, 40])
def test_dh_and_slopes_are_derivatives(classes):
    """By differences of the loss; each row of w moves the loss by the slopes at it, times h."""
    h, labels, w, tree = problem(classes)
    _, dh, slopes = tree_softmax(h, labels, w, *tree.paths)

    def loss(h, w):
        return tree_softmax(h, labels, w, *tree.paths)[0].sum()

    def by_differences(x, f, step=1e-6):
        found = np.empty_like(x)
        for at in np.ndindex(x.shape):
            up, down = x.copy(), x.copy()
            up[at], down[at] = x[at] + step, x[at] - step
            found[at] = (f(up) - f(down)) / (2 * step)
        return found

    dw = np.zeros_like(w)
    for e, label in enumerate(labels):
        path = tree.nodes[tree.starts[label] : tree.starts[label + 1]]
        dw[path] += slopes[e, : path.size, None] * h[e]
    assert np.allclose(dh, by_differences(h, lambda x: loss(x, w)), atol=1e-6)
    assert np.allclose(dw, by_differences(w, lambda x: loss(h, x)), atol=1e-6)


@each_on_cpu
def test_behind_a_path_s_end_slopes_are_zero(version):
    h, labels, w, tree = problem(9, examples=4)
    labels[:2] = 0, 8
    _, _, slopes = run(version, *singles(h, labels, w), *tree.paths)
    for row, depth in zip(slopes, tree.depths[labels], strict=True):
        assert np.all(row[:depth] != 0) and np.all(row[depth:] == 0)


@each_on_cpu
def test_a_long_path_needs_no_product_of_probabilities(version):
    """Counts that double make a path of 900 steps: 2^-900 is no float32, and no matter."""
    counts = 2.0 ** np.arange(901)
    h, _, w, tree = problem(901, examples=2, counts=counts)
    losses, _, _ = run(version, *singles(h, np.array([0, 900]), 0 * w), *tree.paths)
    assert tree.longest == 900
    assert losses == pytest.approx([900 * math.log(2), math.log(2)], rel=1e-5)


@each_on_cpu
def test_scores_of_thousands_overflow_nothing(version):
    _, _, _, tree = problem(3)
    h, w = np.array([[1.0], [-1.0]]), np.array([[5000.0], [5000.0]])
    losses, dh, slopes = run(version, *singles(h, np.array([0, 0]), w), *tree.paths)
    assert np.isfinite(dh).all()
    assert sorted(losses) == [0, 5000]  # class 0 is alone below the root: one step
    assert np.array_equal(np.abs(slopes).max(axis=1), losses / 5000)


@each_on_cpu
@pytest.mark.parametrize("label", [-1, 7, 2**31 - 1])
def test_a_label_that_is_no_class_is_named(version, label):
    h, labels, w, tree = problem(7)
    labels[3] = label
    with pytest.raises(ValueError, match=f"Example 3 has the label {label}; .* 0 to 6"):
        run(version, *singles(h, labels, w), *tree.paths)


@each_on_gpu
@pytest.mark.parametrize("label", [-1, 7])
def test_on_a_gpu_a_label_that_is_no_class_makes_a_nan(version, label):
    h, labels, w, tree = problem(7)
    labels[3] = label
    inputs = *singles(h, labels, w), *tree.paths
    out = tuple(np.empty(*kind) for kind in tree_softmax.outputs(*problem_inputs(7)))
    with tracing():
        version.function(*inputs, out=out)
    assert np.isnan(out[0]).tolist() == [False, False, False, True, False]
    assert not out[1][3].any() and not out[2][3].any()


def problem_inputs(classes):
    h, labels, w, tree = problem(classes)
    return *singles(h, labels, w), *tree.paths


@each_on_cpu
def test_a_nan_stays_with_its_own_example(version):
    h, labels, w, tree = problem(20)
    h[2, 3] = np.nan
    labels[2] = 0  # whose path is short
    with np.errstate(invalid="ignore"):
        losses, dh, slopes = run(version, *singles(h, labels, w), *tree.paths)
    assert np.isnan(losses).tolist() == [False, False, True, False, False]
    assert np.isnan(dh).all(axis=1).tolist() == np.isnan(dh).any(axis=1).tolist()
    assert np.isnan(dh).any(axis=1).tolist() == np.isnan(losses).tolist()
    assert not slopes[2, tree.depths[0] :].any()


@each_on_cpu
def test_labels_may_be_of_64_bits(version):
    h, labels, w, tree = problem(20)
    h, short, w = singles(h, labels, w)
    same = zip(
        run(version, h, short, w, *tree.paths),
        run(version, h, labels.astype(np.int64), w, *tree.paths), strict=True,
    )  # fmt: skip
    assert all(np.array_equal(a, b) for a, b in same)


def test_the_bytes_are_those_of_the_paths_and_not_of_the_table():
    """Four examples of one class: its rows once, its path once, h twice, two results besides."""
    h, _, w, tree = problem(1000, examples=4)
    labels = np.full(4, 7)
    depth, dim = int(tree.depths[7]), h.shape[1]
    inputs = *singles(h, labels, w), *tree.paths
    rows, path = depth * dim * 4, depth * (4 + 1) + 2 * 8
    h_and_dh, labels_and_losses, slopes = 2 * 4 * dim * 4, 2 * 4 * 4, 4 * tree.longest * 4
    assert tree_softmax.bytes(*inputs) == rows + path + h_and_dh + labels_and_losses + slopes
    assert tree_softmax.bytes(*inputs) < w.nbytes / 10
    assert tree_softmax.flops(*inputs) == 4 * depth * (4 * dim + 8)


# -- What the kernels do, counted: 64 examples, 64 columns, 1,000 classes.


@pytest.fixture(scope="module")
def traces():
    inputs = tree_softmax.inputs(1_000)
    found = {}
    for version in ON_GPU:
        with tracing() as launches:
            out = tree_softmax.poisoned(host, *inputs)
            version.function(*inputs, out=out)
        (found[version.name],) = launches
    return found


def test_a_warp_reads_whole_rows_and_32_threads_read_as_many_places(traces):
    """Every step of every path, 460 in all, reads its row twice, by 64 columns."""
    _, labels, _, starts, *_ = tree_softmax.inputs(1_000)
    steps = int((starts[labels + 1] - starts[labels]).sum())
    thread, warp, block = (traces[f"CUDA, a {who} per example"].coalescing
                           for who in ("thread", "warp", "block"))  # fmt: skip
    assert steps == 460
    for rows in (warp("w", "read"), block("w", "read")):
        assert (rows.sectors_per_request, rows.efficiency) == (4, 1.0)
        assert rows.sectors == 2 * steps * 64 * 4 / 32
    assert thread("h", "read").sectors == steps * 64  # read once: a sector for every number
    assert thread("h", "read").efficiency == 1 / 8
    assert thread("w", "read").efficiency < 1 / 4  # the root is everybody's: one sector for all
    total = [traces[name].coalescing().sectors for name in traces]
    assert total == sorted(total, reverse=True) and total[0] > 5 * total[1]


def test_only_the_warp_s_first_lane_is_alone_but_threads_wait_for_the_longest_path(traces):
    thread, warp, block = (trace.divergence() for trace in traces.values())
    assert thread.efficiency < 0.6 < 0.85 < block.efficiency < 0.93 < warp.efficiency


def test_a_block_writes_dh_once_where_a_warp_adds_to_it_at_every_step(traces):
    written = {name: trace.coalescing("dh", "write").requests for name, trace in traces.items()}
    assert written["CUDA, a block per example"] == 64 * 2  # examples × 64 columns in warps
    assert written["CUDA, a warp per example"] == (64 + 460) * 2
