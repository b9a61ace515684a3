"""A forest grows whole: every point in every tree, alike on any number of cores."""

import numpy as np
import pytest
from numba import get_num_threads, set_num_threads

from gpulessons.ops.forest import cells_visited
from gpulessons.ops.forest_growth import grow
from gpulessons.ops.neighbours import clustered, uniform


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
