"""Functions of Python and math that a kernel may call, typed as in Numba."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..faults import Unsupported, Untypable
from .values import (
    ARITHMETIC,
    BOOL,
    FLOAT64,
    INT8,
    INT64,
    PLAIN,
    Instruction,
    as_type,
    cast,
    dtype_of,
    number,
    plain,
    power,
    real,
    truth,
)
from .warps import Warps


def elementwise(function: Callable[[float], float]) -> Callable[..., Any]:
    """A function of Python's math module, lifted to vectors."""
    lifted = np.frompyfunc(lambda x: function(float(x)), 1, 1)

    def apply(x: Any) -> Any:
        return np.asarray(lifted(x)).astype(np.asarray(x).dtype)[()]

    apply.__name__ = function.__name__
    return apply


def floating(ufunc: Callable[..., Any], count: int = 1, flops: int = 1) -> Instruction:
    """sqrt, exp, sin, …, of so many numbers: float32 stays float32, integers become float64."""

    def apply(w: Warps, *values: Any) -> Any:
        if len(values) != count:
            raise Untypable(f"{ufunc.__name__}() of {len(values)} numbers")
        dtype = real(*map(dtype_of, values))
        out = ufunc(*(as_type(value, dtype) for value in values))
        if flops:
            w.count_flops(dtype, flops)
            w.by_kernel_line("functions")
        return plain(out)

    return apply


def pow_(w: Warps, base: Any, exponent: Any) -> Any:
    """math.pow: an integer of 32 bits leaves the base its type."""
    dtype = dtype_of(exponent)
    if dtype.kind != "f" and np.can_cast(dtype, np.int32):
        exponent = as_type(exponent, real(dtype_of(base)))
    return floating(np.power, 2)(w, base, exponent)


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


def rounded(w: Warps, x: Any, digits: Any = None) -> Any:
    """`round(x)`, an int64."""
    if digits is not None:
        raise Unsupported("round() to some digits", w.line, w.function)
    return cast(w, np.rint(as_type(x, real(dtype_of(x)))), INT64)


def fused(w: Warps, *values: Any) -> Any:
    """a·b + c rounded once: a double holds a product of two floats exactly, and what is longer
    than a double holds most of a product of doubles."""
    dtype = real(*map(dtype_of, values))
    w.count_flops(dtype, 2)
    longer = np.float64 if dtype.itemsize == 4 else np.longdouble
    wide: list[Any] = [np.asarray(as_type(v, dtype)).astype(longer) for v in values]
    a, b, c = wide
    return plain((a * b + c).astype(dtype)[()])


def quotient(w: Warps, a: Any, b: Any) -> tuple[Any, Any]:
    """divmod: // and %, but for their type, as Numba has no divmod of int64 with uint64."""
    given = dtype_of(a), dtype_of(b)
    if np.float32 not in given:  # beside it, as for // and %
        dtype = number(np.promote_types(*given))
        a, b = plain(as_type(a, dtype)), plain(as_type(b, dtype))
    return ARITHMETIC["FloorDiv"](w, a, b), ARITHMETIC["Mod"](w, a, b)


def predicate(ufunc: np.ufunc) -> Instruction:
    """isnan, isinf, isfinite."""
    return lambda w, x: plain(ufunc(as_type(x, number(dtype_of(x)))))


def absolute(w: Warps, x: Any) -> Any:
    return plain(np.abs(as_type(x, INT8) if dtype_of(x) == BOOL else x))


def to_int(w: Warps, x: Any) -> Any:
    return x if dtype_of(x).kind in "iu" else cast(w, x, INT64)


def to_float(w: Warps, x: Any) -> Any:
    if dtype_of(x).kind == "b":
        raise Untypable(f"float() of {dtype_of(x)}")
    return x if dtype_of(x).kind == "f" else cast(w, x, FLOAT64)


ONE: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log2": np.log2,
    "log10": np.log10, "log1p": np.log1p, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "erf": elementwise(math.erf), "erfc": elementwise(math.erfc),
}  # fmt: skip
TWO = {"atan2": np.arctan2, "hypot": np.hypot, "fmod": np.fmod, "copysign": np.copysign}


def of_math() -> dict[Any, Instruction]:
    table: dict[Any, Instruction] = {math.pow: pow_}
    for count, names in (1, ONE), (2, TWO):
        table |= {getattr(math, name): floating(ufunc, count) for name, ufunc in names.items()}
    for name in ("isnan", "isinf", "isfinite"):
        table[getattr(math, name)] = predicate(getattr(np, name))
    for name in ("floor", "ceil", "trunc", "fabs"):
        table[getattr(math, name)] = floating(getattr(np, name), flops=0)
    return table


# Python callables that a kernel may name → instructions
FUNCTIONS: dict[Any, Instruction] = {
    **of_math(),
    max: extremum(np.fmax, np.maximum),
    min: extremum(np.fmin, np.minimum),
    abs: absolute,
    divmod: quotient,
    round: rounded,
    int: to_int,
    float: to_float,
    bool: lambda w, x: truth(x),
    pow: power,
}
