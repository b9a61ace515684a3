"""cuda.libdevice by the rules of its names: numba-cuda's types, Python's values."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda
from warplens.lanes.libdevice import LIBDEVICE

from warplens import Unsupported, trace

libdevicefuncs = pytest.importorskip("numba.cuda.libdevicefuncs")
libdevice = pytest.importorskip("numba.cuda.libdevice")
THEIRS = {name.removeprefix("__nv_"): found for name, found in libdevicefuncs.functions.items()}
BESSEL = {f"{name}{f}" for name in ("j0", "j1", "jn", "y0", "y1", "yn") for f in ("", "f")}
NOBODY = SimpleNamespace(count_flops=lambda *_: None, by_kernel_line=lambda *_: None,
                         line=0, function="")  # fmt: skip
REALS = [0.0, -0.0, 0.25, -0.3, 0.5, 1.0, -1.0, 1.5, 2.5, -7.3, 1e-3, 30.0]


def called(name, *values):
    with np.errstate(all="ignore"):
        return LIBDEVICE[name](NOBODY, *values)


def test_all_of_the_library_is_here_but_bessel_s_functions():
    assert set(LIBDEVICE) == set(THEIRS) - BESSEL


@pytest.mark.parametrize("name", sorted(LIBDEVICE))
def test_a_function_gives_the_types_that_numba_gives(name):
    result, arguments = THEIRS[name]
    wanted = libdevicefuncs.create_signature(result, arguments).return_type
    wanted = [str(t) for t in getattr(wanted, "types", [wanted])]
    given = called(name, *[1] * sum(not a.is_ptr for a in arguments))
    given = given if isinstance(given, tuple) else (given,)
    assert [np.asarray(v).dtype.name for v in given] == wanted


OF_MATH = {
    "acos": 1, "acosh": 1, "asin": 1, "asinh": 1, "atan": 1, "atanh": 1, "cbrt": 1, "ceil": 1,
    "cos": 1, "cosh": 1, "erf": 1, "erfc": 1, "exp": 1, "exp2": 1, "expm1": 1, "fabs": 1,
    "floor": 1, "lgamma": 1, "log": 1, "log10": 1, "log1p": 1, "log2": 1, "sin": 1, "sinh": 1,
    "sqrt": 1, "tan": 1, "tanh": 1, "trunc": 1, "atan2": 2, "copysign": 2, "fmod": 2, "hypot": 2,
    "nextafter": 2, "pow": 2, "remainder": 2, "frexp": 1, "modf": 1,
}  # fmt: skip


@pytest.mark.parametrize("name", OF_MATH)
def test_a_function_that_python_has_too_gives_what_python_gives(name):
    for values in itertools.product(REALS, repeat=OF_MATH[name]):
        try:
            expected = getattr(math, name)(*values)
        except (ValueError, OverflowError):
            continue
        np.testing.assert_allclose(called(name, *values), expected, rtol=1e-14)
        if name == "nextafter":
            continue
        singles = [float(np.float32(v)) for v in values]
        single = called(f"{name}f", *singles)
        with np.errstate(over="ignore"):
            expected = np.float32(getattr(math, name)(*singles))
        np.testing.assert_allclose(single, expected, rtol=1e-6, atol=1e-7)


CLOSED_FORMS = {
    "rsqrt": lambda x: 1 / math.sqrt(x),
    "rcbrt": lambda x: 1 / math.cbrt(x),
    "exp10": lambda x: 10.0**x,
    "tgamma": math.gamma,
    "normcdf": lambda x: (1 + math.erf(x / math.sqrt(2))) / 2,
    "erfcx": lambda x: math.exp(x * x) * math.erfc(x),
    "sinpi": lambda x: math.sin(math.pi * x),
    "cospi": lambda x: math.cos(math.pi * x),
    "logb": lambda x: math.floor(math.log2(x)),
    "ilogb": lambda x: math.floor(math.log2(x)),
    "round": lambda x: math.floor(x + 0.5),
    "llround": lambda x: math.floor(x + 0.5),
    "llrint": round,
    "rint": round,
    "nearbyint": round,
}


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_others_have_closed_forms(name):
    for x in (0.125, 0.5, 0.75, 1.0, 1.5, 2.5, 3.3, 7.9):
        np.testing.assert_allclose(called(name, x), CLOSED_FORMS[name](x), rtol=1e-13, atol=1e-15)


def test_inverses_undo_what_they_are_inverses_of():
    for x in (-2.0, -0.7, -1e-9, 0.0, 1e-3, 0.4, 1.9):
        np.testing.assert_allclose(called("erfinv", math.erf(x)), x, rtol=1e-12)
        np.testing.assert_allclose(called("erfcinv", math.erfc(x)), x, rtol=1e-12, atol=1e-15)
        p = called("normcdf", x)
        np.testing.assert_allclose(called("normcdfinv", p), x, rtol=1e-12, atol=1e-15)
    assert called("erfinv", 1.0) == called("erfcinv", 0.0) == called("normcdfinv", 1.0) == np.inf
    assert np.isnan(called("erfinv", 1.5)) and called("normcdfinv", 0.0) == -np.inf


def test_a_large_erfcx_and_gamma_at_its_poles():
    np.testing.assert_allclose(called("erfcx", 1e3), 1 / (1e3 * math.sqrt(math.pi)), rtol=1e-6)
    assert called("tgamma", 0.0) == np.inf and called("tgamma", -0.0) == -np.inf
    assert called("tgamma", 200.0) == called("lgamma", -3.0) == np.inf
    assert np.isnan(called("tgamma", -3.0))


def test_half_turns_are_exact():
    assert [called("sinpi", x) for x in (1.0, 1e6, 0.5, 1.5)] == [0, 0, 1, -1]
    assert called("sincospi", 0.25) == pytest.approx((math.sqrt(0.5), math.sqrt(0.5)))
    assert called("sincosf", 0.5) == pytest.approx((math.sin(0.5), math.cos(0.5)))


def test_tests_and_other_functions_of_reals():
    assert [called(f"{n}d", -math.inf) for n in ("isnan", "isinf", "isfinite", "signbit")] == [
        0, 1, 0, 1]  # fmt: skip
    assert called("finitef", 1.0) == called("isnanf", math.nan) == 1
    assert [called("saturatef", v) for v in (-1.0, 0.25, 7.0, math.nan)] == [0, 0.25, 1, 0]
    assert called("fdim", 3.0, 1.0) == 2 and called("fdim", 1.0, 3.0) == 0
    assert called("fmax", math.nan, 1.0) == called("fmin", math.nan, 1.0) == 1
    assert called("remquo", 7.0, 2.0) == (-1.0, 4) and called("remquo", -7.0, 2.0) == (1.0, -4)
    assert called("ldexpf", 0.75, 3) == called("scalbn", 0.75, 3) == 6
    assert called("powi", 3.0, -2) == pytest.approx(1 / 9)
    assert called("ilogb", 0.0) == -(2**31) and called("logb", 0.0) == -math.inf


EXACT = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "rcp": lambda x: 1 / x,
    "fma": lambda x, y, z: x * y + z,
}


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("operation", EXACT)
def test_rounding_as_the_name_says_is_next_to_the_exact_result(operation, kind):
    letter = "f" if kind is np.float32 else "d"
    name = f"fma{letter}".rstrip("d") if operation == "fma" else f"{letter}{operation}"
    if name == "dsub":
        return
    exact = EXACT[operation]
    rng = np.random.default_rng(5)
    for _ in range(40):
        values = [kind(v) for v in rng.standard_normal(exact.__code__.co_argcount)]
        wanted = exact(*map(Fraction, map(float, values)))
        down, up, zero, near = (kind(called(f"{name}_r{mode}", *values)) for mode in "duzn")
        assert Fraction(float(down)) <= wanted <= Fraction(float(up))
        assert up == down or np.nextafter(down, kind(np.inf)) == up
        assert zero == (down if wanted >= 0 else up)
        apart = {v: abs(Fraction(float(v)) - wanted) for v in (down, up, near)}
        assert apart[near] == min(apart.values())
        if down != up and apart[down] == apart[up]:
            assert near.view(f"u{near.itemsize}") % 2 == 0


def test_roots_rounded_as_the_name_says():
    for x in (2.0, 3.0, 9.0, 0.1):
        down, up = called("dsqrt_rd", x), called("dsqrt_ru", x)
        assert Fraction(down) ** 2 <= Fraction(x) <= Fraction(up) ** 2
        assert up == down or math.nextafter(down, math.inf) == up
    assert called("frcp_rd", 0.0) == math.inf and np.isnan(called("fsqrt_ru", -1.0))


def test_conversions_round_and_stay_within_the_integers():
    assert [called(f"double2int_r{m}", 2.5) for m in "nzud"] == [2, 2, 3, 2]
    assert [called(f"float2ll_r{m}", -2.5) for m in "nzud"] == [-2, -2, -2, -3]
    assert called("double2int_rz", 1e20) == 2**31 - 1 and called("float2int_rz", math.nan) == 0
    assert called("double2uint_rz", -5.0) == 0 and called("double2uint_rz", 4e9) == 4e9 - 2**32
    assert called("double2ll_rz", math.nan) == -(2**63)
    n = 2**24 + 1
    assert [called(f"int2float_r{m}", n) for m in "nzud"] == [2**24, 2**24, n + 1, 2**24]
    assert called("uint2double_rn", -1) == 2**32 - 1 and called("ull2double_rd", -1) < 2**64
    down, up = called("double2float_rd", 0.1), called("double2float_ru", 0.1)
    assert float(down) < 0.1 < float(up) and up == np.nextafter(down, np.float32(1))
    assert called("double2float_rz", 1e300) == np.finfo(np.float32).max


def test_functions_of_integers():
    assert called("clz", 1) == 31 and called("clzll", -1) == 0 and called("ffs", 8) == 4
    assert called("popc", -1) == 32 and called("brev", 1) == -(2**31) and called("ffsll", 0) == 0
    assert called("hadd", -3, 0) == -2 and called("urhadd", -1, -1) == -1
    assert called("max", -1, 2) == 2 and called("umax", -1, 2) == -1
    assert called("mulhi", 2**31 - 1, 4) == 1 and called("umul64hi", -1, -1) == -2
    assert called("mul24", -1, 5) == -5 and called("umul24", 2**24 + 3, 5) == 15
    assert called("sad", 3, -4, 10) == 17
    assert called("byte_perm", 0x03020100, 0x07060504, 0x5140) == 0x05010400


def test_bits_seen_as_another_type():
    assert called("float_as_int", 1.0) == 0x3F800000 and called("int_as_float", 0x40000000) == 2
    high, low = called("double2hiint", math.pi), called("double2loint", math.pi)
    assert called("hiloint2double", high, low) == math.pi
    assert called("longlong_as_double", called("double_as_longlong", -1.5)) == -1.5
    assert called("half2float", called("float2half_rn", 1.5)) == 1.5


sinf = libdevice.sinf


@cuda.jit
def by_all_ways(x, out):
    i = cuda.grid(1)
    out[i, 0] = cuda.libdevice.cosf(x[i])
    out[i, 1] = libdevice.fast_expf(x[i])
    s, c = libdevice.sincosf(x[i])
    out[i, 2] = s * s + c * c
    out[i, 3] = sinf(x[i])


def test_kernels_name_it_in_any_way():
    x, out = np.linspace(-2, 2, 40, dtype=np.float32), np.zeros((40, 4), np.float32)
    t = trace(by_all_ways)[1, 40](x, out)
    expected = np.stack([np.cos(x), np.exp(x), np.ones(40), np.sin(x)], axis=1)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)
    assert not t.warnings  # all in float32


@cuda.jit
def bessel(x):
    x[0] = libdevice.j0(x[0])


def test_what_is_not_here_is_refused_by_name():
    with pytest.raises(Unsupported, match=r"cuda\.libdevice\.j0"):
        trace(bessel)[1, 1](np.ones(1))
