"""Arithmetic as Numba types it, on NumPy vectors with one element per lane.

A value that every thread shares stays a plain Python number: an int is an int64, a float a float64,
as Numba reads literals. NumPy scalars and vectors keep their own type. Where Python, NumPy and
Numba differ, Numba wins: integers widen to 64 bits and wrap around, int32 with float32 gives
float64, a float32 raised to an int stays float32.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..faults import Unsupported
from .overloads import REALS, SIGNED, UNSIGNED, Case, Overloads, alike, case

if TYPE_CHECKING:
    from .warps import Warps

BOOL, INT64, UINT64 = map(np.dtype, ("bool", "int64", "uint64"))
FLOAT32, FLOAT64 = map(np.dtype, ("float32", "float64"))
PLAIN: dict[type, np.dtype] = {
    bool: BOOL,
    int: INT64,
    float: FLOAT64,
}
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
NARROWED = np.add, np.subtract, np.multiply, np.true_divide  # see `doubles`

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


def turns_into(w: Warps, value: Any, dtype: np.dtype) -> None:
    """A value is converted: a double, perhaps, to the float it was."""
    if dtype == FLOAT32:
        w.doubles.truncated(w, value)


def cast(w: Warps, value: Any, dtype: np.dtype) -> Any:
    """`float32(x)`: truncates towards zero and wraps around, as on a GPU."""
    if isinstance(value, tuple):
        raise Unsupported("a cast of a tuple")
    if type(value) is int:
        value = np.uint64(value % 2**64).astype(INT64)
    else:
        turns_into(w, value, dtype)
    return plain(np.asarray(value).astype(dtype, copy=False)[()])


def as_type(value: Any, dtype: np.dtype) -> Any:
    if type(value) is float and dtype is FLOAT64:
        return value
    own = getattr(value, "dtype", None)
    same = own is not None and own == dtype  # None passes for float64
    return value if same else np.asarray(value).astype(dtype)[()]


def binary(
    ufunc: np.ufunc, overloads: Overloads, of_ints: Callable[[int, int], int] | None = None
) -> Instruction:
    """A machine instruction from a NumPy ufunc: Numba's types, and floating-point work counted."""

    narrowed = ufunc in NARROWED
    as_they_are = {c.result for c in overloads.cases if set(c.takes) == {c.result}}

    def apply(w: Warps, a: Any, b: Any, constant: bool = False) -> Any:
        if type(a) is int and type(b) is int and of_ints:
            return wrap(of_ints(a, b))
        given = None
        if not (
            type(a) is np.ndarray
            and a.dtype in as_they_are
            and (
                (type(b) is int and a.dtype is INT64)
                or (type(b) is np.ndarray and b.dtype is a.dtype)
            )
        ):
            given = a, b
            dtype = overloads(dtype_of(a), dtype_of(b)).result
            a, b = as_type(a, dtype), as_type(b, dtype)
        out = ufunc(a, b)
        if out.dtype.kind == "f":
            w.count_flops(out.dtype, 1)
            if ufunc is np.true_divide:
                w.by_kernel_line("functions")
            if narrowed and out.dtype == FLOAT64:
                return w.doubles.made(w, plain(out), given or (a, b), constant)
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
    result, (_, exponent) = POWERS(dtype_of(a), dtype_of(b))
    a = as_type(a, result)
    whole = exponent.kind in "iu"
    out = multiplied(a, as_type(b, exponent)) if whole else np.power(a, as_type(b, result))
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


def of_integers(result: str = "") -> list[Case]:
    """Integers are computed with in 64 bits, signed if one of them is."""
    pairs = itertools.product(("int64", "uint64"), repeat=2)
    return [case(result or min(a, b), a, b) for a, b in pairs]


def arithmetic(name: str, *floats: str, result: str = "") -> Overloads:
    cases = [one for names in floats for one in alike(names, 2)]
    return Overloads(name, of_integers(result) + cases)


def bits(name: str) -> Overloads:
    return Overloads(name, alike("bool", 2) + of_integers(), lossless=True)


def shifts(name: str) -> Overloads:
    """The number that is shifted says which type."""
    cases = [
        case("uint64" if number[0] == "u" else "int64", number, by)
        for number in f"{SIGNED} {UNSIGNED}".split()
        for by in ("uint64", "int64")
    ]
    return Overloads(name, cases, lossless=True)


POWERS = Overloads(
    "a ** b",
    of_integers()
    + [case(f, f, i) for f in REALS.split() for i in ("int32", "int64", "uint64")]
    + alike(REALS, 2),
)
EVERY = REALS, "float16"
ARITHMETIC: dict[str, Instruction] = {
    "Add": binary(np.add, arithmetic("a + b", *EVERY), int.__add__),
    "Sub": binary(np.subtract, arithmetic("a - b", *EVERY), int.__sub__),
    "Mult": binary(np.multiply, arithmetic("a * b", *EVERY), int.__mul__),
    "Div": binary(np.true_divide, arithmetic("a / b", *EVERY, result="float64")),
    "FloorDiv": divided(binary(np.floor_divide, arithmetic("a // b", REALS))),
    "Mod": divided(binary(np.remainder, arithmetic("a % b", REALS))),
    "Pow": power,
    "LShift": binary(np.left_shift, shifts("a << b")),
    "RShift": binary(np.right_shift, shifts("a >> b")),
    "BitAnd": binary(np.bitwise_and, bits("a & b")),
    "BitOr": binary(np.bitwise_or, bits("a | b")),
    "BitXor": binary(np.bitwise_xor, bits("a ^ b")),
}
ORDERED = f"bool {SIGNED} {UNSIGNED} {REALS} float16"


def compare(ufunc: np.ufunc) -> Instruction:
    """Two numbers are compared in one type, which need not hold both: int64 and uint64 become
    doubles."""
    overloads = Overloads(f"{ufunc.__name__}()", alike(ORDERED, 2, "bool"))
    as_they_are = {one.takes[0] for one in overloads.cases}

    def apply(w: Warps, a: Any, b: Any) -> Any:
        if not (
            type(a) is np.ndarray
            and (
                (type(b) is int and a.dtype.kind == "i")
                or (type(b) is np.ndarray and b.dtype is a.dtype and a.dtype in as_they_are)
            )
        ):
            dtype = overloads(dtype_of(a), dtype_of(b)).takes[0]
            a, b = as_type(a, dtype), as_type(b, dtype)
        return plain(ufunc(a, b))

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
    dtype = dtype_of(value)
    return as_type(value, {"b": INT64, "i": INT64, "u": UINT64}.get(dtype.kind, dtype))


def negate(w: Warps, x: Any) -> Any:
    """Numba negates in the number's own width, and widens then: −(−2³¹) stays −2³¹."""
    if type(x) is int:
        return wrap(-x)
    out = plain(widen(np.negative(as_type(x, INT64) if dtype_of(x) == BOOL else x)))
    w.doubles.negated(x, out)
    return out


INVERTED = Overloads(
    "~a", alike("bool", 1) + alike(UNSIGNED, 1, "uint64") + alike(SIGNED, 1, "int64"), lossless=True
)
UNARY: dict[str, Instruction] = {
    "USub": negate,
    "UAdd": lambda w, x: plain(np.positive(widen(x))),
    "Invert": lambda w, x: plain(np.invert(as_type(x, INVERTED(dtype_of(x)).result))),
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
        return tuple(parts)
    dtype = np.promote_types(dtype_of(new), dtype_of(old))
    return np.where(bits, as_type(new, dtype), as_type(old, dtype))
