"""Numbers as people read them: three significant digits, a prefix, a unit.

Every function takes one plain number, or None for what nobody knows, and returns text.
"""

import math
from decimal import Decimal
from typing import TypeGuard

SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
DECIMAL = {"E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1.0}
BINARY = {
    "EiB": 2.0**60,
    "PiB": 2.0**50,
    "TiB": 2.0**40,
    "GiB": 2.0**30,
    "MiB": 2.0**20,
    "KiB": 2.0**10,
    "B": 1.0,
}


def seconds(time: float | None) -> str:
    """A duration in seconds: `1.23e-3` is "1.23 ms"."""
    return scaled(time, SECONDS, zero="s")


def between(time: float, low: float, high: float) -> str:
    """A duration known to lie between two, in seconds: "1.2 ms (0.94 to 2.1)", in one unit."""
    unit = seconds(float(f"{time:.2g}")).split()[-1]
    middle, *ends = (two_digits(each / SECONDS[unit]) for each in (time, low, high))
    return f"{middle} {unit} ({' to '.join(ends)})"


def rate(amount: float | None, unit: str) -> str:
    """An amount per second with a decimal prefix: `4.5e9, "FLOP/s"` is "4.5 GFLOP/s"."""
    return scaled(amount, {prefix + unit: scale for prefix, scale in DECIMAL.items()}, zero=unit)


def size(nbytes: float | None) -> str:
    """Bytes with a binary prefix, as memory is sold: `2**26` is "64 MiB"."""
    return scaled(nbytes, BINARY, zero="B")


def count(number: float | None) -> str:
    """A whole number, every digit of it: `1000003` is "1,000,003"."""
    if not is_number(number):
        return special(number)
    return special(number) or f"{round(number):,}".replace("-", "−")


def plural(number: int, noun: str) -> str:
    """So many of something: "1 pass", "1,024 passes"."""
    ending = "" if number == 1 else "es" if noun.endswith("s") else "s"
    return f"{number:,} {noun}{ending}"


def percent(part: float) -> str:
    """`0.25` is "25 %"."""
    return f"{100 * part:.0f} %"


def some(number: float) -> str:
    """A number that is known roughly, in two digits: "some 5,800", "some 20 million"."""
    rough = float(f"{number:.2g}")
    million = rough >= 1e6
    return f"some {three_digits(rough / 1e6 if million else rough)}{' million' * million}"


def ratio(factor: float | None) -> str:
    """How many times: `12.34` is "12.3×"."""
    if not is_number(factor):
        return special(factor)
    return f"{special(factor) or three_digits(factor)}×"


def scaled(value: float | None, scales: dict[str, float], zero: str) -> str:
    """The value in the largest unit that it fills once; `scales` runs from large to small."""
    if not is_number(value):
        return special(value)
    if math.isinf(value) or value == 0:
        return f"{special(value) or '0'} {zero}"
    # Rounded before the unit is chosen, so that 999.9 µs reads "1 ms" and not "1000 µs".
    filled = (unit for unit, scale in scales.items() if rounded(abs(value) / scale) >= 1)
    unit = next(filled, list(scales)[-1])
    return f"{three_digits(value / scales[unit])} {unit}"


def is_number(value: float | None) -> TypeGuard[float]:
    return value is not None and not math.isnan(value)


def special(value: float | None) -> str:
    """The words for a value without digits; empty for an ordinary number."""
    if value is None:
        return "unknown"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return ""


def rounded(value: float) -> float:
    return float(f"{value:.3g}")


def two_digits(value: float) -> str:
    """Two significant digits, never in powers of ten: more is not known of an estimate."""
    return format(Decimal(f"{float(value):.2g}"), ",f")


def three_digits(value: float) -> str:
    """Three significant digits, never in powers of ten; Decimal keeps 1e-05 positional."""
    return format(Decimal(f"{float(value):.3g}"), ",f").replace("-", "−")
