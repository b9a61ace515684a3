"""Numbers as people read them: three significant digits, a prefix, a unit.

Every function takes one plain number, or None for what nobody knows, and returns text.
"""

import math
from decimal import Decimal

_SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}
_DECIMAL = {"E": 1e18, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1.0}
_BINARY = {
    "EiB": 2.0**60,
    "PiB": 2.0**50,
    "TiB": 2.0**40,
    "GiB": 2.0**30,
    "MiB": 2.0**20,
    "KiB": 2.0**10,
    "B": 1.0,
}


def seconds(time):
    """A duration in seconds: `1.23e-3` is "1.23 ms"."""
    return _scaled(time, _SECONDS, zero="s")


def rate(amount, unit):
    """An amount per second with a decimal prefix: `4.5e9, "FLOP/s"` is "4.5 GFLOP/s"."""
    return _scaled(amount, {prefix + unit: scale for prefix, scale in _DECIMAL.items()}, zero=unit)


def size(nbytes):
    """Bytes with a binary prefix, as memory is sold: `2**26` is "64 MiB"."""
    return _scaled(nbytes, _BINARY, zero="B")


def count(number):
    """A whole number, every digit of it: `1000003` is "1,000,003"."""
    return _special(number) or f"{round(number):,}".replace("-", "−")


def ratio(factor):
    """How many times: `12.34` is "12.3×"."""
    if not _is_number(factor):
        return _special(factor)
    return f"{_special(factor) or _three_digits(factor)}×"


def _scaled(value, scales, zero):
    """The value in the largest unit that it fills once; `scales` runs from large to small."""
    if not _is_number(value):
        return _special(value)
    if math.isinf(value) or value == 0:
        return f"{_special(value) or '0'} {zero}"
    # Rounded before the unit is chosen, so that 999.9 µs reads "1 ms" and not "1000 µs".
    filled = (unit for unit, scale in scales.items() if _rounded(abs(value) / scale) >= 1)
    unit = next(filled, list(scales)[-1])
    return f"{_three_digits(value / scales[unit])} {unit}"


def _is_number(value):
    return value is not None and not math.isnan(value)


def _special(value):
    """The words for a value without digits; empty for an ordinary number."""
    if value is None:
        return "unknown"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return ""


def _rounded(value):
    return float(f"{value:.3g}")


def _three_digits(value):
    """Three significant digits, never in powers of ten; Decimal keeps 1e-05 positional."""
    return format(Decimal(f"{float(value):.3g}"), ",f").replace("-", "−")
