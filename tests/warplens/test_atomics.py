"""Atomic updates of every kind, type and space, and how many of them wait in turn."""

from collections import Counter

import numpy as np
import pytest
from numba import cuda, float32

from warplens import Untypable, trace

LANES = 64


def add(a, i, v, w, out):
    out[i[cuda.threadIdx.x]] = cuda.atomic.add(a, 1, v[cuda.threadIdx.x])


def sub(a, i, v, w, out):
    out[i[cuda.threadIdx.x]] = cuda.atomic.sub(a, 1, v[cuda.threadIdx.x])


def max_(a, i, v, w, out):
    out[i[cuda.threadIdx.x]] = cuda.atomic.max(a, 1, v[cuda.threadIdx.x])


def min_(a, i, v, w, out):
    out[i[cuda.threadIdx.x]] = cuda.atomic.min(a, 1, v[cuda.threadIdx.x])


def and_(a, i, v, w, out):
    out[i[cuda.threadIdx.x]] = cuda.atomic.and_(a, 1, v[cuda.threadIdx.x])


def or_(a, i, v, w, out):
    out[i[cuda.threadIdx.x]] = cuda.atomic.or_(a, 1, v[cuda.threadIdx.x])


def xor(a, i, v, w, out):
    out[i[cuda.threadIdx.x]] = cuda.atomic.xor(a, 1, v[cuda.threadIdx.x])


def exch(a, i, v, w, out):
    out[i[cuda.threadIdx.x]] = cuda.atomic.exch(a, 1, v[cuda.threadIdx.x])


def cas(a, i, v, w, out):
    t = cuda.threadIdx.x
    out[i[t]] = cuda.atomic.cas(a, 1, v[t], w[t])


# What one thread does: (what it finds, its values) → what it leaves, as the PTX manual has it.
MEANINGS = {
    add: lambda old, v, w: old + v,
    sub: lambda old, v, w: old - v,
    max_: lambda old, v, w: v if v > old else old,
    min_: lambda old, v, w: v if v < old else old,
    and_: lambda old, v, w: old & v,
    or_: lambda old, v, w: old | v,
    xor: lambda old, v, w: old ^ v,
    exch: lambda old, v, w: v,
    cas: lambda old, v, w: w if old == v else old,
}
WHOLE = "int32 int64 uint32 uint64"
TYPES = dict.fromkeys(["and_", "or_", "xor", "exch", "cas"], WHOLE)  # the others take floats, too


def test_every_atomic_does_what_a_gpu_does_in_lane_order_and_refuses_other_types():
    rng = np.random.default_rng(0)
    for kernel, meaning in MEANINGS.items():
        takes = TYPES.get(kernel.__name__, f"{WHOLE} float32 float64").split()
        for dtype in map(np.dtype, takes):
            a = np.array([7, 3, 7]).astype(dtype)
            v, w = rng.integers(0, 9, (2, LANES)).astype(dtype)
            out = np.zeros(LANES, dtype)
            trace(kernel)[1, LANES](a, np.arange(LANES), v, w, out)
            old, found = dtype.type(3), []
            with np.errstate(over="ignore"):
                for value, new in zip(v, w, strict=True):
                    found.append(old)
                    old = np.asarray(meaning(old, value, new)).astype(dtype)[()]
            assert out.tolist() == found and a.tolist() == [7, old, 7], (kernel, dtype)
        for dtype in {"int8", "float32"} - set(takes):
            x = np.zeros(LANES, dtype)
            with pytest.raises(Untypable, match=dtype):
                trace(kernel)[1, LANES](x, np.arange(LANES), x, x, x)


@pytest.mark.parametrize("kernel", [max_, min_], ids=lambda kernel: kernel.__name__)
def test_a_nan_changes_nothing(kernel):
    nan, numbers = np.nan, []
    for old, value in [(nan, 1.0), (1.0, nan), (nan, nan)]:
        a, out = np.full(3, old), np.zeros(1)
        trace(kernel)[1, 1](a, np.zeros(1, int), np.array([value]), np.zeros(1), out)
        numbers.append(a[1])
    assert np.array_equal(numbers, [nan, 1.0, nan], equal_nan=True)


def test_indices_are_tuples_or_count_from_the_end():
    def kernel(a, b, line):
        i = cuda.threadIdx.x
        cuda.atomic.add(a, (i % 3, -1), 1)
        cuda.atomic.max(b, (0, i % 2, i), i)
        cuda.atomic.sub(line, -1, 2)

    a, b, line = np.zeros((3, 4), np.int32), np.zeros((1, 2, 8)), np.zeros(5, np.uint64)
    trace(kernel)[1, 6](a, b, line)
    assert a[:, 3].tolist() == [2, 2, 2] and a.sum() == 6
    assert b[0].tolist() == [[0, 0, 2, 0, 4, 0, 0, 0], [0, 1, 0, 3, 0, 5, 0, 0]]
    assert line.tolist() == [0, 0, 0, 0, 2**64 - 12]


def count(bins, x):
    i = cuda.grid(1)
    cuda.atomic.add(bins, x[i], 1)


@pytest.mark.parametrize("bins", [1, 2, 5, 32, 64])
def test_threads_that_meet_at_one_place_go_one_after_another(bins):
    x = np.random.default_rng(bins).integers(0, bins, 4 * LANES)
    t = trace(count)[2, 2 * LANES](np.zeros(bins, np.int32), x)
    longest = [max(Counter(warp.tolist()).values()) for warp in x.reshape(-1, 32)]
    report = t.atomics("bins")
    assert report.requests == 8 and report.updates == 256
    assert report.steps == sum(longest) and report.worst == max(longest)
    assert (f"{report.steps:,} steps" in repr(t)) == (report.steps > 8)
    assert t.coalescing("bins").requests == 8  # as ever


def test_32_threads_at_one_place_take_32_steps_in_shared_memory_too():
    def kernel(out):
        s = cuda.shared.array(1, float32)
        s[0] = 0
        cuda.syncthreads()
        cuda.atomic.add(s, 0, 1)
        cuda.syncthreads()
        out[0] = s[0]

    out = np.zeros(1, np.float32)
    t = trace(kernel)[1, 64](out)
    assert out[0] == 64 and t.atomics().steps == 64 and t.atomics().worst == 32
    assert t.banks("s", "atomic").wavefronts == 2
