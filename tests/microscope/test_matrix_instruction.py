"""mma, in the microscope: against the fragment layout that NVIDIA documents, and its refusals.

Layout: NVIDIA, "PTX ISA", "Matrix fragments for mma.m16n8k8", TF32; written out here once more,
number by number, because the emulation must not be its own witness.
"""

import numpy as np
import pytest
from numba import cuda, float32

from gpulessons.microscope import PartialWarp, Trace, Unsupported, trace
from gpulessons.microscope.rounding import round_tf32
from gpulessons.ops.mma import accumulator_place, left_fragment, mma, right_fragment, tf32


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
def with_shares(left, right, sums):
    b = cuda.blockIdx.x
    zero = float32(0)
    a, y = left_fragment(left[b], 0, 0), right_fragment(right[b], 0, 0)
    c = mma(a, y, (zero, zero, zero, zero))
    for n in range(4):
        i, j = accumulator_place(0, 0, n)
        sums[b, i, j] = c[n]


@cuda.jit
def rounding(x, out):
    i = cuda.grid(1)
    out[i] = tf32(x[i])


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


def test_the_shares_are_those_of_the_documented_layout():
    left, right, sums = matrices(50)
    trace(with_shares)[50, 32](left, right, sums)
    assert np.array_equal(sums, left @ right)


def test_it_is_2048_flops_a_warp_and_counted_as_the_tensor_cores():
    left, right, sums = matrices(3)
    t = trace(as_documented)[3, 32](left, right, sums)
    assert t.flops == t.tensor_core_flops == 3 * 2048
    assert t.work().flops == t.work().tensor_core_flops == 64
    assert "6,144 of them on tensor cores" in repr(t)
    assert Trace.from_json(t.to_json()).tensor_core_flops == t.flops
    assert not t.warnings


def test_a_kernel_without_it_does_not_mention_it():
    t = trace(rounding)[1, 32](np.ones(32, np.float32), np.ones(32, np.float32))
    assert t.tensor_core_flops == 0 and "tensor" not in repr(t) + repr(t.work())


def test_tf32_rounds_in_the_kernel_as_it_does_in_numpy():
    patterns = np.random.default_rng(0).integers(0, 2**32, 4096, dtype=np.uint64)
    x = patterns.astype(np.uint32).view(np.float32)
    out = np.empty_like(x)
    trace(rounding)[128, 32](x, out)
    assert np.array_equal(out, round_tf32(x), equal_nan=True)


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


def test_whole_warps_may_stay_away():
    out = np.zeros(96, np.float32)
    t = trace(under_a_branch)[1, 96](out, 32, 64)
    assert np.array_equal(out, np.repeat(np.float32([0, 9, 0]), 32))
    assert t.flops == 2048


def test_doubles_are_refused_with_their_line():
    with pytest.raises(Unsupported, match=r"as_documented, line \d+.*mma takes float32"):
        trace(as_documented)[1, 32](np.ones((1, 16, 8)), *[np.ones((1, 16, 8), np.float32)] * 2)
