"""mma, in the microscope: the fragment layout that NVIDIA documents, and refusals.

Layout: NVIDIA, "PTX ISA", "Matrix fragments for mma.m16n8k8", TF32; written out here once
more, number by number, because the emulation must not be its own witness.
"""

import numpy as np
import pytest
from numba import cuda, float32

from gpulessons.ops.mma import mma
from warplens import PartialWarp, trace


@cuda.jit
def as_documented(left, right, sums):
    """sums[b] += left[b] right[b] for every block b of one warp."""
    b, lane = cuda.blockIdx.x, cuda.threadIdx.x
    group, t = lane >> 2, lane % 4
    x, y, s = left[b], right[b], sums[b]
    a = x[group, t], x[group + 8, t], x[group, t + 4], x[group + 8, t + 4]
    c = (
        s[group, 2 * t],
        s[group, 2 * t + 1],
        s[group + 8, 2 * t],
        s[group + 8, 2 * t + 1],
    )
    c0, c1, c2, c3 = mma(a, (y[t, group], y[t + 4, group]), c)
    s[group, 2 * t] = c0
    s[group, 2 * t + 1] = c1
    s[group + 8, 2 * t] = c2
    s[group + 8, 2 * t + 1] = c3


@cuda.jit
def under_a_branch(out, first, last):
    """A value of type float32 in every lane; only the lanes from first on, to last, run mma."""
    i = cuda.grid(1)
    one = float32(1)
    if first <= i and i < last:
        c = mma((one, one, one, one), (one, one), (one, one, one, one))
        out[i] = c[0]


def matrices(count):
    """Whole numbers, so that every sum is exact."""
    rng = np.random.default_rng(count)
    return (rng.integers(-9, 10, (count, *shape)).astype(np.float32)
            for shape in ((16, 8), (8, 8), (16, 8)))  # fmt: skip


def test_each_product_of_two_numbers_lands_where_it_belongs():
    i, k, j = (axis.ravel() for axis in np.indices((16, 8, 8)))
    block = np.arange(i.size)
    left, right, sums, want = (np.zeros((i.size, *shape), np.float32)
                               for shape in ((16, 8), (8, 8), (16, 8), (16, 8)))  # fmt: skip
    left[block, i, k], right[block, k, j], want[block, i, j] = 2, 3, 6
    trace(as_documented)[i.size, 32](left, right, sums)
    assert np.array_equal(sums, want)


def test_whole_matrices_are_multiplied_and_added():
    left, right, sums = matrices(50)
    want = sums + left @ right
    trace(as_documented)[50, 32](left, right, sums)
    assert np.array_equal(sums, want)


def test_factors_that_nobody_rounded_are_cut_and_a_caution():
    left, right, sums = matrices(1)
    left += np.float32(1e-5)
    cut = (left.view(np.uint32) >> 13 << 13).view(np.float32)
    want = (sums + cut.astype(np.float64) @ right).astype(np.float32)
    (caution,) = trace(as_documented)[1, 32](left, right, sums).warnings
    assert "not rounded to TF32" in caution.text and caution.kind == "not rounded"
    assert np.array_equal(sums, want)


@pytest.mark.parametrize(("threads", "first", "last", "reached", "warp"),
                         [(64, 0, 16, 16, 0), (64, 33, 64, 31, 1), (40, 0, 40, 8, 1)])  # fmt: skip
def test_part_of_a_warp_is_refused(threads, first, last, reached, warp):
    with pytest.raises(PartialWarp) as caught:
        trace(under_a_branch)[2, threads](np.zeros(128, np.float32), first, last)
    fault = caught.value
    assert (fault.reached, fault.warp, fault.block) == (reached, warp, (0, 0, 0))
    assert fault.line == under_a_branch.py_func.__code__.co_firstlineno + 6
    assert f"mma is run by {reached} of the 32 lanes of warp {warp} of block 0" in str(fault)


