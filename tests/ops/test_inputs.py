"""The inputs of every op: one family of problems, of which a size asks for more or for less."""

import pytest

import gpulessons
from gpulessons.backends import is_array

OPS = [getattr(gpulessons, name) for home, names in gpulessons.HOMES.items()
       for name in names.split() if home.startswith("ops.")]  # fmt: skip
# Powers of two and what lies beside them, primes, and what somebody types.
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 13, 15, 16, 17, 28, 30, 31, 32, 33, 48, 49, 63, 64, 65, 100, 127,
         128, 129, 200, 255, 256, 257, 500, 512, 999, 1000, 1001, 1009, 1024, 1025, 2000, 4000,
         4096, 4097, 10_000, 10_007)  # fmt: skip
LARGEST = {"elements": 10_007, "pixels a side": 65, "hidden units": 65, "points": 257}  # else 1025
BY_CHANCE = ("embedding_update", "forest_search", "tree_search", "tree_softmax")  # what is met


def each(ops):
    return pytest.mark.parametrize("op", ops, ids=lambda op: op.name)


def problems(op):
    return ((n, op.inputs(n)) for n in SIZES if n <= LARGEST.get(op.unit, 1025))


@each(OPS)
def test_a_larger_problem_is_more_work(op):
    most, least = 0, 0.75 if op.name in BY_CHANCE else 1
    for size, inputs in problems(op):
        work = op.flops(*inputs) or op.bytes(*inputs)
        assert work >= least * most, f"{op.name} at size {size}"
        most = max(most, work)


@each([op for op in OPS if op.unit != "elements" and op.name != "forest_search"])
def test_a_size_asks_for_no_other_width_kernel_or_mask(op):
    """Each axis and each number grows with the size, or stays. (How many planes a forest has is
    chance.) One axis is the size: a tree of n classes, two at least, has n − 1 nodes."""
    before = None
    for size, inputs in problems(op):
        axes = [n for x in inputs for n in (x.shape if is_array(x) else (x,))]
        assert {size, max(2, size) - 1} & {*axes}, f"nothing is {size} long: {axes}"
        if before:
            assert all(a <= b for a, b in zip(before, axes, strict=True)), (size, before, axes)
        before = axes
