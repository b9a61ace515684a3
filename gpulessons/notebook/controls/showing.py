"""What the controls share: how a value is written, and how a widget is shown.

Everything leaves here as a display bundle with text/html and text/plain, so that an output still
reads where no widget can run: in nbconvert, on a code host's page, in a terminal.
"""

import html
import math
from dataclasses import dataclass
from decimal import Decimal

VIEW = "application/vnd.jupyter.widget-view+json"


def quantity(value, unit=""):
    """A number of three digits with its unit: `3.14159, "×"` is "3.14×"."""
    digits = format(Decimal(f"{float(value):.3g}"), ",f").replace("-", "−")
    return f"{digits}{unit}" if unit in ("", "×") else f"{digits} {unit}"


def escape(text):
    """Text made safe between HTML tags and inside attributes."""
    return html.escape(str(text))


def bundle(text, markup, widget=None):
    """The display bundle of one output: a widget if there is one, and what stands in for it."""
    data = {"text/plain": text, "text/html": markup}
    if widget is not None:
        data[VIEW] = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
    return data


@dataclass(frozen=True)
class Scale:
    """From `low` to `high`, in `unit`."""

    low: float
    high: float
    unit: str

    def __post_init__(self):
        if not -math.inf < self.low < self.high < math.inf:
            raise ValueError(f"A scale runs from a low number to a higher one, "
                             f"not from {self.low} to {self.high}.")

    @property
    def log(self):
        return self.low > 0 and self.high / self.low >= 100

    @property
    def middle(self):
        return math.sqrt(self.low * self.high) if self.log else (self.low + self.high) / 2

    def write(self, value):
        return quantity(value, self.unit)

    def __str__(self):
        log = ", log scale" if self.log else ""
        return f"{self.write(self.low)} … {self.write(self.high)}{log}"
