"""Pictures of nearest neighbors: what they say is what is there."""

import numpy as np
import pytest

from gpulessons.illustrations.neighbours import (
    POINTS,
    QUERY,
    SIDE,
    cell_shapes,
    meadow,
    percent,
    recall_and_speed,
    tree,
)
from gpulessons.models.index import Found
from gpulessons.ops.forest import cells_visited


def area(shape):
    x, y = shape.T
    return abs(np.sum(x * np.roll(y, 1) - y * np.roll(x, 1))) / 2


def inside(shape, point):
    """Whether a convex polygon, walked round, has a point on the same side throughout."""
    edge, way = np.roll(shape, -1, axis=0) - shape, point - shape
    turns = edge[:, 0] * way[:, 1] - edge[:, 1] * way[:, 0]
    return (turns >= -1e-6).all() or (turns <= 1e-6).all()


def test_the_cells_cover_the_square_and_hold_their_points():
    points, forest = meadow()
    shapes = cell_shapes(forest)
    assert sum(map(area, shapes.values())) == pytest.approx((2 * SIDE) ** 2)
    for cell, shape in shapes.items():
        for item in forest.items[forest.starts[cell] : forest.starts[cell + 1]]:
            assert inside(shape, points[item])


def test_the_first_cell_visited_is_the_querys_own():
    _, forest = meadow()
    (first,) = cells_visited(QUERY, forest, 1)
    assert inside(cell_shapes(forest)[first], QUERY)


def test_one_cell_misses_neighbors_and_a_few_find_them_all():
    """Or there would be nothing to see."""
    titles = [tree(leaves).alt for leaves in (1, 2, 3, 1000)]
    assert titles[0].startswith("1 cell visited, 2 of 120 points met: 2 of the 5 nearest found.")
    assert "5 of the 5 nearest found" not in titles[1] and "5 of the 5" in titles[2]
    assert f"{POINTS} of {POINTS} points met" in titles[3]


def test_the_same_number_of_cells_gives_the_same_picture():
    assert tree(3).alt == tree(3).alt and tree(3).svg == tree(3).svg


def test_the_fastest_that_finds_enough_is_the_title():
    rows = [Found(0, 1, 1000), Found(1, 0.2, 90_000), Found(30, 0.957, 7000), Found(99, 1, 3000)]
    alt = recall_and_speed(rows).alt
    assert alt.startswith("Visiting 30 cells, the forest finds 96% of the neighbors, at 7 times")
    assert all(repr(row) in alt for row in rows)


def test_a_recall_is_rounded_and_what_is_not_all_is_never_100_percent():
    recalls = {0.856: "86%", 0.984: "98%", 0.997: "99.7%", 0.9999: "99.9%", 1: "100%"}
    assert {recall: percent(recall) for recall in recalls} == recalls


def test_where_none_finds_enough_the_best_is_the_title_and_its_loss_is_said():
    rows = [Found(0, 1, 1000, "rough"), Found(1, 0.01, 9000), Found(300, 0.6, 500, "rough")]
    picture = recall_and_speed(rows)
    assert picture.alt.startswith("Visiting 300 cells, the forest finds 60% of the neighbors, at "
                                  "0.5 times")  # fmt: skip
    assert "rough" in picture.axes.get_xlabel()
    assert picture.axes.get_xscale() == "log"


@pytest.mark.parametrize("slowest", [500, 3500])
def test_names_do_not_meet_each_other_nor_brute_force_s_dot(slowest):
    rows = [Found(0, 1, 6200), Found(1, 0.004, 900_000), Found(3, 0.03, 700_000),
            Found(100, 0.62, 40_000), Found(1000, 0.99, slowest)]  # fmt: skip
    picture = recall_and_speed(rows)
    picture.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in picture.axes.texts]
    assert sorted(text.get_text() for text in picture.axes.texts) == sorted(r.name for r in rows)
    dot = picture.axes.transData.transform((6200, 1))
    for n, box in enumerate(boxes):
        assert not box.contains(*dot) and not any(box.overlaps(other) for other in boxes[:n])
