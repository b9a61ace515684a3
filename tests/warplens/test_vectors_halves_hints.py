"""Vector types, more of fp16, loads and stores with hints, limits of types, sums of tuples."""

import cmath
import math
import operator

import numpy as np
import pytest
from numba import cuda

from warplens import Unsupported, Untypable, trace


@cuda.jit
def through_vectors(x, out):
    i = cuda.grid(1)
    two = cuda.float32x2(x[i], i)
    if i % 2:
        two = cuda.float2(two.y, two.x)
    four = cuda.float32x4(two, cuda.float1(7.9), 1)
    whole = cuda.short2(four.z, -1)
    out[i, 0], out[i, 1] = four.x, four.y
    out[i, 2], out[i, 3] = whole.x, four.w


def test_vectors_are_made_of_numbers_and_shorter_vectors():
    x, out = np.linspace(0, 1, 8, dtype=np.float32), np.zeros((8, 4))
    trace(through_vectors)[1, 8](x, out)
    for i in range(8):
        pair = [i, x[i]] if i % 2 else [x[i], i]
        assert out[i].tolist() == [*pair, 7, 1]  # a short2 keeps no fraction


def test_every_vector_type_of_numba_cuda_is_known():
    from warplens.lanes.vectors import VECTORS

    stubs = pytest.importorskip("numba.cuda.vector_types").vector_types.values()
    names = {name for t in stubs for name in (t.name, *t.user_facing_object.aliases)}
    assert set(VECTORS) == names


@cuda.jit
def by_index(x):
    v = cuda.float32x2(1, 2)
    x[0] = v[0]


@cuda.jit
def too_few(x):
    x[0] = cuda.float32x3(1, 2).x


@cuda.jit
def other_base(x):
    x[0] = cuda.float32x3(cuda.int32x2(1, 2), 3).x


@cuda.jit
def hinted_shared(x):
    s = cuda.shared.array(4, np.float32)
    s[0] = 1
    x[0] = cuda.ldcg(s, 0)


@cuda.jit
def hinted_row(x):
    cuda.stcs(x, 0, 1.0)


@cuda.jit
def cosh_of_real(x):
    x[0, 0] = cmath.cosh(x[0, 0]).real


@pytest.mark.parametrize(
    "kernel, words, shape",
    [
        (by_index, "indexing a float32x2", 1),
        (too_few, "float32x3 of 2 numbers", 1),
        (other_base, "float32x3 of a int32x2", 1),
        (hinted_shared, "cuda.ldcg of the shared array s", 1),
        (hinted_row, "cuda.stcs with 1 of 2 indices", (2, 2)),
    ],
)
def test_what_numba_cuda_does_not_compile_is_refused(kernel, words, shape):
    with pytest.raises(Unsupported, match=words):
        trace(kernel)[1, 1](np.ones(shape))


def test_functions_of_cmath_that_take_no_real_number_say_so():
    with pytest.raises(Untypable, match=r"cmath.cosh\(\) of float64: write complex\(x, 0\)"):
        trace(cosh_of_real)[1, 1](np.ones((2, 2)))


@cuda.jit
def with_hints(x, out):
    i = cuda.grid(1)
    a = cuda.ldca(x, i) + cuda.ldcg(x, i) + cuda.ldcs(x, i) + cuda.ldlu(x, i) + cuda.ldcv(x, i)
    cuda.stcg(out, (0, i), a)
    cuda.stcs(out, (1, i), 1)
    cuda.stwb(out, (2, i), 2)
    cuda.stwt(out, (3, i), 3)


def test_hints_read_and_write_what_an_index_would():
    x, out = np.arange(32, dtype=np.float32), np.zeros((4, 32), np.float32)
    t = trace(with_hints)[1, 32](x, out)
    assert (out[0] == 5 * x).all() and out[1:, 0].tolist() == [1, 2, 3]
    assert t.coalescing("x").requests == 5 and t.coalescing("out").requests == 4


@cuda.jit
def of_halves(x, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.fp16.hrcp(x[i])
    out[i, 1] = cuda.fp16.hrsqrt(x[i])
    out[i, 2] = cuda.fp16.hexp10(x[i])
    out[i, 3] = cuda.fp16.hrint(x[i])
    out[i, 4] = cuda.fp16.htanh(np.float32(x[i]))


def test_more_functions_of_halves():
    x, out = np.linspace(0.3, 3.9, 32).astype(np.float16), np.zeros((32, 5))
    trace(of_halves)[1, 32](x, out)
    wide = x.astype(float)
    expected = [1 / wide, wide**-0.5, 10**wide, np.rint(wide), np.tanh(wide)]
    np.testing.assert_array_max_ulp(out.astype(np.float16), np.stack(expected, 1).astype("f2"), 1)


@cuda.jit
def limits_of_types(x, out):
    out[0] = np.finfo(np.float32).eps
    out[1] = np.finfo(x[0]).max
    out[2] = np.iinfo(np.int16).min + np.iinfo(np.uint8).max
    out[3] = np.iinfo(np.uint64).max
    pair = x[0], x[1]
    out[4] = sum(tuple(pair)) + sum(pair, 4)


def test_limits_of_types_and_sums_of_tuples():
    x, out = np.array([1.5, 2], np.float32), np.zeros(5)
    trace(limits_of_types)[1, 1](x, out)
    single = np.finfo(np.float32)
    assert out.tolist() == [single.eps, single.max, -(2**15) + 255, 2.0**64, 11]


@cuda.jit
def by_operators(x, out):
    i = cuda.grid(1)
    out[i] = operator.iadd(x[i], operator.ior(i, 1)) - operator.imul(2, x[i])


def test_operators_in_place_are_operators():
    x, out = np.arange(8), np.zeros(8, int)
    trace(by_operators)[1, 8](x, out)
    assert out.tolist() == [v + (v | 1) - 2 * v for v in range(8)]


@cuda.jit
def counted_bits(x, out):
    i = cuda.grid(1)
    out[i] = x[i].bit_count()


def test_bits_of_negative_numbers_are_all_counted():
    x, out = np.array([-1, 5, -(2**31)], np.int32), np.zeros(3, int)
    trace(counted_bits)[1, 3](x, out)
    assert out.tolist() == [32, 2, 1]


@cuda.jit
def gammas(x, out):
    i = cuda.grid(1)
    out[i] = math.gamma(x[i])


def test_gamma_at_zero_is_infinite_with_its_sign():
    out = np.zeros(4)
    trace(gammas)[1, 4](np.array([0.0, -0.0, 1e-310, 5.0]), out)
    assert out.tolist() == [math.inf, -math.inf, math.inf, 24]
