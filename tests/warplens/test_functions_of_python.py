"""math, cmath, operator, methods of numbers and loops with `else`, held to Python and to Numba."""

import cmath
import math
import operator

import numpy as np
import pytest
from numba import cuda

from warplens import trace, tracing

PLANE = [complex(re, im) for re in (-2.5, -1.0, 0.0, 0.5, 3.0) for im in (-1.5, 0.0, 0.25, 2.0)]
OF_COMPLEX = ["sqrt", "exp", "sin", "cos", "tan", "sinh", "cosh", "tanh",
              "acos", "asin", "asinh"]  # fmt: skip


@pytest.mark.parametrize("name", OF_COMPLEX)
@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_cmath_is_python_s(name, kind):
    function = getattr(cmath, name)

    @cuda.jit
    def kernel(z, out):
        i = cuda.grid(1)
        if i < z.size:
            out[i] = function(z[i])

    z = np.array(PLANE, kind)
    out = np.empty_like(z)
    trace(kernel)[1, 32](z, out)
    tolerance = 1e-5 if kind is np.complex64 else 1e-12
    np.testing.assert_allclose(out, [function(complex(v)) for v in z], rtol=tolerance)


@cuda.jit
def in_and_out_of_the_plane(z, out, back):
    i = cuda.grid(1)
    out[i, 0], out[i, 1] = cmath.polar(z[i])
    back[i] = complex(*cmath.polar(z[i])) + cmath.rect(out[i, 0], out[i, 1]).conjugate()


def test_polar_rect_conjugate_and_a_tuple_that_is_spread():
    z = np.array(PLANE)
    out, back = np.zeros((20, 2)), np.zeros(20, complex)
    trace(in_and_out_of_the_plane)[1, 20](z, out, back)
    np.testing.assert_allclose(out, [cmath.polar(v) for v in PLANE])
    expected = [complex(*cmath.polar(v)) + v.conjugate() for v in PLANE]
    np.testing.assert_allclose(back, expected, atol=1e-15)


@cuda.jit
def by_parts(z):
    i = cuda.grid(1)
    cuda.atomic.add(z.real, 0, 1)
    z.imag[i] = i


def test_the_parts_of_complex_arrays_are_arrays():
    z = np.zeros(8, np.complex64)
    t = trace(by_parts)[1, 8](z)
    assert z.tolist() == [8 + 0j, *(1j * i for i in range(1, 8))]
    assert t.races().cells == 0


@cuda.jit
def special(x, out):
    i = cuda.grid(1)
    if x[i] > 0:
        out[i, 0] = math.lgamma(x[i])
    out[i, 1] = math.gamma(x[i])
    out[i, 2] = math.remainder(x[i], 0.75)
    m, e = math.frexp(x[i])
    out[i, 3] = math.ldexp(m, e + 1)
    part, whole = math.modf(x[i])
    out[i, 4] = part + 2 * whole
    out[i, 5] = math.nextafter(x[i], 100.0)


def test_functions_of_math_where_python_raises_and_where_not():
    x = np.array([200.0, -1.0, 2.5, 0.25])
    out = np.zeros((4, 6))
    trace(special)[1, 4](x, out)
    assert out[1, 0] == 0 and out[2, 0] == math.lgamma(2.5)
    assert np.isinf(out[0, 1]) and np.isnan(out[1, 1]) and out[2, 1] == math.gamma(2.5)
    assert out[:, 2].tolist() == [math.remainder(v, 0.75) for v in x]
    assert (out[:, 3] == 2 * x).all() and (out[:, 5] == np.nextafter(x, 100)).all()
    assert out[:, 4].tolist() == [math.modf(v)[0] + 2 * math.modf(v)[1] for v in x]


@cuda.jit
def by_operator(x, out):
    i = cuda.grid(1)
    out[i] = operator.mul(operator.add(x[i], 1), 2) + operator.neg(x[i]) + (7 * x[i]).bit_count()


def test_operators_by_name_and_counted_bits():
    x, out = np.arange(8), np.zeros(8, int)
    trace(by_operator)[1, 8](x, out)
    assert out.tolist() == [(v + 1) * 2 - v + (7 * v).bit_count() for v in range(8)]


@cuda.jit
def first_of(x, wanted, out):
    i = cuda.grid(1)
    for k in range(x.size):
        if x[k] == wanted[i]:
            out[i] = k
            break
    else:
        out[i] = -1
        if wanted[i] < 0:
            return
    k = 0
    while k < i:
        k += 1
        if k == 3:
            break
    else:
        out[i] += 100
    out[i] += 1000


def test_else_behind_a_loop_is_for_the_lanes_that_did_not_break():
    x, wanted, out = np.array([5, 6, 7]), np.array([6, 9, -1, 5, 7]), np.zeros(5, int)
    trace(first_of)[1, 5](x, wanted, out)
    expected = np.zeros(5, int)
    for i, _ in enumerate(wanted):
        found = [k for k in range(3) if x[k] == wanted[i]]
        expected[i] = found[0] if found else -1
        if found or wanted[i] >= 0:
            expected[i] += 1000 + 100 * (i < 3)
    assert out.tolist() == expected.tolist()


@cuda.jit
def numbered_pairs(x, y, out):
    for i, (a, b) in enumerate(zip(x, y)):  # noqa: B905
        out[i] = 10 * a + b


def test_pairs_are_numbered():
    out = np.zeros(3, int)
    trace(numbered_pairs)[1, 1](np.array([1, 2, 3]), np.array([4, 5, 6]), out)
    assert out.tolist() == [14, 25, 36]


def test_a_device_array_is_a_global_like_any_other():
    class Foreign:
        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    with tracing() as launches:
        table = cuda.to_device(np.arange(8.0))
        other = Foreign(table)

        @cuda.jit
        def kernel(x):
            i = cuda.grid(1)
            x[i] = table[i]
            other[i] = 1

        x = np.zeros(8)
        kernel[1, 8](x)
        assert (x == np.arange(8)).all() and (table.copy_to_host() == 1).all()
        assert launches[0].races().cells == 0


@cuda.jit
def rounded_to(x, digits, out):
    i = cuda.grid(1)
    out[i] = round(x[i], digits)


def test_rounding_to_digits_is_numba_s():
    for kind, x in (np.float32, 0.3425), (np.float64, 0.5425), (np.float64, 12.345):
        out = np.zeros(1, kind)
        trace(rounded_to)[1, 1](np.array([x], kind), 3, out)
        assert out[0] == kind(round(x, 3))
    out, large = np.zeros(1), np.finfo(float).max
    trace(rounded_to)[1, 1](np.array([large]), 12, out)
    assert out[0] == large
