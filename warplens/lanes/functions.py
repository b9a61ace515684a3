"""Functions of Python and math that a kernel may call, typed as in Numba."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..faults import Unsupported, Untypable
from .overloads import INTEGERS, REALS, Case, Overloads, alike, case
from .values import FLOAT64, INT64, PLAIN, Instruction, as_type, cast, dtype_of, plain, power, truth
from .warps import Warps


def elementwise(function: Callable[[float], float]) -> Callable[..., Any]:
    """A function of Python's math module, lifted to vectors."""
    lifted = np.frompyfunc(lambda x: function(float(x)), 1, 1)

    def apply(x: Any) -> Any:
        return np.asarray(lifted(x)).astype(np.asarray(x).dtype)[()]

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
    overloads = Overloads(f"{ufunc.__name__}()", cases)

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


def extremum(of_floats: np.ufunc, of_integers: np.ufunc) -> Instruction:
    """min and max of two or more, in the one type that holds them all; a NaN counts as missing, as
    on a GPU."""

    def apply(w: Warps, *values: Any) -> Any:
        values = values[0] if len(values) == 1 else values
        given = list(map(dtype_of, values))
        dtype = np.result_type(*given)
        if dtype.kind != "b" and any(d.kind == "b" for d in given):
            raise Untypable(f"min() or max() of {' and '.join(map(str, given))}")
        ufunc = of_floats if dtype.kind == "f" else of_integers
        if dtype == FLOAT64 and any(type(v) not in PLAIN for v in values):
            w.log.extrema[w.function, w.line, dtype.name] += w.weight * w.mask.count
        out = as_type(values[0], dtype)
        for value in values[1:]:
            out = ufunc(out, as_type(value, dtype))
        return plain(out)

    return apply


WHOLE = Overloads("round()", [case("int64", "float32"), case("int64", "float64")])


def rounded(w: Warps, x: Any, digits: Any = None) -> Any:
    """`round(x)`, an int64."""
    if digits is not None:
        raise Unsupported("round() to some digits", w.line, w.function)
    return cast(w, np.rint(as_type(x, WHOLE(dtype_of(x)).takes[0])), INT64)


FUSED = Overloads("fma()", alike(REALS, 3))


def fused(w: Warps, *values: Any) -> Any:
    """a·b + c rounded once: a double holds a product of two floats exactly, and what is longer
    than a double holds most of a product of doubles."""
    dtype = FUSED(*map(dtype_of, values)).result
    w.count_flops(dtype, 2)
    longer = np.float64 if dtype.itemsize == 4 else np.longdouble
    wide: list[Any] = [np.asarray(as_type(v, dtype)).astype(longer) for v in values]
    a, b, c = wide
    return plain((a * b + c).astype(dtype)[()])


def predicate(ufunc: np.ufunc) -> Instruction:
    """isnan, isinf, isfinite."""
    overloads = Overloads(f"{ufunc.__name__}()", alike(f"int64 uint64 {REALS}", 1, "bool"))
    return lambda w, x: plain(ufunc(as_type(x, overloads(dtype_of(x)).takes[0])))


ABSOLUTE = Overloads("abs()", alike(f"{INTEGERS} {REALS} float16", 1))


def absolute(w: Warps, x: Any) -> Any:
    return plain(np.abs(as_type(x, ABSOLUTE(dtype_of(x)).result)))


def to_int(w: Warps, x: Any) -> Any:
    return x if dtype_of(x).kind in "iu" else cast(w, x, INT64)


def to_float(w: Warps, x: Any) -> Any:
    if dtype_of(x).kind == "b":
        raise Untypable(f"float() of {dtype_of(x)}")
    return x if dtype_of(x).kind == "f" else cast(w, x, FLOAT64)


HALF_TOO = {"sqrt", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tanh"}  # float16, too
ONE: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "erf": elementwise(math.erf), "erfc": elementwise(math.erfc),
}  # fmt: skip
TWO = {"atan2": (np.arctan2, REAL), "hypot": (np.hypot, REAL), "pow": (np.power, POW),
       "fmod": (np.fmod, alike(REALS, 2)), "copysign": (np.copysign, alike(REALS, 2))}  # fmt: skip


def of_math() -> dict[Any, Instruction]:
    table: dict[Any, Instruction] = {}
    for name, ufunc in ONE.items():
        if hasattr(math, name):  # exp2 came with Python 3.11
            cases = WITH_HALF if name in HALF_TOO else REAL
            table[getattr(math, name)] = floating(ufunc, cases=cases)
    for name, (ufunc, cases) in TWO.items():
        table[getattr(math, name)] = floating(ufunc, cases=cases)
    for name in ("isnan", "isinf", "isfinite"):
        table[getattr(math, name)] = predicate(getattr(np, name))
    for name in ("floor", "ceil", "trunc", "fabs"):
        table[getattr(math, name)] = floating(getattr(np, name), 0, WITH_HALF)
    return table


# Python callables that a kernel may name → instructions
FUNCTIONS: dict[Any, Instruction] = {
    **of_math(),
    max: extremum(np.fmax, np.maximum),
    min: extremum(np.fmin, np.minimum),
    abs: absolute,
    round: rounded,
    int: to_int,
    float: to_float,
    bool: lambda w, x: truth(x),
    pow: power,
}
