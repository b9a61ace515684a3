"""What the controls share: how a value is written, and how a widget is shown.

Everything leaves here as a display bundle with text/html and text/plain, so that an output still
reads where no widget can run: in nbconvert, on a code host's page, in a terminal.
"""

import html
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipywidgets import Widget

VIEW = "application/vnd.jupyter.widget-view+json"
# Where a slider halts in every decade: a stop is at most 1.2 times the one before.
ROUND = (1, 1.1, 1.2, 1.4, 1.6, 1.8, 2, 2.2, 2.5, 2.8, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9)


def quantity(value: float, unit: str = "") -> str:
    """A number of three digits with its unit: `3.14159, "×"` is "3.14×", `1, "days"` "1 day"."""
    digits = format(Decimal(f"{float(value):.3g}"), ",f").replace("-", "−")
    if digits == "1":
        unit = re.sub(r"(?<=ss|ch)es$|(?<=[a-z]{3})s$", "", unit)
    return f"{digits}{unit}" if unit in ("", "×") else f"{digits} {unit}"


def escape(text: object) -> str:
    """Text made safe between HTML tags and inside attributes."""
    return html.escape(str(text))


def bundle(text: str, markup: str, widget: "Widget | None" = None) -> dict[str, Any]:
    """The display bundle of one output: a widget if there is one, and what stands in for it."""
    data: dict[str, Any] = {"text/plain": text, "text/html": markup}
    if widget is not None:
        data[VIEW] = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    return data


@dataclass(frozen=True)
class Scale:
    """From `low` to `high`, in `unit`."""

    low: float
    high: float
    unit: str

    def __post_init__(self) -> None:
        if not -math.inf < self.low < self.high < math.inf:
            raise ValueError(f"A scale runs from a low number to a higher one, "
                             f"not from {self.low} to {self.high}.")

    @property
    def log(self) -> bool:
        return self.low > 0 and self.high / self.low >= 100

    @property
    def stops(self) -> tuple[float, ...]:
        """Where a slider over the scale halts: at both ends, and at round numbers in between."""
        between = self.decades() if self.log else self.stairs()
        return (self.low, *(stop for stop in between if self.low < stop < self.high), self.high)

    def decades(self) -> Iterator[float]:
        for power in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))):
            yield from (float(f"{digits}e{power}") for digits in ROUND)

    def stairs(self) -> Iterator[float]:
        """Up from the low end by 1, 2 or 5 of some decimal place, in at most a hundred steps."""
        least = (self.high - self.low) / 100
        power = math.floor(math.log10(least))
        step = next(step for step in (float(f"{digit}e{power}") for digit in (1, 2, 5, 10))
                    if step >= least * (1 - 1e-9))
        for count in range(1, 101):
            yield float(f"{self.low + count * step:.10g}")

    def nearest(self, value: float) -> float:
        """The stop nearest to a value on the scale."""
        place = math.log if self.log else float
        return min(self.stops, key=lambda stop: abs(place(stop) - place(value)))

    @property
    def middle(self) -> float:
        """The stop halfway up, by ratio on a log scale."""
        low, high = self.low, self.high
        return self.nearest(math.sqrt(low * high) if self.log else (low + high) / 2)

    def write(self, value: float) -> str:
        return quantity(value, self.unit)

    def __str__(self) -> str:
        log = ", log scale" if self.log else ""
        return f"{self.write(self.low)} … {self.write(self.high)}{log}"
