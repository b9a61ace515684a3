"""Arithmetic and conversions rounded as libdevice's names say.

`_rn`, `_rz`, `_ru` and `_rd` round to the nearest, towards zero, up and down: `fadd_rz` adds two
float32, `float2int_rz` converts. The exact result is a fraction of Python's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

Beyond = Callable[..., Fraction]  # how far the exact result for … lies beyond c: beyond(c, …)
TYPES = {"double": "d", "float": "f", "int": "i", "uint": "i", "ll": "l", "ull": "l"}
REALS: dict[str, Any] = {"d": np.dtype("float64"), "f": np.dtype("float32")}
WHOLE = {"n": np.rint, "z": np.trunc, "u": np.ceil, "d": np.floor}


def directed(beyond: Beyond, nearest: Callable[..., Any], dtype: np.dtype, mode: str) -> Any:
    """The function that `nearest` comes near to, rounded by the mode; elements one by one.

    Where an argument or the nearest result is no finite number, that is the result.
    """
    infinite = np.array([-np.inf, np.inf], dtype)
    lowest, highest = np.finfo(dtype).min, np.finfo(dtype).max

    def one(*given: Any) -> Any:
        start = dtype.type(nearest(*map(dtype.type, given)))
        if not all(map(math.isfinite, given)) or np.isnan(start):
            return start
        exact = tuple(map(Fraction, given))
        try:
            toward_zero = "d" if beyond(Fraction(0), *exact) >= 0 else "u"
        except ZeroDivisionError:
            return start
        found = np.clip(start, lowest, highest)
        while found > lowest and beyond(Fraction(float(found)), *exact) < 0:
            found = np.nextafter(found, infinite[0])
        while found < highest and beyond(Fraction(float(found)), *exact) > 0:
            found = np.nextafter(found, infinite[1])
        return placed(found, exact, toward_zero if mode == "z" else mode, start)

    def placed(found: Any, exact: tuple, mode: str, start: Any) -> Any:
        """The number that the mode means, `found` being one of those beside the exact result."""
        excess = beyond(Fraction(float(found)), *exact)
        other = np.nextafter(found, infinite[int(excess > 0)])
        if excess == 0:
            return start if found == start else found  # keeps the sign of a zero
        if mode == "n":
            return start if np.isinf(other) else nearer(found, other, exact)
        return max(found, other) if mode == "u" else min(found, other)

    def nearer(a: Any, b: Any, exact: tuple) -> Any:
        """The nearer of two neighbors; of equally near ones the even."""
        middle = beyond((Fraction(float(a)) + Fraction(float(b))) / 2, *exact)
        if middle == 0:
            even = a.view(f"u{dtype.itemsize}") % 2 == 0
            return a if even else b
        return max(a, b) if middle > 0 else min(a, b)

    return lambda *values: np.asarray(np.frompyfunc(one, len(values), 1)(*lists(values)))


def lists(values: tuple) -> list[Any]:
    """Vectors of Python's own numbers."""
    return [np.asarray(v).astype(object) for v in values]


def fraction_of_root(c: Fraction, x: Fraction) -> Fraction:
    return x - c * c if c >= 0 else Fraction(1)


OPERATIONS: dict[str, tuple[Beyond, Callable[..., Any], int]] = {  # and how many arguments
    "add": (lambda c, x, y: x + y - c, np.add, 2),
    "sub": (lambda c, x, y: x - y - c, np.subtract, 2),
    "mul": (lambda c, x, y: x * y - c, np.multiply, 2),
    "div": (lambda c, x, y: x / y - c, np.true_divide, 2),
    "rcp": (lambda c, x: 1 / x - c, np.reciprocal, 1),
    "sqrt": (fraction_of_root, np.sqrt, 1),
    "fma": (lambda c, x, y, z: x * y + z - c, lambda x, y, z: x * y + z, 3),
}


def operations() -> dict[str, tuple[Any, str]]:
    """{name: (function, signature)}: dadd_rn, fadd_rz, fma_rd, fmaf_ru, fma, …"""
    table: dict[str, tuple[Any, str]] = {}
    for name, (beyond, nearest, count) in OPERATIONS.items():
        for letter, dtype in REALS.items():
            signature = f"{letter * count}->{letter}"
            short = f"fma{letter}".rstrip("d") if name == "fma" else f"{letter}{name}"
            for mode in WHOLE:
                by_hand = mode != "n" or name == "fma"
                function = directed(beyond, nearest, dtype, mode) if by_hand else nearest
                table[f"{short}_r{mode}"] = function, signature
    del table["dsub_rn"], table["dsub_rz"], table["dsub_ru"], table["dsub_rd"]
    table |= {"fma": table["fma_rn"], "fmaf": table["fmaf_rn"]}
    table["frsqrt_rn"] = (lambda x: (1 / np.sqrt(x.astype("f8"))).astype("f4")), "f->f"
    return table


def to_whole(of: str, to: str, mode: str) -> Callable[[Any], Any]:
    """float → int: what is beyond the integer's range ends at its edge."""
    bits = 64 if TYPES[to] == "l" else 32
    low, high = (0, 2**bits - 1) if to[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    of_nan = 0 if TYPES[of] == "f" and bits == 32 else 2 ** (bits - 1)

    def one(x: float) -> int:
        if math.isnan(x):
            out = of_nan
        else:
            out = (low if x < 0 else high) if math.isinf(x) else min(max(int(x), low), high)
        return (out + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)

    return lambda x: np.asarray(np.frompyfunc(one, 1, 1)(WHOLE[mode](x)))


def from_whole(of: str, to: str, mode: str) -> Callable[[Any], Any]:
    convert = directed(lambda c, n: n - c, lambda n: n, REALS[TYPES[to]], mode)
    unsigned = f"u{8 if TYPES[of] == 'l' else 4}"
    return lambda n: convert(n.view(unsigned) if of[0] == "u" else n)


def conversions() -> dict[str, tuple[Any, str]]:
    table: dict[str, tuple[Any, str]] = {}
    whole = [name for name, letter in TYPES.items() if letter in "il"]
    for mode in WHOLE:
        for real in ("double", "float"):
            for n in whole:
                signature = f"{TYPES[real]}->{TYPES[n]}"
                table[f"{real}2{n}_r{mode}"] = to_whole(real, n, mode), signature
                if mode == "n" or (real, TYPES[n]) != ("double", "i"):  # others are exact
                    back = f"{TYPES[n]}->{TYPES[real]}"
                    table[f"{n}2{real}_r{mode}"] = from_whole(n, real, mode), back
        narrow = directed(lambda c, x: x - c, lambda x: x, REALS["f"], mode)
        table[f"double2float_r{mode}"] = narrow, "d->f"
    return table


ROUNDED, CONVERSIONS = operations(), conversions()
