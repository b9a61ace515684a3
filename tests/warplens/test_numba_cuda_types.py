"""Types as numba-cuda's own compiler infers them: every operator and function, every pair of types.

Its answers need no GPU: `compile_cuda` types and lowers a function for a device that is not there.
"""

import cmath
import itertools
import linecache
import math
import operator
import re
import sys
from fractions import Fraction
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba import cuda, float32
from numba.core.errors import TypingError
from numba.cuda import types
from numba.cuda.compiler import compile_cuda
from numba.cuda.core import errors
from numba.cuda.descriptor import cuda_target
from numba.cuda.typeconv.rules import default_type_manager
from warplens.lanes.fma import multiply_add

from warplens import KernelFault, Unsupported, Untypable, trace
from warplens.lanes import overloads
from warplens.lanes.launch import Launch
from warplens.lanes.values import dtype_of
from warplens.lanes.warps import Warps
from warplens.source.compile import compiled

SIGNED, UNSIGNED = ["int8", "int16", "int32", "int64"], ["uint8", "uint16", "uint32", "uint64"]
NAMES = ["bool", *SIGNED, *UNSIGNED, "float16", "float32", "float64", "complex64", "complex128"]
TYPES = {name: getattr(types, name if name != "bool" else "boolean") for name in NAMES}
LITERALS = ["3", "3.5"]
SPACE = {"math": math, "cuda": cuda, "np": np, "numba": numba, "cmath": cmath}
SPACE |= {"operator": operator}
SPACE |= {name: getattr(np, name) for name in NAMES if name != "bool"}


@pytest.fixture(autouse=True, scope="module")
def no_device():
    """Device functions ask the current device for its capability: answer in its place."""
    dispatcher = sys.modules[type(cuda.jit(lambda: None)).__module__]
    with pytest.MonkeyPatch.context() as patch:
        device = SimpleNamespace(compute_capability=(9, 0))
        patch.setattr(dispatcher, "get_current_device", lambda: device)
        yield


# What numba-cuda says, and what the microscope says: names of types, None for a refusal.


def named(numba_type):
    if isinstance(numba_type, types.BaseTuple):
        return tuple(map(named, numba_type))
    return str(types.unliteral(numba_type))


def inferred(expressions, **parameters):
    """The types of all these expressions at once, or one by one where one of them is refused."""
    body = "".join(f"    v{i} = {e}\n" for i, e in enumerate(expressions))
    space = dict(SPACE)
    exec(f"def f({', '.join(parameters)}):\n{body}    return\n", space)
    given = tuple(map(TYPES.get, parameters.values()))
    try:
        found = compile_cuda(space["f"], types.void, given, cc=(9, 0)).type_annotation.typemap
    except Exception:
        if len(expressions) == 1:
            return [None]
        half = len(expressions) // 2
        parts = expressions[:half], expressions[half:]
        return [name for part in parts for name in inferred(part, **parameters)]
    return [named(found[f"v{i}"]) for i in range(len(expressions))]


def function_of(expression, parameters):
    source = f"def f({', '.join(parameters)}):\n    return {expression}\n"
    name = f"<typed {expression} of {parameters}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = dict(SPACE)
    exec(compile(source, name, "exec"), space)
    return space["f"]


FUNCTIONS = {}


def traced_type(expression, **parameters):
    key = expression, tuple(parameters)
    try:
        if key not in FUNCTIONS:
            FUNCTIONS[key] = function_of(*key)
        program = compiled(FUNCTIONS[key], kernel=False)
        w = Warps(Launch(FUNCTIONS[key], 1, 32), 0, np.arange(1), {})
        run = program.run(w, *(np.ones(32, name) for name in parameters.values()))
        with np.errstate(all="ignore"):
            return result_type(finished(run))
    except (Untypable, Unsupported):
        return None


def finished(run):
    try:
        next(run)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")


def result_type(value):
    return tuple(map(result_type, value)) if isinstance(value, tuple) else dtype_of(value).name


def differences(expressions, **parameters):
    """Where the two disagree. What the microscope takes is compiled at once, so that the compiler
    begins anew only for what it refuses."""
    traced = {e: traced_type(e, **parameters) for e in expressions}
    taken = [e for e in expressions if traced[e] is not None]
    told = dict(zip(taken, inferred(taken, **parameters), strict=True)) if taken else {}
    refused = [e for e in expressions if traced[e] is None]
    told |= {e: None for e in refused if not typable(*called(e, parameters))}
    told |= {e: inferred([e], **parameters)[0] for e in refused if e not in told}
    return {e: (traced[e], told[e]) for e in expressions if traced[e] != told[e]}


def called(expression, parameters):
    """The function of a call, and the types of its arguments; (None,) of anything else."""
    parts = re.fullmatch(r"([\w.]+)\((.*)\)", expression)
    arguments = parts[2].split(", ") if parts else [""]
    if all(a in parameters or a in LITERALS for a in arguments):
        return eval(parts[1], dict(SPACE)), *(parameters.get(a, a) for a in arguments)
    return (None,)


def typable(function, *names):
    """May numba-cuda's typing know the function for these types? Asked without compiling."""
    given = [types.literal(3) if n == "3" else TYPES.get(n, types.float64) for n in names]
    try:
        return cuda_target.typing_context.resolve_function_type(function, tuple(given), {})
    except (TypingError, errors.TypingError):
        return None
    except Exception:
        return True


def put_in(expression, **given):
    """The expression with literals in place of names; the names and types that are left."""
    for name, value in given.items():
        if value in LITERALS:
            expression = re.sub(rf"\b{name}\b", value, expression)
    return expression, {name: value for name, value in given.items() if value not in LITERALS}


# Every operator and function, every pair of types.


@pytest.mark.parametrize("one, other", list(itertools.product(NAMES, repeat=2)))
def test_conversions_lose_what_numba_says(one, other):
    found = default_type_manager.check_compatible(TYPES[one], TYPES[other])
    kinds = {"promote": overloads.PROMOTED, "safe": overloads.SAFE, "unsafe": overloads.UNSAFE}
    expected = None if found is None else kinds.get(found.name, overloads.PROMOTED)
    assert overloads.turn(np.dtype(one), np.dtype(other)) == expected


OPERATORS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "<<": operator.lshift,
    ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip


@pytest.mark.parametrize("one", NAMES + LITERALS)
def test_operators_give_the_types_that_numba_cuda_gives(one):
    wrong = {}
    for other in NAMES + LITERALS:
        if {one, other} <= set(LITERALS):
            continue
        given = put_in("a", a=one, b=other)[1]
        texts = {put_in(f"a {name} b", a=one, b=other)[0]: f for name, f in OPERATORS.items()}
        traced = {text: traced_type(text, **given) for text in texts}
        taken = [text for text in texts if traced[text] is not None]
        told = dict.fromkeys(texts) | dict(zip(taken, inferred(taken, **given), strict=True))
        wrong |= {t: (traced[t], told[t]) for t in taken if traced[t] != told[t]}
        wrong |= {t: (None, "") for t in texts if not traced[t] and typable(texts[t], one, other)}
    assert not wrong


UNARY = ["+a", "-a", "~a", "not a", "abs(a)", "round(a)", "int(a)", "float(a)", "complex(a)",
         "bool(a)", "round(a, 2)", "abs(-a)"]  # fmt: skip
BITS = [f"cuda.{name}(a)" for name in ("popc", "clz", "ffs", "brev", "cbrt")]
MATH = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh asin acos atan asinh "
    "acosh atanh erf erfc gamma lgamma isnan isinf isfinite floor ceil trunc fabs degrees radians"
)
NUMPY = (
    "log log2 log10 sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh "
    "degrees radians sqrt exp floor"
)
CASTS = [f"{name}(a)" for name in NAMES if name != "bool"]
HALVES = [f"cuda.fp16.h{n}(a)" for n in ("neg", "abs", "sin", "exp", "sqrt", "floor")]
NAMED = [f"math.{name}(a)" for name in MATH.split()] + [f"np.{name}(a)" for name in NUMPY.split()]
WARPS = [f"cuda.shfl_{kind}sync(-1, a, 1)" for kind in ("", "up_", "down_", "xor_")]
WARPS += [f"cuda.{v}_sync(-1, a)" for v in ("all", "any", "eq", "ballot", "match_any", "match_all")]


@pytest.mark.parametrize("name", NAMES + LITERALS)
def test_functions_give_the_types_that_numba_cuda_gives(name):
    texts = UNARY + BITS + NAMED + CASTS + HALVES + WARPS
    given = put_in("a", a=name)[1]
    assert not differences([put_in(text, a=name)[0] for text in texts], **given)


TWO = ["min(a, b)", "divmod(a, b)", "pow(a, b)", "round(a, b)", "complex(a, b)", "math.hypot(a, b)",
       "math.pow(a, b)", "math.fmod(a, b)", "cuda.fma(a, b, a)", "cuda.fp16.hadd(a, b)",
       "np.maximum(a, b)", "np.hypot(a, b)", "cuda.selp(True, a, b)"]  # fmt: skip


@pytest.mark.parametrize("one", NAMES + LITERALS)
def test_functions_of_two_give_the_types_that_numba_cuda_gives(one):
    wrong = {}
    for other in NAMES + LITERALS:
        given = put_in("a", a=one, b=other)[1]
        texts = [put_in(text, a=one, b=other)[0] for text in TWO]
        wrong |= {(other, t): d for t, d in differences(texts, **given).items()}
    assert not wrong


OF_COMPLEX = (
    "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh phase polar "
    "isnan isinf isfinite"
)
OTHERS = [f"cmath.{name}(a)" for name in OF_COMPLEX.split()]
OTHERS += ["math.frexp(a)", "math.modf(a)", "a.conjugate()", "a.real", "a.imag", "a.bit_count()",
           "np.real(a)", "np.imag(a)", "np.finfo(a).eps", "np.iinfo(a).max", "sum((a, a))",
           "cuda.libdevice.sinf(a)", "cuda.libdevice.frexp(a)", "cuda.libdevice.float2int_rz(a)",
           "cuda.float32x2(a, a).x", "operator.neg(a)", "operator.not_(a)", "operator.invert(a)",
           "cuda.fp16.hrcp(a)", "cuda.fp16.hrint(a)"]  # fmt: skip
OTHERS_OF_TWO = ["cmath.rect(a, b)", "cmath.log(a, b)", "math.ldexp(a, b)", "math.nextafter(a, b)",
                 "math.remainder(a, b)", "operator.iadd(a, b)", "operator.lt(a, b)",
                 "operator.ifloordiv(a, b)", "operator.ior(a, b)"]  # fmt: skip


@pytest.mark.parametrize("name", ["int8", "int32", "float16", "float32", "complex64"])
def test_functions_that_few_kernels_call_give_the_types_that_numba_cuda_gives(name):
    assert not differences(OTHERS, a=name)
    assert not differences(OTHERS_OF_TWO, a=name, b="float32")


# Values.


def run(kernel, *args, threads=32):
    return trace(kernel)[1, threads](*args)


def exact(a, b, c, dtype):
    """a·b + c in fractions, rounded once."""
    if dtype == np.float64:
        return float(Fraction(a) * Fraction(b) + Fraction(c))
    whole = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    near = dtype(float(whole))
    around = [np.nextafter(near, dtype(-np.inf)), near, np.nextafter(near, dtype(np.inf))]
    gaps = [abs(Fraction(float(v)) - whole) for v in around]
    best = [v for v, gap in zip(around, gaps, strict=True) if gap == min(gaps)]
    return best[0] if len(best) == 1 else next(v for v in best if not int(v.view("u4")) & 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_fma_rounds_once(dtype):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 4000)).astype(dtype)
    bits = 24 if dtype == np.float32 else 53
    near = 1 + rng.integers(-2, 3, 4000) * 2.0 ** -rng.integers(1, bits, 4000)
    c = (-a * b * near).astype(dtype)
    c[::3] = rng.standard_normal(1334) * 2.0 ** rng.integers(-40, 40, 1334)
    # Halfway between two numbers but for a bit far down: to round twice goes wrong.
    a[:2], b[:2] = 1 + 2.0 ** -(bits // 2), 1 + 2.0 ** -(bits - bits // 2)
    c[:2] = 2.0**-120, -(2.0**-120)
    found = multiply_add(a, b, c)
    assert found.dtype == dtype
    assert found.tolist() == [float(exact(*xyz, dtype)) for xyz in zip(a, b, c, strict=True)]


def test_fma_of_huge_tiny_and_special_doubles():
    tiny, huge = 5e-324, np.finfo(float).max
    cases = [(huge, 2.0, -huge), (tiny, 0.5, tiny), (1e-200, 1e-200, 1e-310), (0.0, 1.0, -0.0)]
    for a, b, c in cases:
        assert multiply_add(*map(np.float64, (a, b, c))) == exact(a, b, c, np.float64)
    assert np.isnan(multiply_add(np.inf, 0.0, 1.0)) and multiply_add(huge, huge, 0.0) == np.inf
    assert multiply_add(np.float64(2), np.float64(3), np.float64(np.inf)) == np.inf


def test_bits_of_thread_and_block_indices_are_32():
    def kernel(out):
        i = cuda.threadIdx.x
        out[i, 0] = cuda.brev(i)
        out[i, 1] = cuda.clz(i)
        out[i, 2] = cuda.clz(cuda.blockIdx.x)
        out[i, 3] = cuda.clz(cuda.threadIdx.y)
        out[i, 4] = cuda.clz(cuda.blockDim.x)
        out[i, 5] = cuda.clz(cuda.grid(1))
        out[i, 6] = cuda.brev(cuda.laneid)

    out = np.zeros((32, 7), np.int64)
    run(kernel, out)
    back = [int(f"{i:032b}"[::-1], 2) for i in range(32)]
    zeros = [32 - i.bit_length() for i in range(32)]
    assert out[:, 0].tolist() == back == out[:, 6].tolist() and out[:, 1].tolist() == zeros
    assert (out[:, 2:5] == [32, 32, 26]).all() and out[:, 5].tolist() == [z + 32 for z in zeros]


def test_signed_and_unsigned_are_compared_as_doubles():
    def kernel(x, y, out):
        i = cuda.grid(1)
        out[i] = (x[i] == y[i]) + 2 * (x[i] < y[i])

    x, y = np.array([2**63, 5, 2**64 - 1, 2**53 + 1], np.uint64), np.array([-1, 5, -1, 2**53])
    out = np.zeros(4, np.int64)
    run(kernel, x, y, out, threads=4)
    assert out.tolist() == [0, 1, 0, 1]


def test_powers_multiply_in_their_own_type():
    def kernel(x, n, out, whole):
        i = cuda.grid(1)
        out[i, 0] = x[i] ** 3
        out[i, 1] = x[i] ** n[i]
        out[i, 2] = x[i] ** -2
        whole[i, 0] = n[i] ** 5
        whole[i, 1] = 2 ** n[i]
        whole[i, 2] = -(1 ** n[i]) + (-1) ** n[i]

    x, n = np.array([1.1, -0.3, 7.7, 3.0], np.float32), np.array([3, -2, 0, 40])
    out, whole = np.zeros((4, 3), np.float32), np.zeros((4, 3), np.int64)
    run(kernel, x, n, out, whole, threads=4)
    np.testing.assert_array_equal(out[:, 0], x * (x * x))
    np.testing.assert_array_equal(out[:, 2], np.float32(1) / (x * x))
    assert out[1, 1] == out[1, 2] and out[2, 1] == 1
    assert whole.tolist() == [[243, 8, -2], [-32, 0, 0], [0, 1, 0], [40**5, 2**40, 0]]


def test_a_shuffles_argument_counts_by_its_low_five_bits():
    def kernel(out):
        i = cuda.threadIdx.x
        out[i, 0] = cuda.shfl_sync(-1, i, 33)
        out[i, 1] = cuda.shfl_up_sync(-1, i, 33)
        out[i, 2] = cuda.shfl_down_sync(-1, i, 35)
        out[i, 3] = cuda.shfl_xor_sync(-1, i, 34)
        out[i, 4] = cuda.shfl_up_sync(-1, i, -1)

    out, i = np.zeros((32, 5), np.int32), np.arange(32)
    run(kernel, out)
    up, down = np.maximum(i - 1, i % 1), np.where(i + 3 < 32, i + 3, i)
    expected = [i * 0 + 1, up, down, i ^ 2, np.where(i == 31, 0, i)]
    assert out.T.tolist() == np.array(expected).tolist()


def test_tuples_count_from_their_end_and_end():
    def kernel(x, n, out):
        i = cuda.threadIdx.x
        numbers = (10, 20, 30)
        out[i] = numbers[n[i]] + numbers[-1] + x.shape[-2]

    out = np.zeros(6, np.int64)
    x = np.zeros((7, 2))
    run(kernel, x, np.array([0, 1, 2, -1, -2, -3]), out, threads=6)
    assert out.tolist() == [47, 57, 67, 67, 57, 47]
    out[:] = 0
    told = run(kernel, x, np.array([0, 1, 2, 3]), out, threads=4)
    assert out.tolist() == [47, 57, 67, 0, 0, 0], "a thread beyond the tuple ends"
    assert "exception" in {caution.kind for caution in told.warnings}


def test_an_array_of_a_parameters_type_is_another_for_another_type():
    @cuda.jit(device=True)
    def kept(x, i):
        own = cuda.local.array(2, x.dtype)
        own[1] = x[i] / 2
        return own[1]

    def kernel(x, y, out):
        i = cuda.grid(1)
        out[i] = kept(x, i) + kept(y, i)

    out = np.zeros(4)
    run(kernel, np.array([1, 3, 5, 7]), np.array([1.0, 3, 5, 7]), out, threads=4)
    assert out.tolist() == [0.5, 2.5, 4.5, 6.5]


def test_complex_numbers_keep_their_width():
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = complex(x[i], x[i]) * complex(x[i], float32(0)) + complex(x[i], x[i]) ** x[i]

    x, out = np.array([0.1, 2, -3], np.float32), np.zeros(3, np.complex64)
    t = run(kernel, x, out, threads=3)
    assert not t.warnings
    z = x + 1j * x
    np.testing.assert_allclose(out, z * x + z**x, rtol=1e-6)


# Where doubles are.

SINGLE = ["x * 0.5", "x + 1", "1 - x", "x / 3", "2 / x", "HALF * x", "-(x * 2)", "x * y * 0.5",
          "x ** 2", "x ** 3", "math.sqrt(x) * 2", "x * u", "float32(x * 0.5) * y", "x - 1.0",
          "complex(x, y).real", "x * two", "abs(complex(x, y))"]  # fmt: skip
DOUBLE = ["x * 0.1", "x * 16777217", "x * 2 + 1", "(x + 1) * (x - 1)", "x * i", "x * n",
          "x * 0.5 + y", "0.5 * x * y", "x ** 2.0", "math.sqrt(x * 2)", "i * 0.5",
          "u * 0.5", "x * d", "x - x * 0.5", "math.pow(x, 2)"]  # fmt: skip
BODY = """def f(o, X, Y, U, n, d):
    i = cuda.threadIdx.x
    two = 2.0
    x = X[i]
    y = Y[i]
    u = U[i]
    {}
"""
SPACE["HALF"] = 0.5
STATEMENTS = ["o[i] += 1", "v = x * 0.5\n    o[i] = v", "o[i] *= 0.5",
              "cuda.atomic.add(o, i, x * 0.5)",
              "v = x * 0.5\n    o[i] = v\n    X[i] = v + y", "o[i] -= 0.5 * x",
              "v = 0.0\n    if i < 9:\n        v = x\n    o[i] = v * v",
              "v = 0.1\n    if i < 9:\n        v = x\n    o[i] = v * v",
              "v = x if i < 9 else 0.0\n    o[i] = v * 2",
              "v = x if i < 9 else 0\n    o[i] = v * v + 1"]  # fmt: skip


def statement(text):
    source = BODY.format(text)
    name = f"<statement {text}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = dict(SPACE)
    exec(compile(source, name, "exec"), space)
    return space["f"]


@pytest.mark.parametrize("text", [f"o[i] = {e}" for e in SINGLE + DOUBLE] + STATEMENTS)
def test_doubles_are_told_where_the_code_has_them(text):
    kernel = statement(text)
    f4 = types.float32[::1]
    given = (f4, f4, f4, types.uint8[::1], types.int64, types.float64)
    ptx, _ = cuda.compile(kernel, given, cc=(9, 0), device=False, abi="numba")
    arithmetic = re.findall(r"\b(?:add|sub|mul|div|fma|rcp|sqrt)[.\w]*\.f64", ptx)
    floats = np.ones((3, 32), np.float32)
    t = run(kernel, *floats, np.ones(32, np.uint8), 3, 0.3)
    assert {w.kind for w in t.warnings} == ({"double precision"} if arithmetic else set())
    assert any(kind == "float64" for *_, kind, _ in t.flops_by_line) == bool(arithmetic)


@pytest.mark.parametrize("text", ["max(x, 0)", "max(0, x)", "min(x, 1.0)", "max(x, i)",
                                  "max(x, y, 0)", "max(x, float32(0))", "min(x, y)", "max(x, u)",
                                  "max(i, n)"])  # fmt: skip
def test_a_minimum_or_maximum_in_doubles_is_told_where_the_code_has_one(text):
    kernel = statement(f"o[i] = {text}")
    f4 = types.float32[::1]
    given = (f4, f4, f4, types.uint8[::1], types.int64, types.float64)
    ptx, _ = cuda.compile(kernel, given, cc=(9, 0), device=False, abi="numba")
    chosen = re.findall(r"\b(?:min|max|setp)[.\w]*\.f64", ptx)
    t = run(kernel, *np.ones((3, 32), np.float32), np.ones(32, np.uint8), 3, 0.3)
    assert {w.kind for w in t.warnings} == ({"double precision"} if chosen else set())


# What numba-cuda refuses.


def float_index(x, b, u):
    x[1.0] = 2


def float_vector_index(x, b, u):
    x[x[0]] = 2


def counting_a_bool(x, b, u):
    u[0] = cuda.syncthreads_count(x[0] > 1)


def shuffling_a_bool(x, b, u):
    b[0] = cuda.shfl_sync(-1, b[0], 1)


def shuffling_bytes(x, b, u):
    u[0] = cuda.shfl_down_sync(-1, np.int8(u[0]), 1)


def shuffling_unsigned(x, b, u):
    u[0] = cuda.shfl_up_sync(-1, u[0], 1)


def a_vote_on_a_float(x, b, u):
    b[0] = cuda.all_sync(-1, x[0])


def bits_of_a_float(x, b, u):
    u[0] = u[0] & x[0]


def a_root_of_a_complex(x, b, u):
    x[0] = math.sqrt(complex(x[0], x[0]))


def a_complex_stored_as_a_float(x, b, u):
    x[0] = complex(x[0], x[0])


def a_tuple_of_two_types(x, b, u):
    pair = (1, 2.5)
    x[0] = pair[u[0]]


def an_array_of_nonsense(x, b, u):
    own = cuda.local.array(3, dtype="int33")
    own[0] = x[0]


REFUSED = [an_array_of_nonsense, float_index, float_vector_index, counting_a_bool,
           shuffling_a_bool, shuffling_bytes, shuffling_unsigned, a_vote_on_a_float,
           bits_of_a_float, a_root_of_a_complex,
           a_complex_stored_as_a_float, a_tuple_of_two_types]  # fmt: skip


@pytest.mark.parametrize("kernel", REFUSED)
def test_what_numba_cuda_refuses_is_a_typing_error_with_its_line(kernel):
    given = types.float32[::1], types.boolean[::1], types.uint32[::1]
    with pytest.raises((TypingError, errors.TypingError, errors.NumbaError)):
        compile_cuda(kernel, types.void, given, cc=(9, 0))
    args = np.ones(32, np.float32), np.ones(32, bool), np.ones(32, np.uint32)
    for kind in (TypingError, errors.TypingError, KernelFault):
        with pytest.raises(kind) as told:
            run(kernel, *args)
    assert told.value.line > kernel.__code__.co_firstlineno and kernel.__name__ in str(told.value)
