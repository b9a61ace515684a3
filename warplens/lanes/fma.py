"""a·b + c rounded once, in the numbers' own precision.

What rounding a sum drops is known exactly (Knuth: the error of a sum of two is a number of the same
format; Dekker: so is that of a product). A sum that is rounded to odd, its last bit set wherever
something was dropped, can be rounded again to a shorter format, or added once more, as if nothing
had happened (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Transactions
on Computers 57, 2008).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

SPLITTER = 2.0**27 + 1  # halves the 53 bits of a double
SMALL, LARGE = 2.0**-900, 2.0**900  # in between no part of a product under- or overflows


def multiply_add(a: Any, b: Any, c: Any) -> Any:
    """Of three arrays (or numbers) of one type of float."""
    dtype = np.result_type(a, b, c)
    a, b, c = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (a, b, c)))
    with np.errstate(all="ignore"):
        if dtype != np.float64:
            return odd_sum(a * b, c).astype(dtype)[()]  # a double holds the product exactly
        return of_doubles(a, b, c)[()]


def of_doubles(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    high, low = product(a, b)
    top, rest = total(c, low)
    out, left = total(high, top)
    out = np.asarray(out + odd_sum(left, rest))
    # Where one is 0 or none is a number, nothing is dropped on the way.
    plain = (a == 0) | (b == 0) | (c == 0) | ~(np.isfinite(a) & np.isfinite(b) & np.isfinite(c))
    out = np.where(plain, a * b + c, out)
    for i in map(tuple, np.argwhere(~plain & ~ordinary(a, b, c, high))):
        out[i] = by_fractions(float(a[i]), float(b[i]), float(c[i]))
    return out


def ordinary(*parts: np.ndarray) -> np.ndarray:
    sizes = map(np.abs, parts)
    return np.logical_and.reduce([(s > SMALL) & (s < LARGE) for s in sizes])


def by_fractions(a: float, b: float, c: float) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    try:
        return float(exact) if exact else 0.0
    except OverflowError:
        return math.copysign(math.inf, exact)


def total(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(a + b rounded, what that dropped)"""
    out = a + b
    part = out - a
    return out, (a - (out - part)) + (b - part)


def product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(a · b rounded, what that dropped)"""
    out = a * b
    (a1, a2), (b1, b2) = halves(a), halves(b)
    return out, a2 * b2 - (((out - a1 * b1) - a2 * b1) - a1 * b2)


def halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a in two numbers of 26 bits each."""
    scaled = SPLITTER * a
    high = scaled - (scaled - a)
    return high, a - high


def odd_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b rounded to odd: where the sum is not exact, to the neighbor whose last bit is 1."""
    out, dropped = total(a, b)
    even = np.asarray(out).view(np.int64) & 1 == 0
    inexact = np.isfinite(out) & np.isfinite(dropped) & (dropped != 0)
    return np.where(even & inexact, np.nextafter(out, np.copysign(np.inf, dropped)), out)
