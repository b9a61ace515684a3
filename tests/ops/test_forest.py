"""A forest of random-projection trees: grown whole, searched alike by all, as good as Annoy's."""

import numpy as np
import pytest
from numba import get_num_threads, set_num_threads

from gpulessons import forest_search, neighbours
from gpulessons.microscope import tracing
from gpulessons.ops.forest import cells_visited, grow, recall
from gpulessons.ops.neighbours import clustered, uniform

NUMBA = "Numba, one core"
CUDA = "CUDA, a warp per query"
each = pytest.mark.parametrize("name", ["NumPy", NUMBA, "Numba, every core", CUDA])


def search(name, queries, points, forest, k, leaves):
    """The version's answer; a CUDA version's out of the microscope."""
    out = np.full((len(queries), k), -7, np.int32), np.full((len(queries), k), -7, np.float32)
    function = forest_search.versions[name].function
    if name == "NumPy":
        return function(queries, points, *forest, k, leaves)
    with tracing():
        function(queries, points, *forest, k, leaves, out=out)
    return out


def brute(queries, points, k):
    return neighbours.versions["Numba, fused, one core"](queries, points, k)


# -- Growing.


@pytest.mark.parametrize("points", [
    clustered(1000, 16, seed=1), uniform(1000, 2, seed=1), np.zeros((300, 4), np.float32),
    np.ones((1, 3), np.float32), np.repeat(np.eye(3, dtype=np.float32), 50, axis=0),
], ids=["clusters", "plane", "all equal", "one point", "three places"])  # fmt: skip
@pytest.mark.parametrize("leaf", [1, 7, 5000])
def test_every_point_stands_in_every_tree_once_and_no_cell_holds_too_many(points, leaf):
    forest = grow(points, trees=3, leaf=leaf)
    assert [sorted(tree) for tree in np.split(forest.items, 3)] == [[*range(len(points))]] * 3
    held = np.diff(forest.starts)
    assert held.min() >= 1 and held.max() <= leaf
    planes, cells = len(forest.normals), len(forest.starts) - 1
    named = np.concatenate([forest.roots, forest.children.ravel()])  # each node has one way to it
    assert sorted(named) == [*range(-cells, planes)]


def test_a_cell_that_holds_all_needs_no_plane():
    forest = grow(clustered(50, 8, seed=0), trees=2, leaf=50)
    assert len(forest.normals) == 0 and forest.roots.tolist() == [-1, -2]


def test_a_point_stands_on_its_own_side_of_every_plane():
    points = clustered(500, 8, seed=2)
    forest = grow(points, trees=2, leaf=10)
    for point in range(0, 500, 7):
        cells = cells_visited(points[point], *forest[:5], leaves=1)
        first, last = forest.starts[cells[0]], forest.starts[cells[0] + 1]
        assert point in forest.items[first:last]


def test_the_seed_decides_and_not_the_number_of_cores():
    points, threads = clustered(2000, 8, seed=3), get_num_threads()
    many = grow(points, seed=7)
    try:
        set_num_threads(1)
        one = grow(points, seed=7)
    finally:
        set_num_threads(threads)
    assert all(map(np.array_equal, many, one))
    assert not np.array_equal(many.items, grow(points, seed=8).items)
    first, second = np.split(many.items, 10)[:2]
    assert not np.array_equal(first, second)


def test_a_normal_has_six_bits_and_margins_of_whole_numbers_are_exact():
    points = clustered(2000, 64, seed=0)
    forest = grow(points, trees=2, leaf=20)
    largest = np.abs(forest.normals).max(axis=1, keepdims=True)
    steps = forest.normals / 2 ** (np.floor(np.log2(largest)) - 6)
    assert np.array_equal(steps, np.rint(steps))
    single = points[:50] @ forest.normals.T - forest.offsets
    double = points[:50].astype(float) @ forest.normals.T.astype(float) - forest.offsets
    assert np.array_equal(single, double)


@pytest.mark.parametrize("points, options, said", [
    (np.zeros((0, 4), np.float32), {}, "at least one"),
    (np.zeros(4, np.float32), {}, r"\(points, dim\)"),
    (np.zeros((4, 4), np.float32), {"trees": 0}, "1 tree or more"),
    (np.zeros((4, 4), np.float32), {"leaf": 0}, "for 1 point or more"),
    (np.array([[0, 1], [2, np.nan]], np.float32), {}, "Point 1 has a coordinate that is NaN"),
])  # fmt: skip
def test_what_cannot_grow_is_refused(points, options, said):
    with pytest.raises(ValueError, match=said):
        grow(points, **options)


def test_a_forest_says_what_it_takes():
    forest = grow(clustered(1000, 8, seed=0), trees=2)
    assert forest.nbytes == sum(array.nbytes for array in forest)
    assert "2 trees over 1,000 points" in repr(forest) and "MiB" in repr(forest)


# -- Searching.


@each
@pytest.mark.parametrize("leaves", [1, 3, 60])
def test_all_walk_alike_however_many_cells_they_visit(name, leaves):
    points = clustered(1200, 33, seed=1)
    forest, queries = grow(points, trees=4, leaf=6), points[:5] + np.float32(1)
    got, want = (search(one, queries, points, forest, 12, leaves) for one in (name, "NumPy"))
    assert all(map(np.array_equal, got, want))


@each
def test_who_visits_every_cell_finds_what_brute_force_finds(name):
    points = clustered(150, 20, seed=1)
    forest = grow(points, trees=2, leaf=8)
    every = len(forest.starts) - 1
    got = search(name, points[:6], points, forest, 40, every)
    for one, want in zip(got, brute(points[:6], points, 40), strict=True):
        assert np.array_equal(one, want)


@each
def test_who_meets_too_few_says_so(name):
    points = np.arange(20, dtype=np.float32).reshape(20, 1)
    forest = grow(points, trees=1, leaf=3)
    indices, distances = search(name, points[4:6], points, forest, 8, 1)
    assert (indices[:, 3:] == -1).all() and np.isposinf(distances[:, 3:]).all()
    assert indices[:, 0].tolist() == [4, 5] and (distances[:, 0] == 0).all()


@each
def test_a_point_of_every_tree_is_found_once(name):
    points = clustered(60, 8, seed=4)
    indices, _ = search(name, points[:4], points, grow(points, trees=5, leaf=60), 60, 5)
    assert [sorted(row) for row in indices] == [[*range(60)]] * 4


@each
def test_of_equal_points_the_lower_index_comes_first(name):
    points = np.ones((40, 4), np.float32)
    forest = grow(points, trees=2, leaf=4)
    indices, distances = search(name, points[:2], points, forest, 5, len(forest.starts) - 1)
    assert indices.tolist() == [[0, 1, 2, 3, 4]] * 2 and not distances.any()


@each
def test_one_point_is_found(name):
    points = np.full((1, 3), 2, np.float32)
    indices, distances = search(name, points - 1, points, grow(points), 1, 3)
    assert indices.tolist() == [[0]] and distances.tolist() == [[3]]


@each
@pytest.mark.parametrize("k, leaves, said", [
    (0, 1, "k is from 1"), (51, 1, "not 51"), (1, 0, "1 cell or more"),
])  # fmt: skip
def test_a_search_that_cannot_be_is_refused(name, k, leaves, said):
    points = clustered(50, 8, seed=0)
    with pytest.raises(ValueError, match=said):
        search(name, points[:2], points, grow(points), k, leaves)


@each
def test_a_query_that_is_nan_is_refused_by_name(name):
    points = clustered(50, 8, seed=0)
    queries = points[:3].copy()
    queries[1, 2] = np.nan
    with pytest.raises(ValueError, match="Query 1 has a coordinate that is NaN"):
        search(name, queries, points, grow(points), 2, 1)


def test_a_list_that_no_shared_memory_holds_is_refused():
    points = clustered(2000, 4, seed=0)
    with pytest.raises(ValueError, match="up to 512 places; not 600"):
        search(CUDA, points[:2], points, grow(points, trees=1, leaf=1), 2, 600)


# -- What it buys.


def test_recall_counts_by_distance():
    truth = np.array([[0, 1, 2], [0, 5, 5]])
    assert recall(truth, truth) == 1
    assert recall(np.array([[0, 1, 3], [5, 5, np.inf]]), truth) == 4 / 6
    with pytest.raises(ValueError, match="shape"):
        recall(truth[:, :2], truth)


def test_more_cells_find_more_and_clusters_are_where_it_helps():
    found = {}
    for kind in (clustered, uniform):
        both = kind(10_200, 64, seed=1)
        points, queries = both[:10_000], both[10_000:]
        truth, forest = brute(queries, points, 10)[1], grow(points, trees=5)
        found[kind] = [recall(search(NUMBA, queries, points, forest, 10, leaves)[1], truth)
                       for leaves in (1, 10, 100)]  # fmt: skip
        assert sorted(found[kind]) == found[kind]
    assert found[clustered][-1] > 0.95 and found[uniform][-1] < 0.8


def test_it_finds_as_many_as_annoy():
    """Trees and cells as many, candidates as many: Annoy counts points where we count cells."""
    annoy = pytest.importorskip("annoy")
    both = clustered(20_500, 64, seed=2)
    points, queries = both[:20_000], both[20_000:]
    truth, per_cell = brute(queries, points, 10)[1], 64 + 2  # Annoy's cells in 64 dimensions
    forest, theirs = grow(points, trees=8, leaf=per_cell), annoy.AnnoyIndex(64, "euclidean")
    theirs.set_seed(1)
    for n, point in enumerate(points):
        theirs.add_item(n, point)
    theirs.build(8)
    mean = len(forest.items) / (len(forest.starts) - 1)
    for leaves in (8, 24):
        ours = recall(search(NUMBA, queries, points, forest, 10, leaves)[1], truth)
        labels = [theirs.get_nns_by_vector(q, 10, search_k=round(leaves * mean)) for q in queries]
        near = np.sort(((queries[:, None] - points[np.array(labels)]) ** 2).sum(axis=2), axis=1)
        assert ours > recall(near, truth) - 0.03


# -- What the kernel's warps do, counted.


def test_a_warp_walks_together_and_reads_in_order():
    queries, points, *forest, k, leaves = forest_search.inputs(1000)
    out = np.empty((8, k), np.int32), np.empty((8, k), np.float32)
    with tracing() as launches:
        forest_search.versions[CUDA].function(queries[:8], points, *forest, k, leaves, out=out)
    (launch,) = launches
    assert launch.coalescing("points").sectors_per_request == 4  # 32 numbers side by side
    assert launch.coalescing("normals").sectors_per_request == 4
    assert launch.divergence().efficiency > 0.95  # only where a list moves on do lanes disagree
    assert not launch.races().cells
