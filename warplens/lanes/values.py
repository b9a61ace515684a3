"""Arithmetic as Numba types it, on NumPy vectors with one element per lane.

A value that every thread shares stays a plain Python number: an int is an int64, a float a float64,
as Numba reads literals. NumPy scalars and vectors keep their own type. Where Python, NumPy and
Numba differ, Numba wins: integers widen to 64 bits and wrap around, int32 with float32 gives
float64, a float32 raised to an int stays float32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..faults import Unsupported, Untypable

if TYPE_CHECKING:
    from .warps import Warps

BOOL, INT8, INT64, UINT64 = map(np.dtype, ("bool", "int8", "int64", "uint64"))
FLOAT32, FLOAT64 = map(np.dtype, ("float32", "float64"))
PLAIN: dict[type, np.dtype] = {bool: BOOL, int: INT64, float: FLOAT64}
FLOATS_HOLD = frozenset(map(np.dtype, ("bool", "int8", "uint8", "int16", "float32")))
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

Instruction = Callable[..., Any]  # called with the warps `w` and the operands


def dtype_of(value: Any) -> np.dtype:
    dtype = PLAIN.get(type(value)) or getattr(value, "dtype", None)
    if not isinstance(dtype, np.dtype):
        raise Unsupported(f"arithmetic on {type(value).__name__}")
    return dtype


def wrap(value: int) -> int:
    """A Python int as the int64 it would be."""
    if INT64_MIN <= value <= INT64_MAX:
        return value
    return (value - INT64_MIN) % 2**64 + INT64_MIN


def plain(value: Any) -> Any:
    """Shared 64-bit numbers as Python's own, which are quicker."""
    return value.item() if type(value) in (np.int64, np.float64, np.bool_) else value


def cast(w: Warps, value: Any, dtype: np.dtype) -> Any:
    """`float32(x)`: truncates towards zero and wraps around, as on a GPU."""
    if isinstance(value, tuple):
        raise Unsupported("a cast of a tuple")
    if type(value) is int:
        value = np.uint64(value % 2**64).astype(INT64)
    return plain(np.asarray(value).astype(dtype, copy=False)[()])


def as_type(value: Any, dtype: np.dtype) -> Any:
    if type(value) is float and dtype is FLOAT64:
        return value
    own = getattr(value, "dtype", None)
    same = own is not None and own == dtype  # None passes for float64
    return value if same else np.asarray(value).astype(dtype)[()]


# Which type Numba computes in


@cache
def whole(*given: np.dtype) -> np.dtype:
    """Integers are computed with in 64 bits, signed if one of them is."""
    return UINT64 if all(dtype.kind == "u" for dtype in given) else INT64


@cache
def real(*given: np.dtype) -> np.dtype:
    """float32 beside what it holds without loss is float32; all else is float64."""
    return FLOAT32 if FLOAT32 in given and FLOATS_HOLD.issuperset(given) else FLOAT64


@cache
def number(*given: np.dtype) -> np.dtype:
    return (real if any(dtype.kind == "f" for dtype in given) else whole)(*given)


@cache
def bits(*given: np.dtype) -> np.dtype:
    for dtype in given:
        if dtype.kind == "f":
            raise Untypable(f"operation on the bits of {' and '.join(map(str, given))}")
    return BOOL if all(dtype == BOOL for dtype in given) else whole(*given)


def shifted(number: np.dtype, by: np.dtype) -> np.dtype:
    """The number that is shifted says which."""
    bits(number, by)
    return whole(number)


def binary(ufunc: np.ufunc, type_of: Callable[..., np.dtype], of_ints: Any = None) -> Instruction:
    """A machine instruction from a NumPy ufunc: Numba's types, and floating-point work counted."""

    def apply(w: Warps, a: Any, b: Any) -> Any:
        if type(a) is int and type(b) is int and of_ints:
            return wrap(of_ints(a, b))
        dtype = type_of(dtype_of(a), dtype_of(b))
        out = ufunc(as_type(a, dtype), as_type(b, dtype))
        if out.dtype.kind == "f":
            w.count_flops(out.dtype, 1)
            if ufunc is np.true_divide:
                w.by_kernel_line("functions")
        return plain(out)

    return apply


def divided(instruction: Instruction) -> Instruction:
    """Integer division by zero is undefined on a GPU (0 here): worth a caution."""

    def apply(w: Warps, a: Any, b: Any) -> Any:
        if dtype_of(a).kind in "iub" and dtype_of(b).kind in "iub" and w.any_lane(np.equal(b, 0)):
            w.caution(
                "division by zero", "an integer is divided by zero, which a GPU leaves undefined"
            )
        return instruction(w, a, b)

    return apply


def power(w: Warps, a: Any, b: Any) -> Any:
    """To an integer power by multiplying, in the result's own type, as Numba does."""
    base, exponent = dtype_of(a), dtype_of(b)
    if exponent.kind == "f":
        result = real(base, exponent)
        out = np.power(as_type(a, result), as_type(b, result))
    else:
        result = number(base) if base.kind == "f" else whole(base, exponent)
        out = multiplied(as_type(a, result), as_type(b, whole(exponent)))
    if result.kind == "f":
        w.count_flops(result, 1)
    return plain(out)


def multiplied(base: Any, exponent: Any) -> Any:
    """base ** exponent, squaring and multiplying; of integers, a negative power is 0 or ±1."""
    base, exponent = np.asarray(base), np.asarray(exponent)
    left = np.abs(exponent).astype(np.uint64)
    out, square = np.ones_like(base + left.astype(base.dtype)), base
    while np.any(left):
        out = np.where(left & 1, out * square, out)
        left, square = left >> np.uint64(1), square * square
    if exponent.dtype.kind == "i" and np.any(exponent < 0):
        inverse = 1 / out if base.dtype.kind == "f" else np.where(np.abs(base) == 1, out, 0)
        out = np.where(exponent < 0, inverse, out)
    return out.astype(base.dtype)[()]


ARITHMETIC: dict[str, Instruction] = {
    "Add": binary(np.add, number, int.__add__),
    "Sub": binary(np.subtract, number, int.__sub__),
    "Mult": binary(np.multiply, number, int.__mul__),
    "Div": binary(np.true_divide, real),
    "FloorDiv": divided(binary(np.floor_divide, number)),
    "Mod": divided(binary(np.remainder, number)),
    "Pow": power,
    "LShift": binary(np.left_shift, shifted),
    "RShift": binary(np.right_shift, shifted),
    "BitAnd": binary(np.bitwise_and, bits),
    "BitOr": binary(np.bitwise_or, bits),
    "BitXor": binary(np.bitwise_xor, bits),
}


def compare(ufunc: np.ufunc) -> Instruction:
    """Two numbers are compared in one type, which need not hold both: int64 and uint64 become
    doubles."""

    def apply(w: Warps, a: Any, b: Any) -> Any:
        one, other = dtype_of(a), dtype_of(b)
        dtype = one if one is other else np.promote_types(one, other)
        return plain(ufunc(as_type(a, dtype), as_type(b, dtype)))

    return apply


COMPARISONS: dict[str, Instruction] = {
    "Lt": compare(np.less),
    "LtE": compare(np.less_equal),
    "Gt": compare(np.greater),
    "GtE": compare(np.greater_equal),
    "Eq": compare(np.equal),
    "NotEq": compare(np.not_equal),
}


def widen(value: Any) -> Any:
    """Unary operators work on 64-bit integers, as Numba's do."""
    return as_type(value, number(dtype_of(value)))


def negate(w: Warps, x: Any) -> Any:
    """Numba negates in the number's own width, and widens then: −(−2³¹) stays −2³¹."""
    if type(x) is int:
        return wrap(-x)
    return plain(widen(np.negative(as_type(x, INT64) if dtype_of(x) == BOOL else x)))


UNARY: dict[str, Instruction] = {
    "USub": negate,
    "UAdd": lambda w, x: plain(np.positive(widen(x))),
    "Invert": lambda w, x: plain(np.invert(as_type(x, bits(dtype_of(x))))),
    "Not": lambda w, x: plain(np.logical_not(truth(x))),
}


def truth(value: Any) -> Any:
    """A value as a condition: a Python bool where all threads agree, else a vector of bool."""
    if isinstance(value, np.ndarray):
        return value if value.dtype == BOOL else value != 0
    return bool(value)


def merge(bits: np.ndarray, new: Any, old: Any) -> Any:
    """`new` in the lanes where `bits`, `old` in the others."""
    if new is old:
        return new
    dtype = np.promote_types(dtype_of(new), dtype_of(old))
    return np.where(bits, as_type(new, dtype), as_type(old, dtype))
