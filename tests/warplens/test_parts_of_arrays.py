"""Slices that are set, `...`, methods of arrays, tuples of arrays, arrays made in loops."""

import numpy as np
import pytest
from numba import cuda, float32, int32, int64, types
from numba.core.errors import TypingError
from numba.cuda.compiler import compile_cuda

from warplens import Misaligned, Unsupported, trace, tracing

FLOATS = types.float32[::1]


def compiles(kernel, *arguments):
    try:
        with tracing():
            compile_cuda(kernel, types.void, arguments, cc=(9, 0))
    except Exception:
        return False
    return True


# Slices


def test_slices_are_set_element_by_element():
    def kernel(a, m):
        a[1:3] = 7
        a[-2:] = (1.5, 2.0)
        a[5:2:-2] = 9
        m[1] = 3
        m[:, 0] = 4
        m[..., 2] = 5
        m[2, ...] = 6

    a, m = np.zeros(8, np.float32), np.zeros((3, 4), np.int32)
    b, n = a.copy(), m.copy()
    assert compiles(kernel, FLOATS, types.int32[:, ::1])
    t = trace(kernel)[1, 1](a, m)
    kernel(b, n)
    assert np.array_equal(a, b) and np.array_equal(m, n)
    assert t.work().writes == 2 + 2 + 2 + 4 + 3 + 3 + 4


def test_every_thread_sets_a_slice_of_its_own_length():
    def kernel(m):
        i = cuda.threadIdx.x
        m[i, i : 2 * i] = i
        if i % 2:
            m[i, -1:] = 100

    m, n = np.zeros((2, 40, 80), np.float32)
    t = trace(kernel)[1, 40](m)
    for i in range(40):
        n[i, i : 2 * i] = i
        n[i, -1] = 100 * (i % 2)
    assert np.array_equal(m, n) and t.races().cells == 0
    assert t.work().writes * 40 == sum(range(40)) + 20


def an_array(a, b):
    a[1:3] = b[:2]


def another_length(a, b):
    a[1:3] = (1.0, 2.0, 3.0)


def test_arrays_cannot_be_assigned_to_slices():
    assert not compiles(an_array, FLOATS, FLOATS)
    with pytest.raises(Unsupported, match="write a loop"):
        trace(an_array)[1, 1](np.zeros(3, np.float32), np.zeros(3, np.float32))
    with pytest.raises(Unsupported, match="another length"):
        trace(another_length)[1, 1](np.zeros(3, np.float32), np.zeros(3, np.float32))


def test_dots_stand_for_the_other_axes():
    def kernel(a, out):
        i = cuda.threadIdx.x
        out[i] = a[..., 1][i, 0] + a[i, ...][1, 2] + a[0, ..., i][1] + a[...][i, 1, 0]
        a[i, ..., 2] = i

    a, out = np.arange(24.0).reshape(4, 2, 3), np.zeros(3)
    b = a.copy()
    trace(kernel)[1, 3](a, out)
    i = np.arange(3)
    assert np.array_equal(out, b[i, 0, 1] + b[i, 1, 2] + b[0, 1, i] + b[i, 1, 0])
    assert np.array_equal(a[:3, :, 2], np.repeat(i, 2).reshape(3, 2))


# Methods


def methods(x, out):
    out[0] = x.sum()
    out[1] = x.prod()
    out[2] = x.mean()
    out[3] = x[2:].sum()
    out[4] = np.sum(x)
    x[:2].fill(9)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float32", "float64"])
def test_sum_product_mean_and_fill(dtype):
    x, out = np.array([3, 5, 7, 100], dtype), np.zeros(5)
    assert compiles(methods, getattr(types, dtype)[::1], types.float64[::1])
    trace(methods)[1, 1](x, out)
    assert out.tolist() == [115, 10500, 28.75, 107, 115] and x.tolist() == [9, 9, 7, 100]


def test_sums_are_reckoned_in_numbas_type():
    def kernel(x, out):
        out[0] = x.sum()

    x, out = np.full(40, 0.1, np.float32), np.zeros(1)
    t = trace(kernel)[1, 1](x, out)
    assert out[0] == np.cumsum(x)[-1]  # one after another, in single precision
    assert t.flops_by_line[0][2:] == ("float32", 40) and t.work().reads == 40


def test_every_thread_may_sum_a_part_of_its_own():
    def kernel(x, out):
        i = cuda.threadIdx.x
        if i % 3:
            out[i] = x[i : 2 * i].sum() + 100 * x[:i].mean()

    x, out = np.arange(80.0), np.zeros(40)
    t = trace(kernel)[1, 40](x, out)
    want = [x[i : 2 * i].sum() + 100 * x[:i].mean() if i % 3 else 0 for i in range(40)]
    np.testing.assert_allclose(out, want)
    assert t.work().reads * 40 == 2 * sum(i for i in range(40) if i % 3)


def bits(x, y, out):
    i = cuda.threadIdx.x
    out[i] = x.view(np.int32)[i]
    out[i] += y.view(int32)[2 * i + 1] + y[1:].view(np.uint8)[8 * i + 7]
    out[i] += x[i].view(np.int32)
    x.view(np.int64)[i // 2] = 2**32 + i


def test_view_shows_the_same_bytes():
    x, y, out = np.arange(8, dtype=np.float32), np.arange(9.0), np.zeros(8, np.int64)
    want = 2 * x.view(np.int32).astype(np.int64) + y.view(np.int32)[1:16:2]
    want += y[1:].view(np.uint8)[7::8]
    t = trace(bits)[1, 8](x, y, out)
    assert np.array_equal(out, want)
    assert np.array_equal(x.view(np.int64), 2**32 + np.arange(8).reshape(4, 2).max(1))
    assert t.races().cells == 8  # two threads write each pair
    assert t.coalescing("y", "read").requests == 2


def test_view_and_reshape_of_shared_memory():
    def kernel(out):
        i = cuda.threadIdx.x
        s = cuda.shared.array(32, float32)
        grid = s.reshape(4, 8)
        s.view(np.int32)[i] = i
        cuda.syncthreads()
        out[i] = grid.view(int64).reshape((-1, 2))[i % 8, i // 16]
        if i == 0:
            out[0] = grid[3, 7]

    out = np.zeros(32, np.int64)
    t = trace(kernel)[1, 32](out)
    pairs = np.arange(32, dtype=np.int32).view(np.int64).reshape(-1, 2)
    i = np.arange(32)
    assert np.array_equal(out[1:], pairs[i % 8, i // 16][1:]) and out[0] == 0
    assert t.warnings == () and t.races().cells == 0
    assert t.banks(line=kernel.__code__.co_firstlineno + 4).wavefronts == 1


def test_a_view_must_begin_where_its_type_may():
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[i] = x[i : i + 4].view(np.float32)[0]

    x, out = np.arange(16.0, dtype=np.float32), np.zeros(2, np.float32)
    trace(kernel)[1, 1](x.view(np.uint8), out)
    with pytest.raises(Misaligned, match="thread 1 of block 0 sees x as float32 from byte 1"):
        trace(kernel)[1, 2](x.view(np.uint8), out)


def the_maximum(x):
    x[0] = x.max()


def a_copy(x):
    x[0] = x.copy()[1]


def a_view_of_a_column(x):
    x[0] = x[::2].view(np.int64)[0]


def a_view_that_does_not_fit(x):
    x[0] = x[:3].view(np.float64)[0]


@pytest.mark.parametrize(
    ("kernel", "compiled"),
    # The last two end a thread on a GPU, which does not tell.
    [(the_maximum, False), (a_copy, False), (a_view_of_a_column, True),
     (a_view_that_does_not_fit, True)],
)  # fmt: skip
def test_methods_that_numba_does_not_have_are_refused(kernel, compiled):
    assert compiles(kernel, FLOATS) == compiled
    with pytest.raises(Unsupported, match=r"max|copy|view|as float64"):
        trace(kernel)[1, 1](np.zeros(6, np.float32))


# Tuples of arrays


def picked(arrays, out):
    i = cuda.threadIdx.x
    mine = arrays[i % 3]
    out[i] = mine[i] + mine.shape[0] + arrays[-(i % 3) - 1][0]
    arrays[i % 2][i] = -i


def test_every_thread_may_pick_its_own_array_of_a_tuple():
    arrays = tuple(np.arange(n, n + 32.0) for n in (100, 200, 300))
    before, out = [a.copy() for a in arrays], np.zeros(32)
    assert compiles(picked, types.UniTuple(types.float64[::1], 3), types.float64[::1])
    t = trace(picked)[1, 32](arrays, out)
    for i in range(32):
        assert out[i] == before[i % 3][i] + 32 + before[-(i % 3) - 1][0]
        assert arrays[i % 2][i] == -i and arrays[2][i] == before[2][i]
    assert t.work().writes == 2 and t.races().cells == 1  # arrays[0][0]
    assert t.coalescing("arrays[0]", "write").requests == 1
    assert t.divergence().divergent == 0


def beyond(arrays, out):
    out[cuda.threadIdx.x] = arrays[cuda.threadIdx.x][0]


def test_a_tuple_has_no_array_beyond_its_end():
    pair, out = (np.ones(3), np.full(3, 2.0)), np.zeros(3)
    t = trace(beyond)[1, 3](pair, out)
    assert out.tolist() == [1, 2, 0]  # the third thread ends
    assert [(w.kind, w.times) for w in t.warnings] == [("exception", 1)]
    assert not compiles(beyond, types.Tuple((FLOATS, types.int32[::1])), FLOATS)
    with pytest.raises(TypingError, match="several types"):
        trace(beyond)[1, 2]((np.zeros(3), np.zeros(3, np.int32)), np.zeros(2))


def test_a_name_may_mean_two_arrays_among_the_threads_of_a_warp():
    def kernel(a, b, out):
        i = cuda.threadIdx.x
        x = b
        if i % 2:
            x = a
        out[i] = x[i] + x.shape[0]
        x[i] = i
        cuda.atomic.add(x, 0, 1)

    a, b, out = np.arange(40.0), np.arange(100.0, 140), np.zeros(40)
    trace(kernel)[1, 40](a, b, out)
    i = np.arange(40)
    assert np.array_equal(out, np.where(i % 2, i, 100 + i) + 40)
    assert a[1::2].tolist() == i[1::2].tolist() and a[0] == 20 and b[0] == 20


def test_tuples_of_arrays_meet_again():
    def kernel(a, b, out):
        i = cuda.threadIdx.x
        pair = a, 1
        if i % 2:
            pair = b, 2
        x, n = pair
        out[i] = x[i] * n

    a, b, out = np.arange(40.0), np.arange(100.0, 140), np.zeros(40)
    trace(kernel)[1, 40](a, b, out)
    i = np.arange(40)
    assert np.array_equal(out, np.where(i % 2, 2 * (100 + i), i))


def test_two_slices_or_records_of_one_array_are_read_at_once():
    def kernel(a, points, out):
        i = cuda.threadIdx.x
        row, p = a[i], points[i]
        if i % 2:
            row, p = a[i - 1], points[0]
        out[i] = row[1] + p.x
        p.y = i

    a, out = np.arange(128.0).reshape(32, 4), np.zeros(32)
    points = np.zeros(32, [("x", np.float64), ("y", np.float64)])
    points["x"] = np.arange(32) * 1000
    t = trace(kernel)[1, 32](a, points, out)
    i = np.arange(32)
    assert np.array_equal(out, a[i - i % 2, 1] + points["x"][np.where(i % 2, 0, i)])
    assert t.coalescing("a").requests == t.coalescing("points.x").requests == 1
    assert points["y"][::2].tolist() == [31, *range(2, 32, 2)]


# Arrays that a kernel makes


@cuda.jit(device=True)
def turned_twice(x, i):
    two = cuda.local.array(2, x.dtype)
    s = cuda.shared.array(4, x.dtype)
    two[0] = x[i]
    two[1] = x[i] * 2
    s[i] = two[1]
    return two[1] + s[i] - two[0]


def test_a_function_called_with_two_types_makes_an_array_of_each():
    def kernel(a, b, out):
        i = cuda.threadIdx.x
        out[i] = turned_twice(a, i) + turned_twice(b, i)

    a, b = np.array([0.25, 0.5, 1.75, 2]), np.array([1, 2, 2**20 + 1, 4], np.int32)
    out = np.zeros(4)
    t = trace(kernel)[1, 4](a, b, out)
    assert np.array_equal(out, 3 * a + 3 * b)
    assert {s.bytes_asked // s.accesses for s in t.sites if s.array == "s"} == {4, 8}


def test_a_local_array_in_a_loop_that_threads_leave_one_by_one():
    def kernel(n, out):
        i = cuda.threadIdx.x
        total = 0.0
        k = 0
        while k < n[i]:
            own = cuda.local.array(3, float32)
            own[0] = k
            own[1] = own[0] + i
            if i % 3 == 0:
                k += 1
                continue
            total += own[1]
            k += 1
        if n[i] > 0:
            out[i] = total + own[0]

    n, out = np.arange(40) % 7, np.zeros(40)
    trace(kernel)[1, 40](n, out)
    for i in range(40):
        total = 0 if i % 3 == 0 else sum(k + i for k in range(n[i]))
        assert out[i] == (total + n[i] - 1 if n[i] else 0)


def test_a_local_array_begins_each_turn_with_nothing_in_it():
    def kernel(out):
        i = cuda.threadIdx.x
        for k in range(2):
            own = cuda.local.array(1, float32)
            if k == 0:
                own[0] = i
            elif i > 5:
                out[i] = own[0]

    t = trace(kernel)[1, 8](np.zeros(8, np.float32))
    assert [(w.kind, w.times) for w in t.warnings] == [("uninitialized", 2)]
