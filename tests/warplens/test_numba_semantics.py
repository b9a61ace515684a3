"""Arithmetic as Numba types it: compared with Numba's own compiled code on the CPU."""

import linecache
import math
import re
from itertools import chain

import numba
import numpy as np
from numba import cuda, float32, njit

from warplens import trace

INTS32 = np.array([0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 12345], np.int32)
INTS64 = np.array([3, -5, 2, 10, -3, 2**62, -9, 4], np.int64)
UINTS = np.array([0, 1, 2**32 - 1, 7, 9, 2**31, 5, 6], np.uint32)
BYTES = np.array([0, 1, 200, 255, 3, 4, 5, 6], np.uint8)
FLOATS = np.array([0.1, -1.5, 3.7, 1e10, -2.25, 0.3333333, 7.0, 1e-3], np.float32)
DOUBLES = np.array([0.1, -1.5, 3.7, 1e10, -2.25, 1 / 3, 7.0, 1e-3])
POSITIVE = np.abs(FLOATS)

TYPES = ["int8", "int32", "int64", "uint32", "uint64", "float32"]
EXPRESSIONS = [
    ("a + b", INTS32, INTS32),  # widens: no overflow
    ("int32(a + b)", INTS32, INTS32),  # wraps around
    ("int32(a * b)", INTS32, INTS32),
    ("a * b", INTS64, INTS64),  # wraps around at 64 bits
    ("a - b", UINTS, UINTS),
    ("uint32(a - b)", UINTS, UINTS),
    ("a + b", UINTS, INTS32),
    ("a + b", BYTES, BYTES),
    ("int8(a + b)", BYTES, BYTES),
    ("a * b", INTS32, FLOATS),  # float64
    ("a * b", BYTES, FLOATS),  # float32
    ("a + b", FLOATS, FLOATS),  # stays float32
    ("a * 0.1", FLOATS, FLOATS),  # a literal is a double
    ("a * 2", FLOATS, FLOATS),
    ("a * float32(0.1)", FLOATS, FLOATS),
    ("a + b", FLOATS, DOUBLES),
    ("a / b", INTS32, INTS64),
    ("a // b", INTS32, INTS64),  # floors
    ("a % b", INTS32, INTS64),  # sign of the divisor
    ("a // b", FLOATS, FLOATS),
    ("a % b", FLOATS, FLOATS),
    ("divmod(a, b)[0]", INTS32, INTS64),
    ("divmod(a, b)[1]", FLOATS, INTS64),
    ("divmod(a, b)[0]", BYTES > 3, BYTES),  # uint64, where // gives an int64
    ("divmod(a, b)[1]", INTS64, UINTS.astype(np.uint64) | 1),  # doubles
    ("a**2", FLOATS, FLOATS),
    ("a**b", POSITIVE, FLOATS),
    ("a**3", INTS32, INTS32),
    ("a << 3", INTS32, INTS32),
    ("a >> 3", INTS32, INTS32),
    ("a >> 3", UINTS, UINTS),
    ("a << 33", UINTS, UINTS),
    ("(a & b) | (a ^ 5)", INTS32, INTS64),
    ("~a", INTS32, INTS32),
    ("-a", INTS32, INTS32),
    ("-a", BYTES, BYTES),
    ("abs(a)", FLOATS, FLOATS),
    ("min(a, b)", FLOATS, FLOATS),
    ("max(a, b, 3)", INTS32, INTS64),
    ("max(a, 0.0)", FLOATS, FLOATS),
    ("int(a)", FLOATS, FLOATS),  # truncates
    ("float(a)", INTS32, INTS32),
    ("round(a)", FLOATS, FLOATS),
    ("math.floor(a)", FLOATS, FLOATS),
    ("math.ceil(a)", FLOATS, FLOATS),
    ("math.sqrt(a)", POSITIVE, FLOATS),
    ("math.exp(-a * a)", FLOATS, FLOATS),
    ("math.log(a)", POSITIVE, FLOATS),
    ("math.tanh(a) + math.sin(b)", FLOATS, FLOATS),
    ("math.atan2(a, b)", FLOATS, FLOATS),
    ("math.hypot(a, b)", FLOATS, FLOATS),
    ("math.pow(a, 2)", FLOATS, FLOATS),
    ("math.erf(a)", FLOATS, FLOATS),
    ("math.fabs(a)", FLOATS, FLOATS),
    ("math.sqrt(a)", BYTES, BYTES),
    ("a > 0 and b < 3", FLOATS, FLOATS),
    ("a > 0 or b", INTS32 > 0, INTS32 > 5),
    ("not a", INTS32, INTS32),
    ("a if a > b else b", INTS32, FLOATS),
    ("-1 < a <= 3.7 < 5", FLOATS, FLOATS),
    ("a == b", INTS32, FLOATS),
    ("(a > 0) + (b > 0)", FLOATS, FLOATS),
    ("uint64(a) * uint64(0xBF58476D1CE4E5B9)", UINTS, UINTS),
    ("0xFFFFFFFFFFFFFFFF ^ uint64(a)", UINTS, UINTS),
    ("int64(a) - uint64(b)", UINTS, UINTS),
    ("7 // 2 + 7 % -3 + (-7) // 2 + 2**5", INTS32, INTS32),
    ("(0.1 + 0.2) * 3", INTS32, INTS32),
    ("a + 9223372036854775807", INTS64, INTS64),
]


def function_of(expression):
    """A function with source, as the microscope needs it."""
    source = f"def f(a, b):\n    return {expression}\n"
    name = f"<expression {expression}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {"math": math} | {name: getattr(numba, name) for name in TYPES}
    exec(compile(source, name, "exec"), space)
    return space["f"]


def numpy_type(numba_type) -> np.dtype:
    return np.dtype("int64" if str(numba_type).startswith("Literal") else str(numba_type))


def test_expressions_give_what_numba_gives():
    """All of them in one function that Numba compiles once."""
    names = [f"x{n}, y{n}" for n in range(len(EXPRESSIONS))]
    texts = [re.sub(r"\bb\b", f"y{n}", re.sub(r"\ba\b", f"x{n}", expression))
             for n, (expression, _, _) in enumerate(EXPRESSIONS)]  # fmt: skip
    space = {"math": math} | {name: getattr(numba, name) for name in TYPES}
    groups = [f"({', '.join(texts[n : n + 8])},)" for n in range(0, len(texts), 8)]
    exec(f"def every({', '.join(names)}):\n    return ({', '.join(groups)},)", space)
    reference = njit(error_model="numpy")(space["every"])
    operands = [array for _, a, b in EXPRESSIONS for array in (a, b)]
    results_of = [list(chain(*reference(*each))) for each in zip(*operands, strict=True)]
    expected = list(zip(*results_of, strict=True))
    kinds = list(map(numpy_type, chain(*reference.nopython_signatures[0].return_type)))
    for (expression, a, b), dtype, results in zip(EXPRESSIONS, kinds, expected, strict=True):
        device = cuda.jit(device=True)(function_of(expression))

        def kernel(a, b, out):
            i = cuda.grid(1)
            out[i] = device(a[i], b[i])  # noqa: B023

        out = np.zeros(len(a), dtype)
        t = trace(kernel)[1, len(a)](a, b, out)
        assert dtype != np.float32 or not t.warnings, expression  # no double on the way
        tolerance = 4 * np.finfo(dtype).eps if dtype.kind == "f" else 0
        np.testing.assert_allclose(
            out, np.array(results, dtype), rtol=tolerance, equal_nan=True, err_msg=expression
        )


def run(kernel, *args, threads=8):
    trace(kernel)[1, threads](*args)


def test_an_accumulator_that_starts_as_a_python_float_is_double():
    def total(x, out):
        acc = 0.0
        for i in range(x.size):
            acc += x[i]
        out[0] = acc

    def total_single(x, out):
        acc = float32(0.0)
        for i in range(x.size):
            acc += x[i]
        out[0] = acc

    x = np.full(1000, 0.1, np.float32)
    double, single = np.zeros(1), np.zeros(1)
    run(total, x, double, threads=1)
    run(total_single, x, single, threads=1)
    assert double[0] == sum(float(v) for v in x)
    acc = np.float32(0)
    for v in x:
        acc += v
    assert single[0] == acc != double[0]


def test_a_store_converts_as_a_gpu_does():
    def stores(x, ints, bytes_):
        i = cuda.grid(1)
        ints[i] = x[i]
        bytes_[i] = i * 100

    ints, bytes_ = np.zeros(4, np.int32), np.zeros(4, np.int8)
    run(stores, np.array([1.9, -1.9, 0.5, 7.0], np.float32), ints, bytes_, threads=4)
    assert ints.tolist() == [1, -1, 0, 7]
    assert bytes_.tolist() == [0, 100, -56, 44]


def test_integer_division_by_zero_is_a_caution():
    def divide(x, out):
        i = cuda.grid(1)
        out[i] = 10 // x[i]

    out = np.zeros(4, np.int64)
    t = trace(divide)[1, 4](np.array([1, 2, 0, 5]), out)
    assert [w.kind for w in t.warnings] == ["division by zero"] and out.tolist() == [10, 5, 0, 2]


def test_a_double_that_creeps_in_is_a_caution_with_its_line():
    def scale(x):
        i = cuda.grid(1)
        x[i] = x[i] * 0.1

    t = trace(scale)[1, 8](np.ones(8, np.float32))
    assert [(w.kind, w.line) for w in t.warnings] == [
        ("double precision", scale.__code__.co_firstlineno + 2)
    ]
    assert not trace(scale)[1, 8](np.ones(8)).warnings


def test_versions_of_a_variable_keep_their_own_types_until_they_meet():
    """`v` is a float32 inside the guard although it was a double before, in every warp."""

    def kernel(x, y):
        i = cuda.grid(1)
        v = 0.0
        k = 0.5
        if i < y.size:
            v = x[i]
            y[i] = v * v
            k = i
            y[k] += v

    x, y = np.full(64, 0.1, np.float32), np.zeros(40, np.float32)
    t = trace(kernel)[1, 64](x, y)
    assert not t.warnings and (y == np.float32(0.1) * np.float32(0.1) + np.float32(0.1)).all()


def test_negative_indices_count_from_the_end_with_a_caution():
    def last(x, out):
        out[cuda.grid(1)] = x[-1]

    def before(x, out):
        i = cuda.grid(1)
        out[i] = x[i - 1]

    x, out = np.arange(8.0), np.zeros(8)
    run(last, x, out)
    assert (out == 7).all()
    t = trace(before)[1, 8](x, out)
    assert out.tolist() == [7, 0, 1, 2, 3, 4, 5, 6]
    assert [w.kind for w in t.warnings] == ["negative index"]


def test_an_array_knows_how_large_it_is():
    @cuda.jit
    def facts(x, out):
        out[0], out[1], out[2], out[3] = x.ndim, x.size, x.nbytes, x[1:].nbytes

    x, out = np.zeros((3, 5), np.float32), np.zeros(4, np.int64)
    trace(facts)[1, 1](x, out)
    assert out.tolist() == [x.ndim, x.size, x.nbytes, x[1:].nbytes]
