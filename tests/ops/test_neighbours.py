"""Nearest neighbors: every version to the very same indices, ties included; and the forest."""

import numpy as np
import pytest

from gpulessons import neighbours
from gpulessons.backends import host
from gpulessons.models.index import growth
from gpulessons.ops.forest import cells_visited, grow, recall, search
from gpulessons.ops.neighbours import clustered, uniform

ON_CPU = [v for v in neighbours.versions.values() if v.backend is host]
FUSED = "NumPy's product, Numba's selection"


def test_the_specification_is_the_definition_and_its_inputs_have_ties_at_the_edge():
    queries, points, k = neighbours.inputs(257)
    indices, distances = neighbours(queries, points, k)
    tied = 0
    for n, query in enumerate(queries):
        ranked = sorted((float(((query - p) ** 2).sum()), i) for i, p in enumerate(points))
        assert list(zip(distances[n], indices[n], strict=True)) == ranked[:k]
        tied += ranked[k - 1][0] == ranked[k][0]
    assert tied > 3


def test_all_points_may_be_asked_for():
    queries, points, _ = neighbours.inputs(45, queries=3, dim=4)
    for version in ON_CPU:
        for k in (40, 45):
            found, wanted = version(queries, points, k), neighbours(queries, points, k)
            assert all(map(np.array_equal, found, wanted)), version.name


def test_an_impossible_k_a_nan_and_other_widths_are_refused():
    queries, points, k = neighbours.inputs(31)
    hole = points.copy()
    hole[4, 1] = np.nan
    for version in ON_CPU:
        for arrays, why in (
            ((queries, points, 0), "k is from 1"),
            ((queries, points, 32), "k is from 1"),
            ((queries, hole, k), "Point 4 has a coordinate that is NaN"),
            ((queries[:, :3], points, k), "shapes|as many coordinates"),
        ):
            with pytest.raises(ValueError, match=why):
                version(*arrays)


# -- Beside faiss.


@pytest.mark.nightly
def test_faiss_finds_the_same_and_keeps_the_lower_index_of_equals_too():
    faiss = pytest.importorskip("faiss")
    rng = np.random.default_rng(3)
    for count, asked, k, dim in ((10_000, 64, 10, 64), (5000, 64, 200, 4), (70, 9, 70, 4)):
        points, queries = (rng.integers(-3, 4, (n, dim)).astype(np.float32)
                           for n in (count, asked))  # fmt: skip
        index = faiss.IndexFlatL2(dim)
        index.add(points)
        theirs, labels = index.search(queries, k)
        indices, distances = neighbours.versions[FUSED](queries, points, k)
        assert np.array_equal(distances, theirs) and np.array_equal(indices, labels)


# -- The forest: every point in every tree, a search that meets what its cells hold.

BRUTE = neighbours.versions["NumPy"]


def split(kind, points, queries, dim=16, seed=1):
    return np.split(kind(points + queries, dim, seed), [points])


@pytest.mark.parametrize("kind", [clustered, uniform, lambda n, dim, _: np.ones((n, dim), "f")])
def test_every_point_stands_in_every_tree_once_on_its_side_of_every_plane(kind):
    points, _ = split(kind, 500, 1, dim=4)
    forest = grow(points, trees=3, leaf=7)
    assert np.diff(forest.starts).max() <= 7
    for n, root in enumerate(forest.roots):
        below = items_below(forest, points, root)
        assert sorted(below) == list(range(500)), f"tree {n}"


def items_below(forest, points, node):
    """The points under a node, each tested against the planes above it."""
    if node < 0:
        return forest.items[forest.starts[-1 - node] : forest.starts[-node]]
    sides = [items_below(forest, points, child) for child in forest.children[node]]
    if forest.scales[node]:  # not halved by lot
        low, high = (points[side] @ forest.normals[node] - forest.offsets[node] for side in sides)
        assert (low <= 0).all() and (high > 0).all()
    return np.concatenate(sides)


def test_a_visit_to_every_cell_finds_what_brute_force_finds():
    for kind in (clustered, uniform):
        points, queries = split(kind, 700, 20)
        forest = grow(points, trees=3, leaf=5)
        indices, distances = search(forest, points, queries, 10, 10_000)
        truth = BRUTE(queries, points, 10)[1]
        assert np.array_equal(distances, truth)
        assert np.array_equal(((queries[:, None] - points[indices]) ** 2).sum(2), truth)


def test_numba_meets_the_cells_of_the_walk_in_python():
    points, queries = split(clustered, 3000, 9)
    forest = grow(points, trees=4, leaf=6)
    for leaves in (1, 7, 40):
        found = search(forest, points, queries, 300, leaves)[1]  # more than it meets: all of them
        for query, distances in zip(queries, found, strict=True):
            cells = [*cells_visited.py_func(query, forest, leaves)]
            assert len(set(cells)) == len(cells) == leaves
            met = np.unique(np.concatenate(
                [forest.items[forest.starts[c] : forest.starts[c + 1]] for c in cells]
            ))  # fmt: skip
            near = np.sort(((query - points[met]) ** 2).sum(1))
            assert np.array_equal(distances[: len(near)], near)
            assert np.isinf(distances[len(near) :]).all()


def test_the_seed_decides_and_not_the_number_of_cores():
    points, queries = split(clustered, 2000, 30)
    forest, same, other = (grow(points, trees=3, seed=seed) for seed in (1, 1, 2))
    assert all(map(np.array_equal, forest, same))
    assert not np.array_equal(forest.items, other.items)
    one, every = (search(forest, points, queries, 10, 20, cores) for cores in (1, None))
    assert all(map(np.array_equal, one, every))


def test_more_cells_find_more_and_clusters_are_where_it_helps():
    found = {}
    for kind in (clustered, uniform):
        points, queries = split(kind, 10_000, 200, dim=64)
        truth, forest = BRUTE(queries, points, 10)[1], grow(points, trees=5)
        found[kind] = [recall(search(forest, points, queries, 10, leaves)[1], truth)
                       for leaves in (1, 10, 100)]  # fmt: skip
        assert sorted(found[kind]) == found[kind]
    assert found[clustered][-1] > 0.95 and found[uniform][-1] < 0.8




def test_a_forest_over_more_points_is_asked_as_many_cells(monkeypatch):
    monkeypatch.setenv("GPULESSONS_BUDGET", "0.001")
    found = growth((300, 900), leaves=20, asked=9)
    assert [*found] == [300, 900] and {each.leaves for each in found.values()} == {20}
    assert all(0.3 < each.recall <= 1 and each.rate > 0 for each in found.values())
