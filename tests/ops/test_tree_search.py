"""The search finds what looking at every class finds, and says how much of the tree it saw."""

import numpy as np
import pytest

from gpulessons import tree_search, tree_softmax
from gpulessons.backends import gpu, host
from gpulessons.ops.huffman import huffman, zipf
from gpulessons.ops.tree_search import nodes_visited
from warplens import tracing

VERSIONS = [v for v in tree_search.versions.values() if v.backend in (host, gpu)]
each = pytest.mark.parametrize("version", VERSIONS, ids=lambda v: v.name)
SEARCHES = [v for v in VERSIONS if "Numba" in v.name]


def run(version, h, w, tree):
    """On a GPU's versions: in the microscope."""
    inputs = h.astype(np.float32), w.astype(np.float32), tree.children, tree.longest
    with tracing(), np.errstate(invalid="ignore"):
        out = tree_search.poisoned(host, *inputs)
        result = version.bound(inputs, out)()
    return out if result is None else result


def normal(classes, examples=6, dim=5, scale=1.0, counts=None):
    rng = np.random.default_rng(classes)
    tree = huffman(zipf(classes) if counts is None else counts)
    return scale * rng.normal(size=(examples, dim)), rng.normal(size=(classes - 1, dim)), tree


@pytest.mark.parametrize("classes", [2, 3, 40, 500])
def test_the_specification_is_the_best_of_all_that_tree_softmax_says(classes):
    h, w, tree = normal(classes)
    found, chances = tree_search(h, w, tree.children, tree.longest)
    for e, x in enumerate(h):
        everyone = np.repeat(x[None], classes, axis=0)
        losses, _, _ = tree_softmax(everyone, np.arange(classes), w, *tree.paths)
        assert (found[e], chances[e]) == (losses.argmin(), pytest.approx(-losses.min()))


@each
@pytest.mark.parametrize("scale", [0.1, 1, 30])
@pytest.mark.parametrize("classes", [2, 3, 64, 200])
def test_the_search_finds_the_best_of_all_however_flat_they_are(version, classes, scale):
    h, w, tree = normal(classes, scale=scale, counts=np.arange(classes) // 2 + 1)
    due, chances = tree_search(h, w, tree.children, tree.longest)
    found, got = run(version, h, w, tree)
    assert np.array_equal(found, due) and np.allclose(got, chances, atol=1e-4)


@each
def test_of_equally_likely_classes_the_lowest_wins(version):
    for counts in (1000 + np.arange(64), 1000 - np.arange(64)):  # class 0 is met first, or last
        h, w, tree = normal(64, counts=counts)
        found, chances = run(version, h, 0 * w, tree)
        assert not found.any() and np.allclose(chances, -6 * np.log(2))
    tree = huffman([1, 1, 1.5])  # class 2 is met first; then a node as likely, and a sure way to 0
    found, chances = run(version, np.ones((1, 1)), np.array([[0.0], [1000.0]]), tree)
    assert (found[0], chances[0]) == (0, pytest.approx(-np.log(2)))


@each
def test_a_deep_tree_is_searched_to_its_end(version):
    """A path of 60 steps, the last class at its end: w leads there."""
    counts = 2.0 ** -np.arange(61)
    tree = huffman(counts)
    last = slice(tree.starts[60], tree.starts[61])
    w = np.zeros((60, 1))
    w[tree.nodes[last], 0] = 9.0 * (1 - 2 * tree.turns[last])
    found, chances = run(version, np.array([[1.0], [-1.0]]), w, tree)
    assert tree.longest == 60 and found.tolist()[0] == 60
    assert chances[0] == pytest.approx(-60 * np.log1p(np.exp(-9)), rel=1e-4)


@each
def test_where_h_has_a_nan_no_class_is_likeliest(version):
    h, w, tree = normal(40)
    h[2, 1] = np.nan
    found, chances = run(version, h, w, tree)
    assert np.isnan(chances).tolist() == (found == -1).tolist() == [e == 2 for e in range(6)]


def test_a_certain_model_sees_a_path_and_an_ignorant_one_the_whole_tree():
    h, w, tree = normal(1024, dim=32, counts=np.ones(1024))
    h, w = h.astype(np.float32), w.astype(np.float32)
    seen = [
        nodes_visited(np.float32(scale) * h, w, tree.children, tree.longest)
        for scale in (0, 0.05, 1, 100)
    ]
    assert (seen[0] == 1023).all()  # a tie: every class is as good
    assert np.median(seen[1]) > 200 > 50 > np.median(seen[2]) >= np.median(seen[3])
    assert (seen[3] >= 10).all()


@pytest.mark.parametrize("version", SEARCHES, ids=lambda v: v.name)
def test_a_search_reads_only_what_it_visits(version):
    """Rows that the bound excludes are NaN, and nobody notices."""
    h, w, tree = normal(256, examples=1, dim=1)
    h[:], w[:] = 1, 20
    node, path = 0, []
    while node >= 0:
        path.append(node)
        node = tree.children[node, 0]
    other = np.setdiff1d(np.arange(255), path)
    w[other] = np.nan
    found, _ = run(version, h, w, tree)
    assert found == [~node]
    w32 = w.astype(np.float32)
    assert nodes_visited(np.ones((1, 1), np.float32), w32, tree.children, tree.longest) == len(path)


def test_it_costs_what_it_visits_and_not_what_the_table_holds():
    h, w, children, longest = tree_search.inputs(1_000)
    visited = nodes_visited(h, w, children, longest)
    assert tree_search.flops(h, w, children, longest) == visited.sum() * (2 * 64 + 5)
    seen = visited.max() * (64 * 4 + 8)
    assert tree_search.bytes(h, w, children, longest) == seen + h.nbytes + 64 * 8 < w.nbytes / 4


@pytest.fixture(scope="module")
def traces():
    inputs = tree_search.inputs(1_000)
    found = {}
    for version in (v for v in VERSIONS if v.backend is gpu):
        with tracing() as launches:
            version.function(*inputs, out=tree_search.poisoned(host, *inputs))
        (found[version.name],) = launches
    return found


def test_both_kernels_visit_as_many_nodes_as_the_cpu(traces):
    inputs = tree_search.inputs(1_000)
    visited = int(nodes_visited(*inputs).sum())
    rows = {name: trace.coalescing("w", "read") for name, trace in traces.items()}
    assert rows["CUDA, a warp per example"].requests == visited * 2  # 64 columns, 32 lanes
    assert sum(site.accesses for site in rows["CUDA, a thread per example"].sites) == visited * 64


def test_a_warp_reads_whole_rows_where_threads_read_everywhere(traces):
    thread, warp = (trace.coalescing("w", "read") for trace in traces.values())
    assert warp.sectors_per_request == 4 and warp.efficiency == 1
    assert thread.efficiency < 1 / 4 < 1 and thread.sectors > 3 * warp.sectors
    thread, warp = (trace.divergence().efficiency for trace in traces.values())
    assert thread < 0.7 < 0.9 < warp
