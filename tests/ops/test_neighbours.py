"""Nearest neighbors by brute force, ties included; and the forest."""

import numpy as np
import pytest

from gpulessons.ops.forest import cells_visited, grow, recall, search
from gpulessons.ops.neighbours import clustered, nearest, uniform


def small(count, seed):
    """Points with so few coordinates that many are equally far."""
    return np.random.default_rng(seed).integers(-3, 4, (count, 5)).astype(np.float32)


def test_the_nearest_are_by_definition_and_of_equals_the_lower_index():
    queries, points, tied = small(37, 1), small(257, 2), 0
    for k in (10, 257):
        indices, distances = nearest(queries, points, k)
        for n, query in enumerate(queries):
            ranked = sorted((float(((query - p) ** 2).sum()), i) for i, p in enumerate(points))
            assert list(zip(distances[n], indices[n], strict=True)) == ranked[:k]
            tied += k < len(ranked) and ranked[k - 1][0] == ranked[k][0]
    assert tied > 3


# -- The forest: every point in every tree, a search that meets what its cells hold.


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
        assert (low <= 1e-2).all() and (high > -1e-2).all()
    return np.concatenate(sides)


def test_a_visit_to_every_cell_finds_what_brute_force_finds():
    for kind in (clustered, uniform):
        points, queries = split(kind, 700, 20)
        forest = grow(points, trees=3, leaf=5)
        indices, distances = search(forest, points, queries, 10, 10_000)
        truth = nearest(queries, points, 10)[1]
        assert np.array_equal(distances, truth)
        assert np.array_equal(((queries[:, None] - points[indices]) ** 2).sum(2), truth)


def test_the_cells_of_a_walk_are_those_that_a_search_meets_whatever_the_cores():
    points, queries = split(clustered, 3000, 9)
    forest, same, other = (grow(points, trees=4, leaf=6, seed=seed) for seed in (1, 1, 2))
    assert all(map(np.array_equal, forest, same))
    assert not np.array_equal(forest.items, other.items)
    for cores in (1, None):
        found = search(forest, points, queries, 300, 40, cores)[1]  # more than it meets: all
        for query, distances in zip(queries, found, strict=True):
            cells = [*cells_visited(query, forest, 40)]
            assert len(set(cells)) == len(cells) == 40
            met = np.unique(np.concatenate(
                [forest.items[forest.starts[c] : forest.starts[c + 1]] for c in cells]
            ))  # fmt: skip
            near = np.sort(((query - points[met]) ** 2).sum(1))
            assert np.array_equal(distances[: len(near)], near)
            assert np.isinf(distances[len(near) :]).all()


def test_more_cells_find_more_and_clusters_are_where_it_helps():
    found = {}
    for kind in (clustered, uniform):
        points, queries = split(kind, 10_000, 200, dim=64)
        truth, forest = nearest(queries, points, 10)[1], grow(points, trees=5)
        found[kind] = [recall(search(forest, points, queries, 10, leaves)[1], truth)
                       for leaves in (1, 10, 100)]  # fmt: skip
        assert sorted(found[kind]) == found[kind]
    assert found[clustered][-1] > 0.95 and found[uniform][-1] < 0.8
