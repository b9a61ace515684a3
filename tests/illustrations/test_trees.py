"""Trees of additions: each leaves the sum in place 0, and works as its kernel does."""

from inspect import getsource

import pytest

from gpulessons.illustrations import trees
from gpulessons.ops import reduce

KERNELS = {"interleaved": reduce.interleaved_kernel, "strided index": reduce.strided_kernel,
           "sequential": reduce.sequential_kernel}  # fmt: skip


@pytest.mark.parametrize("name", trees.RULES)
def test_every_tree_leaves_the_sum_in_place_0(name):
    part = list(range(1, trees.COUNT + 1))
    for step in trees.additions(name):
        for _, to, frm in step:
            part[to] += part[frm]
    assert part[0] == 36


@pytest.mark.parametrize("name", trees.RULES)
def test_its_line_stands_in_the_kernel_that_it_draws(name):
    line, *_ = trees.RULES[name]
    assert line in getsource(KERNELS[name].py_func)


def test_the_first_two_write_to_the_same_places_by_other_threads():
    one, other = trees.additions("interleaved"), trees.additions("strided index")
    assert [[pair[1:] for pair in step] for step in one] == [[p[1:] for p in s] for s in other]
    assert [t for t, *_ in one[0]] == [0, 2, 4, 6]
    assert [t for t, *_ in other[0]] == [t for t, *_ in trees.additions("sequential")[0]]


def test_the_picture_says_who_begins():
    assert "interleaved: threads 0, 2, 4, 6 begin; strided index: threads 0, 1" in repr(
        trees.trees()
    )
