"""Functions of Python, math and NumPy that a kernel may call, typed as in Numba."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .values import (
    ARITHMETIC,
    BOOL,
    COMPARISONS,
    FLOAT64,
    INT64,
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
    return lambda *values: np.asarray(lifted(*values)).astype(values[0].dtype)[()]


def floating(ufunc: Callable[..., Any], flops: int = 1) -> Instruction:
    """sqrt, exp, sin, …: float32 stays float32, integers become float64."""

    def apply(w: Warps, *values: Any) -> Any:
        dtype = values_type(values)
        out = ufunc(*(as_type(v, dtype) for v in values))
        if flops:
            w.count_flops(dtype, flops)
            w.by_kernel_line("functions")
        return plain(out)

    return apply


def values_type(values: Sequence[Any]) -> np.dtype:
    dtypes = [dtype_of(v) for v in values]
    return np.result_type(*(d if d.kind in "fc" else FLOAT64 for d in dtypes))


def to_integer(ufunc: np.ufunc) -> Instruction:
    """math.floor, ceil, trunc, round(x): an int64."""
    return lambda w, x: cast(w, ufunc(x) if dtype_of(x).kind == "f" else x, INT64)


def extremum(of_floats: np.ufunc, of_integers: np.ufunc) -> Instruction:
    """min and max of two or more; a NaN counts as missing, as on a GPU."""

    def apply(w: Warps, *values: Any) -> Any:
        values = values[0] if len(values) == 1 else values
        dtype = np.result_type(*map(dtype_of, values))
        ufunc = of_floats if dtype.kind == "f" else of_integers
        out = as_type(values[0], dtype)
        for value in values[1:]:
            out = ufunc(out, as_type(value, dtype))
        return plain(out)

    return apply


def rounded(w: Warps, x: Any, digits: Any = None) -> Any:
    """`round(x)`; with digits as Numba reckons it, in double precision."""
    if digits is None:
        return to_integer(np.rint)(w, x)
    dtype = values_type((x,))
    x, digits = as_type(x, FLOAT64), as_type(digits, INT64)
    first, rest = 10.0 ** np.clip(np.abs(digits), None, 22), 10.0 ** np.maximum(digits - 22, 0)
    scaled = np.where(
        digits >= 0, x * rest * first, x / (first * 10.0 ** np.maximum(-digits - 22, 0))
    )
    whole = np.rint(scaled)
    back = np.where(digits >= 0, whole / first / rest, whole * first)
    lost = ~np.isfinite(x) | (np.isinf(scaled) & (digits >= 0))
    return plain(np.where(lost, x, back).astype(dtype)[()])


def fused(w: Warps, a: Any, b: Any, c: Any) -> Any:
    """a·b + c rounded once; float32 through float64, which is exact enough to round once."""
    dtype = values_type((a, b, c))
    w.count_flops(dtype, 2)
    wide = np.result_type(dtype, FLOAT64)
    out = as_type(a, wide) * as_type(b, wide) + as_type(c, wide)
    return plain(as_type(out, dtype))


def several(function: Callable[..., Any]) -> Instruction:
    """frexp, modf: a tuple of results."""

    def apply(w: Warps, x: Any) -> tuple:
        return tuple(map(plain, function(as_type(x, values_type((x,))))))

    return apply


def ldexp(w: Warps, x: Any, exponent: Any) -> Any:
    return plain(np.ldexp(as_type(x, values_type((x,))), as_type(exponent, np.dtype("int32"))))


def of_complex(function: Callable[..., Any]) -> Instruction:
    """cmath's functions: a float64 or an int becomes complex128, a float32 complex64."""

    def apply(w: Warps, *values: Any) -> Any:
        dtype = np.result_type(values_type(values), np.complex64)
        return plain(function(*(as_type(v, dtype) for v in values)))

    return apply


def polar(w: Warps, z: Any) -> tuple:
    return FUNCTIONS[abs](w, z), FUNCTIONS[cmath.phase](w, z)


def rect(w: Warps, r: Any, angle: Any) -> Any:
    """cmath.rect, in which 0 stays 0 at any angle."""
    dtype = values_type((r, angle))
    r, angle = as_type(r, dtype), as_type(angle, dtype)

    def along(part: Any) -> Any:
        product = np.where((part == 0) & np.isinf(r), part / r, r * part)
        return np.where((r == 0) & ~np.isfinite(angle), 0, product)

    im = along(np.sin(angle))
    re = np.where(np.isinf(r) & ~np.isfinite(angle), r, along(np.cos(angle)))
    return joined(re, im, dtype)


def exp_of_complex(z: Any) -> Any:
    """exp, which is +0 at -∞ in every direction that is none."""
    nowhere = np.isneginf(np.real(z)) & ~np.isfinite(np.imag(z))
    return np.where(nowhere, 0, np.exp(z)).astype(np.asarray(z).dtype)[()]


def predicate(ufunc: np.ufunc) -> Instruction:
    return lambda w, x: plain(ufunc(as_type(x, values_type((x,)))))


def absolute(w: Warps, x: Any) -> Any:
    return plain(np.abs(as_type(x, INT64) if dtype_of(x) == BOOL else x))


def to_int(w: Warps, x: Any) -> Any:
    return x if dtype_of(x).kind in "iu" else cast(w, x, INT64)


def to_float(w: Warps, x: Any) -> Any:
    return x if dtype_of(x).kind == "f" else cast(w, x, FLOAT64)


def to_complex(w: Warps, re: Any, im: Any = 0.0) -> Any:
    return joined(re, im, FLOAT64)


def joined(re: Any, im: Any, dtype: np.dtype) -> Any:
    """re + i·im, where no infinity is multiplied by i."""
    re, im = np.broadcast_arrays(as_type(re, dtype), as_type(im, dtype))
    return plain(np.stack([re, im], axis=-1).view(np.result_type(dtype, np.complex64))[..., 0][()])


def select(w: Warps, test: Any, a: Any, b: Any) -> Any:
    """`cuda.selp(test, a, b)`."""
    test = truth(test)
    return merge(test, a, b) if isinstance(test, np.ndarray) else (a if test else b)


ROOTS = [
    "sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "sinh", "cosh",
    "tanh", "exp2", "cbrt",
]  # fmt: skip
ARCS = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
SPECIAL = {"erf": np.nan, "erfc": np.nan, "gamma": np.nan, "lgamma": np.inf}  # and at a pole
TWO: dict[str, Callable[..., Any]] = {
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "pow": np.power,
    "fmod": np.fmod,
    "copysign": np.copysign,
    "nextafter": np.nextafter,
    "remainder": elementwise(math.remainder, arguments=2),
}
OPERATORS = {
    "add": "Add", "sub": "Sub", "mul": "Mult", "truediv": "Div", "floordiv": "FloorDiv",
    "mod": "Mod", "pow": "Pow", "lshift": "LShift", "rshift": "RShift", "and_": "BitAnd",
    "or_": "BitOr", "xor": "BitXor", "lt": "Lt", "le": "LtE", "gt": "Gt", "ge": "GtE", "eq": "Eq",
    "ne": "NotEq", "neg": "USub", "pos": "UAdd", "invert": "Invert", "not_": "Not",
}  # fmt: skip
OF_COMPLEX = ["sqrt", "exp", "log", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh"]


def callables() -> dict[Any, Instruction]:
    """Python callables a kernel may name → instructions."""
    table: dict[Any, Instruction] = {}
    table |= {getattr(np, name): floating(getattr(np, name)) for name in ROOTS}
    table |= {getattr(math, n): floating(getattr(np, n)) for n in ROOTS if hasattr(math, n)}
    for short, long in ARCS.items():
        table[getattr(math, short)] = table[getattr(np, long)] = floating(getattr(np, long))
    for name, pole in SPECIAL.items():
        table[getattr(math, name)] = floating(elementwise(getattr(math, name), pole))
    for name, ufunc in TWO.items():
        table[getattr(math, name)] = floating(ufunc)
        if isinstance(ufunc, np.ufunc):
            table[ufunc] = table[getattr(math, name)]
    for name in ("isnan", "isinf", "isfinite"):
        table[getattr(math, name)] = table[getattr(np, name)] = predicate(getattr(np, name))
    biggest, smallest = extremum(np.fmax, np.maximum), extremum(np.fmin, np.minimum)
    table |= {max: biggest, np.fmax: biggest, min: smallest, np.fmin: smallest}
    table |= {
        np.maximum: extremum(np.maximum, np.maximum),
        np.minimum: extremum(np.minimum, np.minimum),
    }
    table |= {
        math.floor: to_integer(np.floor),
        math.ceil: to_integer(np.ceil),
        math.trunc: to_integer(np.trunc),
    }
    table |= {
        np.floor: floating(np.floor, 0),
        np.ceil: floating(np.ceil, 0),
        np.trunc: floating(np.trunc, 0),
    }
    table |= {
        math.fabs: floating(np.abs, 0),
        abs: absolute,
        np.abs: absolute,
        np.sign: floating(np.sign, 0),
    }
    table |= {math.degrees: floating(np.degrees), math.radians: floating(np.radians)}
    table |= {round: rounded, int: to_int, float: to_float, complex: to_complex, pow: power}
    table |= {math.frexp: several(np.frexp), math.modf: several(np.modf), math.ldexp: ldexp}
    instructions = {**ARITHMETIC, **COMPARISONS, **UNARY}
    table |= {getattr(operator, name): instructions[op] for name, op in OPERATORS.items()}
    table |= {getattr(cmath, name): of_complex(getattr(np, name)) for name in OF_COMPLEX}
    table |= {getattr(cmath, s): of_complex(getattr(np, long)) for s, long in ARCS.items()}
    for name in ("isnan", "isinf", "isfinite"):
        table[getattr(cmath, name)] = of_complex(getattr(np, name))
    table |= {
        cmath.exp: of_complex(exp_of_complex),
        cmath.phase: of_complex(np.angle),
        cmath.polar: polar,
        cmath.rect: rect,
    }
    table[cmath.log] = of_complex(
        lambda z, base=None: np.log(z) if base is None else np.log(z) / np.log(base)
    )
    table[bool] = lambda w, x: truth(x)
    table[divmod] = lambda w, a, b: (ARITHMETIC["FloorDiv"](w, a, b), ARITHMETIC["Mod"](w, a, b))
    return table


FUNCTIONS = callables()


def conjugate(w: Warps, x: Any) -> Any:
    return plain(np.conjugate(as_type(x, dtype_of(x))))


def bit_count(w: Warps, x: Any) -> Any:
    """How many bits of a number's absolute value are set, as Python counts."""
    return plain(np.bitwise_count(as_type(x, dtype_of(x))).astype(INT64)[()])


METHODS: dict[str, Instruction] = {"conjugate": conjugate, "bit_count": bit_count}  # of numbers
