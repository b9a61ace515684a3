"""The picture of hashing by planes shows what look-ups find."""

from itertools import pairwise

import numpy as np
import pytest

from gpulessons.illustrations import hashing


def test_a_class_is_looked_at_where_no_plane_parts_it_from_h():
    for degrees in range(0, 360, 30):
        looked = set(hashing.active(degrees, 1))
        for c, where in enumerate(hashing.directions()):
            sides = [np.sin(np.radians(np.array([where, degrees]) - plane)) > 0
                     for plane in hashing.planes(0)]  # fmt: skip
            assert (c in looked) == all(one == other for one, other in sides)


def test_another_table_only_adds_classes():
    for degrees in range(0, 360, 30):
        by_tables = [set(hashing.active(degrees, tables)) for tables in (1, 2, 3, 4)]
        assert all(few <= more for few, more in pairwise(by_tables))


def test_the_tables_find_more_of_the_nearest_than_of_the_others():
    found = others = 0
    for degrees in range(0, 360, 5):
        looked = hashing.active(degrees, 1)
        near = len(np.intersect1d(looked, hashing.nearest(degrees))) / hashing.NEAREST
        found, others = found + near, others + len(looked) / hashing.CLASSES
    assert found > 2 * others


@pytest.mark.parametrize("tables", [1, 4])
@pytest.mark.parametrize("degrees", [0, 90, 330])
def test_the_title_counts_what_is_marked(degrees, tables):
    drawn = hashing.buckets(degrees, tables)
    marked = {line.get_label(): len(line.get_xdata()) for line in drawn.axes.lines}
    assert f": {marked['looked at']} of {marked['classes']} classes" in drawn.alt
    assert marked["classes"] == hashing.CLASSES


@pytest.mark.parametrize("degrees", range(0, 360, 30))
def test_h_lies_in_the_bucket_that_is_shaded(degrees):
    shape = hashing.buckets(degrees, 2).axes.patches[0].get_path()
    assert shape.contains_point(0.5 * hashing.point(degrees))
