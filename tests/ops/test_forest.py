"""The forest: every point in every tree, a search that meets what its cells hold, and Annoy."""

import numpy as np
import pytest

from gpulessons import neighbours
from gpulessons.ops.forest import cells_visited, grow, recall, search
from gpulessons.ops.neighbours import clustered, uniform

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
            cells = cells_visited(query, forest, leaves)
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


def test_recall_counts_by_distance():
    truth = np.array([[1, 2, 2], [0, 5, 9]])
    assert recall(truth, truth) == 1
    assert recall(np.array([[1, 2, np.inf], [9, 10, 11]]), truth) == 3 / 6
    with pytest.raises(ValueError, match="shape"):
        recall(truth[:, :2], truth)


def test_more_cells_find_more_and_clusters_are_where_it_helps():
    found = {}
    for kind in (clustered, uniform):
        points, queries = split(kind, 10_000, 200, dim=64)
        truth, forest = BRUTE(queries, points, 10)[1], grow(points, trees=5)
        found[kind] = [recall(search(forest, points, queries, 10, leaves)[1], truth)
                       for leaves in (1, 10, 100)]  # fmt: skip
        assert sorted(found[kind]) == found[kind]
    assert found[clustered][-1] > 0.95 and found[uniform][-1] < 0.8


def test_what_cannot_grow_or_be_asked_is_refused():
    points = clustered(50, 3, seed=0)
    for wrong in (points[:0], points[0], np.where(points > 5, np.nan, points)):
        with pytest.raises(ValueError, match="A forest grows over"):
            grow(wrong)
    with pytest.raises(ValueError, match="k is from 1"):
        search(grow(points), points, points, 51, 1)


@pytest.mark.nightly
def test_it_finds_as_many_as_annoy():
    """Trees and cells as many, candidates as many: Annoy counts points where we count cells."""
    annoy = pytest.importorskip("annoy")
    points, queries = split(clustered, 20_000, 500, dim=64, seed=2)
    truth, per_cell = BRUTE(queries, points, 10)[1], 64 + 2  # Annoy's cells in 64 dimensions
    forest, theirs = grow(points, trees=8, leaf=per_cell), annoy.AnnoyIndex(64, "euclidean")
    theirs.set_seed(1)
    for n, point in enumerate(points):
        theirs.add_item(n, point)
    theirs.build(8)
    mean = len(forest.items) / (len(forest.starts) - 1)
    for leaves in (8, 24):
        ours = recall(search(forest, points, queries, 10, leaves)[1], truth)
        labels = [theirs.get_nns_by_vector(q, 10, search_k=round(leaves * mean)) for q in queries]
        near = np.sort(((queries[:, None] - points[np.array(labels)]) ** 2).sum(axis=2), axis=1)
        assert ours > recall(near, truth) - 0.03
