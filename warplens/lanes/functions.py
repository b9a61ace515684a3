"""Functions of Python, math and operator that a kernel may call, typed as in Numba."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..faults import Untypable
from .fma import multiply_add
from .overloads import INTEGERS, REALS, Case, Overloads, alike, case
from .values import (
    ARITHMETIC,
    COMPARISONS,
    FLOAT64,
    INT64,
    PLAIN,
    UNARY,
    Instruction,
    as_type,
    cast,
    dtype_of,
    merge,
    plain,
    power,
    truth,
)
from .warps import Warps


def gamma(x: float) -> float:
    """math.gamma, with the infinities that it has at ±0."""
    return math.copysign(np.inf, x) if abs(x) < 5.6e-309 else math.gamma(x)


def elementwise(
    function: Callable[..., float], pole: float = np.nan, arguments: int = 1
) -> Callable[..., Any]:
    """A function of Python's math module, lifted to vectors; `pole` where Python raises."""

    def guarded(*values: float) -> float:
        try:
            return function(*map(float, values))
        except ValueError:
            return pole
        except OverflowError:
            return np.inf

    lifted = np.frompyfunc(guarded, arguments, 1)

    def apply(*values: Any) -> Any:
        return np.asarray(lifted(*values)).astype(np.asarray(values[0]).dtype)[()]

    apply.__name__ = function.__name__
    return apply


def real(count: int) -> list[Case]:
    """As numba-cuda types most of math: integers become doubles."""
    return [case("float64", *["int64"] * count), case("float64", *["uint64"] * count),
            *alike(REALS, count)]  # fmt: skip


REAL = real(1) + real(2)
WITH_HALF = [*REAL, *alike("float16", 1)]
POW = alike(REALS, 2) + [case(f, f, "int32") for f in REALS.split()]


def floating(
    ufunc: Callable[..., Any], flops: int = 1, cases: Sequence[Case] = REAL
) -> Instruction:
    """sqrt, exp, sin, …: float32 stays float32, integers become float64; `cases` says how
    numba-cuda types it."""
    overloads = Overloads(f"{getattr(ufunc, '__name__', 'function')}()", cases)

    def apply(w: Warps, *values: Any) -> Any:
        result, takes = overloads(*map(dtype_of, values))
        if result.kind == "f":
            takes = (result,) * len(takes)
        out = ufunc(*(as_type(v, dtype) for v, dtype in zip(values, takes, strict=True)))
        if flops:
            w.count_flops(result, flops)
            w.by_kernel_line("functions")
        return plain(out)

    return apply


def several(function: Callable[..., Any], names: str) -> Instruction:
    """frexp, modf: a tuple of results, of a number of these types."""
    overloads = Overloads(f"{function.__name__}()", alike(names, 1))
    return lambda w, x: tuple(map(plain, function(as_type(x, overloads(dtype_of(x)).result))))


LDEXP = Overloads("ldexp()", [case(f, f, "int32") for f in REALS.split()])


def ldexp(w: Warps, x: Any, exponent: Any) -> Any:
    dtype, takes = LDEXP(dtype_of(x), dtype_of(exponent))
    return plain(np.ldexp(as_type(x, dtype), as_type(exponent, takes[1])))


WHOLE = Overloads("round()", [case("int64", "float32"), case("int64", "float64")])
TO_DIGITS = Overloads("round()", [case(f, f, "int64") for f in REALS.split()])


def extremum(of_floats: np.ufunc, of_integers: np.ufunc) -> Instruction:
    """min and max of two or more, in the one type that holds them all; a NaN counts as missing, as
    on a GPU."""

    def apply(w: Warps, *values: Any) -> Any:
        values = values[0] if len(values) == 1 else values
        given = list(map(dtype_of, values))
        dtype = np.result_type(*given)
        if dtype.kind == "c" or (dtype.kind != "b" and any(d.kind == "b" for d in given)):
            raise Untypable(f"min() or max() of {' and '.join(map(str, given))}")
        ufunc = of_floats if dtype.kind == "f" else of_integers
        if dtype == FLOAT64 and any(type(v) not in PLAIN for v in values):
            w.log.extrema[w.function, w.line, dtype.name] += w.weight * w.mask.count
        out = as_type(values[0], dtype)
        for value in values[1:]:
            out = ufunc(out, as_type(value, dtype))
        return plain(out)

    return apply


def rounded(w: Warps, x: Any, digits: Any = None) -> Any:
    """`round(x)`, an int64; with digits as Numba reckons it, in double precision."""
    if digits is None:
        return cast(w, np.rint(as_type(x, WHOLE(dtype_of(x)).takes[0])), INT64)
    dtype = TO_DIGITS(dtype_of(x), dtype_of(digits)).result
    x, digits = as_type(as_type(x, dtype), FLOAT64), as_type(digits, INT64)
    first, rest = 10.0 ** np.clip(np.abs(digits), None, 22), 10.0 ** np.maximum(digits - 22, 0)
    scaled = np.where(
        digits >= 0, x * rest * first, x / (first * 10.0 ** np.maximum(-digits - 22, 0))
    )
    whole = np.rint(scaled)
    back = np.where(digits >= 0, whole / first / rest, whole * first)
    lost = ~np.isfinite(x) | (np.isinf(scaled) & (digits >= 0))
    return plain(np.where(lost, x, back).astype(dtype)[()])


def fused(names: str) -> Instruction:
    """a·b + c rounded once, in one of these types."""
    overloads = Overloads("fma()", alike(names, 3))

    def apply(w: Warps, *values: Any) -> Any:
        dtype = overloads(*map(dtype_of, values)).result
        w.count_flops(dtype, 2)
        return plain(multiply_add(*(as_type(v, dtype) for v in values)))

    return apply


def predicate(ufunc: np.ufunc) -> Instruction:
    """isnan, isinf, isfinite."""
    overloads = Overloads(f"{ufunc.__name__}()", alike(f"int64 uint64 {REALS}", 1, "bool"))
    return lambda w, x: plain(ufunc(as_type(x, overloads(dtype_of(x)).takes[0])))


OF_COMPLEX = [case("float32", "complex64"), case("float64", "complex128")]
ABSOLUTE = Overloads("abs()", [*alike(f"{INTEGERS} {REALS} float16", 1), *OF_COMPLEX])


def absolute(w: Warps, x: Any) -> Any:
    dtype = dtype_of(x)
    return plain(np.abs(as_type(x, dtype if dtype.kind == "c" else ABSOLUTE(dtype).result)))


def to_int(w: Warps, x: Any) -> Any:
    return x if dtype_of(x).kind in "iu" else cast(w, x, INT64)


def to_float(w: Warps, x: Any) -> Any:
    if dtype_of(x).kind in "bc":
        raise Untypable(f"float() of {dtype_of(x)}")
    return x if dtype_of(x).kind == "f" else cast(w, x, FLOAT64)


def to_complex(w: Warps, *parts: Any) -> Any:
    """complex64 of float32 alone, else complex128."""
    given = list(map(dtype_of, parts))
    if any(d.kind == "b" or d == np.float16 or (d.kind == "c" and len(parts) > 1) for d in given):
        raise Untypable(f"complex() of {' and '.join(map(str, given))}")
    single = all(d == np.float32 for d in given)
    if len(parts) == 1:
        return cast(w, parts[0], np.dtype("complex64" if single else "complex128"))
    re, im = (as_type(part, np.dtype("float32") if single else FLOAT64) for part in parts)
    out = np.empty(np.broadcast_shapes(np.shape(re), np.shape(im)), "c8" if single else "c16")
    out.real, out.imag = re, im
    return plain(out[()])


DIVMOD = Overloads("divmod()", alike(f"int64 uint64 {REALS}", 2))


def quotient_and_rest(w: Warps, a: Any, b: Any) -> tuple[Any, Any]:
    dtype = DIVMOD(dtype_of(a), dtype_of(b)).result
    a, b = as_type(a, dtype), as_type(b, dtype)
    return ARITHMETIC["FloorDiv"](w, a, b), ARITHMETIC["Mod"](w, a, b)


SELECTED = "int16 uint16 int32 uint32 int64 uint64 float32 float64"


def select(w: Warps, test: Any, a: Any, b: Any) -> Any:
    """`cuda.selp(test, a, b)`, of two numbers of one type."""
    one, other = dtype_of(a), dtype_of(b)
    if one != other or one.name not in SELECTED.split():
        raise Untypable(f"selp() of {one} and {other}")
    test = truth(test)
    return merge(test, a, b) if isinstance(test, np.ndarray) else (a if test else b)


HALF_TOO = "sqrt exp exp2 log log2 log10 sin cos tanh"  # of which numba-cuda has float16 as well
ROOTS = f"{HALF_TOO} expm1 log1p tan sinh cosh"
ARCS = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
SPECIAL: dict[Callable[[float], float], tuple[Callable[[float], float], float]] = {
    math.erf: (math.erf, np.nan),  # what is reckoned, and what a pole gives
    math.erfc: (math.erfc, np.nan),
    math.gamma: (gamma, np.nan),
    math.lgamma: (math.lgamma, np.inf),
}
TWO: dict[str, tuple[Callable[..., Any], list[Case]]] = {
    "atan2": (np.arctan2, REAL),
    "hypot": (np.hypot, REAL),
    "pow": (np.power, POW),
    "fmod": (np.fmod, alike(REALS, 2)),
    "copysign": (np.copysign, alike(REALS, 2)),
    "nextafter": (np.nextafter, alike(REALS, 2)),
    "remainder": (elementwise(math.remainder, arguments=2), alike(REALS, 2)),
}
SEVERAL = {math.frexp: (np.frexp, REALS), math.modf: (np.modf, "float64 float32")}
OPERATORS = {
    "add": "Add", "sub": "Sub", "mul": "Mult", "truediv": "Div", "floordiv": "FloorDiv",
    "mod": "Mod", "pow": "Pow", "lshift": "LShift", "rshift": "RShift", "and_": "BitAnd",
    "or_": "BitOr", "xor": "BitXor", "lt": "Lt", "le": "LtE", "gt": "Gt", "ge": "GtE", "eq": "Eq",
    "ne": "NotEq", "neg": "USub", "pos": "UAdd", "invert": "Invert", "not_": "Not",
}  # fmt: skip
IN_PLACE = "add sub mul floordiv mod pow lshift rshift and_ or_ xor"  # iadd, isub, …


def of_math() -> dict[Any, Instruction]:
    table: dict[Any, Instruction] = {
        getattr(math, n): floating(
            getattr(np, n), cases=WITH_HALF if n in HALF_TOO.split() else REAL
        )
        for n in ROOTS.split()
        if hasattr(math, n)
    }
    for short, long in ARCS.items():
        table[getattr(math, short)] = floating(getattr(np, long))
    table |= {f: floating(elementwise(*reckoned)) for f, reckoned in SPECIAL.items()}
    table |= {f: several(*reckoned) for f, reckoned in SEVERAL.items()}
    for name, (ufunc, cases) in TWO.items():
        table[getattr(math, name)] = floating(ufunc, cases=cases)
    for name in ("isnan", "isinf", "isfinite"):
        table[getattr(math, name)] = predicate(getattr(np, name))
    for name in ("floor", "ceil", "trunc", "fabs"):
        table[getattr(math, name)] = floating(getattr(np, name), 0, WITH_HALF)
    return table | {math.degrees: floating(np.degrees), math.radians: floating(np.radians)}


def of_operators() -> dict[Any, Instruction]:
    instructions = {**ARITHMETIC, **COMPARISONS, **UNARY}
    table = {getattr(operator, name): instructions[op] for name, op in OPERATORS.items()}
    for name in IN_PLACE.split():
        table[getattr(operator, f"i{name.rstrip('_')}")] = instructions[OPERATORS[name]]
    return table


def callables() -> dict[Any, Instruction]:
    """Python callables a kernel may name → instructions."""
    table = of_math() | of_operators()
    table |= {max: extremum(np.fmax, np.maximum), min: extremum(np.fmin, np.minimum)}
    table |= {abs: absolute, round: rounded, int: to_int, float: to_float, complex: to_complex}
    table |= {math.ldexp: ldexp, pow: power, bool: lambda w, x: truth(x), divmod: quotient_and_rest}
    return table


FUNCTIONS = callables()


def conjugate(w: Warps, x: Any) -> Any:
    if dtype_of(x).kind == "b":
        raise Untypable("conjugate() of a bool", w.line, w.function)
    return plain(np.conjugate(as_type(x, dtype_of(x))))


def bit_count(w: Warps, x: Any) -> Any:
    """How many bits are set, in the number's own type; of -1 they are all, as for `cuda.popc`."""
    bits = np.asarray(as_type(x, dtype_of(x)))
    if bits.dtype.kind not in "iu":
        raise Untypable(f"bit_count() of {bits.dtype}", w.line, w.function)
    unsigned = bits.view(f"u{bits.dtype.itemsize}")
    return plain(np.bitwise_count(unsigned).astype(bits.dtype)[()])


METHODS: dict[str, Instruction] = {"conjugate": conjugate, "bit_count": bit_count}  # of numbers
