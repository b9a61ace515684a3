"""The search in a forest: alike by all its versions, as good as Annoy's."""

import numpy as np
import pytest

from gpulessons import forest_search, neighbours
from gpulessons.ops.forest import recall
from gpulessons.ops.forest_growth import grow
from gpulessons.ops.neighbours import clustered, uniform
from warplens import tracing

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
