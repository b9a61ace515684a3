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

from ..faults import Unsupported

if TYPE_CHECKING:
    from .warps import Warps

BOOL, INT64, UINT64, FLOAT64 = map(np.dtype, ("bool", "int64", "uint64", "float64"))
PLAIN: dict[type, np.dtype] = {
    bool: BOOL,
    int: INT64,
    float: FLOAT64,
    complex: np.dtype("complex128"),
}
NOT_WIDENED = frozenset(  # two of the same of these are computed with as they are
    map(np.dtype, ["int64", "uint64", "float16", "float32", "float64", "complex64", "complex128"])
)
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
COMPLEX_FLOPS: dict[np.ufunc, int] = {np.add: 2, np.subtract: 2, np.multiply: 6, np.true_divide: 11}


Rule = Callable[[np.dtype, np.dtype], np.dtype]  # the type in which two are computed together
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


@cache
def common(a: np.dtype, b: np.dtype) -> np.dtype:
    """The type Numba computes `a + b` in."""
    if a.kind in "fc" or b.kind in "fc":
        return np.promote_types(a, b)
    return UINT64 if a.kind == b.kind == "u" else INT64


def common_of_division(a: np.dtype, b: np.dtype) -> np.dtype:
    return common(a, b) if a.kind in "fc" or b.kind in "fc" else FLOAT64


def common_of_shift(a: np.dtype, b: np.dtype) -> np.dtype:
    return UINT64 if a.kind == "u" else INT64


def common_of_bits(a: np.dtype, b: np.dtype) -> np.dtype:
    return BOOL if a == b == BOOL else common(a, b)


def convert(rule: Rule, a: Any, b: Any) -> tuple[Any, Any]:
    dtype = rule(dtype_of(a), dtype_of(b))
    return as_type(a, dtype), as_type(b, dtype)


def as_type(value: Any, dtype: np.dtype) -> Any:
    if type(value) is float and dtype is FLOAT64:
        return value
    own = getattr(value, "dtype", None)  # None would equal float64
    return value if own is not None and own == dtype else np.asarray(value).astype(dtype)[()]


def binary(
    ufunc: np.ufunc, rule: Rule = common, of_ints: Callable[[int, int], int] | None = None
) -> Instruction:
    """A machine instruction from a NumPy ufunc: Numba's types, and floating-point work counted."""

    def apply(w: Warps, a: Any, b: Any) -> Any:
        if type(a) is int and type(b) is int and of_ints:
            return wrap(of_ints(a, b))
        if not (
            type(a) is np.ndarray
            and a.dtype in NOT_WIDENED
            and (
                (type(b) is int and a.dtype is INT64)
                or (type(b) is np.ndarray and b.dtype is a.dtype)
            )
        ):
            a, b = convert(rule, a, b)
        out = ufunc(a, b)
        if out.dtype.kind in "fc":
            w.count_flops(out.dtype, COMPLEX_FLOPS.get(ufunc, 1) if out.dtype.kind == "c" else 1)
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
    base, exponent = dtype_of(a), dtype_of(b)
    if base.kind in "fc" and exponent.kind in "iub":
        b = as_type(b, base)
    elif base.kind in "iub" and exponent.kind in "iub" and w.any_lane(np.less(b, 0)):
        raise Unsupported("an integer to a negative integer power", w.line, w.function)
    return POWER(w, a, b)


POWER = binary(np.power)
ARITHMETIC: dict[str, Instruction] = {
    "Add": binary(np.add, of_ints=int.__add__),
    "Sub": binary(np.subtract, of_ints=int.__sub__),
    "Mult": binary(np.multiply, of_ints=int.__mul__),
    "Div": binary(np.true_divide, common_of_division),
    "FloorDiv": divided(binary(np.floor_divide)),
    "Mod": divided(binary(np.remainder)),
    "Pow": power,
    "LShift": binary(np.left_shift, common_of_shift),
    "RShift": binary(np.right_shift, common_of_shift),
    "BitAnd": binary(np.bitwise_and, common_of_bits),
    "BitOr": binary(np.bitwise_or, common_of_bits),
    "BitXor": binary(np.bitwise_xor, common_of_bits),
}


def compare(ufunc: np.ufunc) -> Instruction:
    def apply(w: Warps, a: Any, b: Any) -> Any:
        kinds = dtype_of(a).kind + dtype_of(b).kind
        if "f" in kinds or "c" in kinds:
            a, b = convert(common, a, b)
        return plain(ufunc(a, b))

    return apply


COMPARISONS: dict[str, Instruction] = {
    "Lt": compare(np.less),
    "LtE": compare(np.less_equal),
    "Gt": compare(np.greater),
    "GtE": compare(np.greater_equal),
    "Eq": compare(np.equal),
    "NotEq": compare(np.not_equal),
    "Is": lambda w, a, b: a is b,
    "IsNot": lambda w, a, b: a is not b,
}


def widen(value: Any) -> Any:
    """Unary operators work on 64-bit integers, as Numba's do."""
    dtype = dtype_of(value)
    return as_type(value, {"b": INT64, "i": INT64, "u": UINT64}.get(dtype.kind, dtype))


def negate(w: Warps, x: Any) -> Any:
    """Numba negates in the number's own width, and widens then: −(−2³¹) stays −2³¹."""
    if type(x) is int:
        return wrap(-x)
    return plain(widen(np.negative(as_type(x, INT64) if dtype_of(x) == BOOL else x)))


UNARY: dict[str, Instruction] = {
    "USub": negate,
    "UAdd": lambda w, x: plain(np.positive(widen(x))),
    "Invert": lambda w, x: plain(np.invert(x if dtype_of(x) == BOOL else widen(x))),
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
    if isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
        parts = [merge(bits, n, o) for n, o in zip(new, old, strict=True)]
        return type(new)(*parts) if hasattr(new, "_fields") else tuple(parts)
    dtype = np.promote_types(dtype_of(new), dtype_of(old))
    return np.where(bits, as_type(new, dtype), as_type(old, dtype))
