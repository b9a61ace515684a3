"""What a learner can turn: a slider over a list of values, a choice among some."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipywidgets import Dropdown, SelectionSlider


def slider(
    low: float, high: float, first: float | None = None, *, step: float | None = None,
    log: bool = False, unit: str = "", saved: Sequence[float] = (),
) -> "Slider":
    """A control from `low` to `high` that starts at `first`, or else in the middle.

    With `log` its values are 1, 2, 5, 10 …, or each is `step` times the one before. A saved page
    has room for some of them: for those of `saved`, else for some at even distances.
    """
    values = ladder(low, high, step) if log else stairs(low, high, step)
    start = values[(len(values) - 1) // 2] if first is None else first
    for value in (start, *saved):
        if value not in values:
            raise ValueError(f"{value} is not on the slider, which takes {some_of(values)}.")
    kept = values if not saved else [value for value in values if value in {start, *saved}]
    return Slider(tuple(values), start, unit, tuple(kept))


@dataclass(frozen=True)
class Slider:
    """The values that a slider takes, in order, the first one to show, their unit, and those of
    them that a saved page may have.
    """

    values: tuple
    start: object
    unit: str
    saved: tuple

    def __str__(self) -> str:
        return f"{written(self.values[0], self.unit)} … {written(self.values[-1], self.unit)}"

    def widget(self) -> "SelectionSlider":
        from ipywidgets import SelectionSlider

        options = [(written(value, self.unit), value) for value in self.values]
        return SelectionSlider(options=options, value=self.start)


@dataclass(frozen=True)
class Choice:
    """The values of a list to choose from."""

    values: tuple
    start: object

    @property
    def saved(self) -> tuple:
        """The values that a saved page may have."""
        return self.values

    def __str__(self) -> str:
        return ", ".join(written(value) for value in self.values)

    def widget(self) -> "Dropdown":
        from ipywidgets import Dropdown

        options = [(written(value), value) for value in self.values]
        return Dropdown(options=options, value=self.start)


def control(name: str, given: Any) -> "Slider | Choice":
    """The Slider or Choice that `name=given` asks for: of a list the first value is shown first,
    numbers in their order. Raises ValueError for anything else.
    """
    if isinstance(given, Slider):
        return given
    if isinstance(given, list) and given:
        ordered = all(isinstance(value, int | float) for value in given)
        return Choice(tuple(sorted(given) if ordered else given), given[0])
    raise ValueError(f"{name}={given!r} is no control: give slider(…) or a list.")


def stairs(low: float, high: float, step: float | None) -> list[float]:
    """From `low` to `high` by `step`; without one, by 1 for whole numbers, else in 100 steps."""
    whole = all(isinstance(end, int) for end in (low, high))
    if step is None:
        step = 1 if whole else (high - low) / 100
    if not low < high or not 0 < step <= high - low or (high - low) / step > 1000:
        raise ValueError(f"A slider runs up from a low number to a higher one in at most 1,000 "
                         f"steps, not from {low} to {high} by {step}.")
    count = int((high - low) / step + 1e-9)
    return [tidy(low + index * step) for index in range(count + 1)]


def ladder(low: float, high: float, step: float | None) -> list[float]:
    if not 0 < low < high or (step is not None and step <= 1):
        raise ValueError(f"A log slider multiplies its way up from a positive number, "
                         f"not from {low} to {high} by {step or 'itself'}.")
    values = [low]
    while True:
        following = values[-1] * step if step else next_125(values[-1])
        if following > high * (1 + 1e-9):
            return values
        values.append(tidy(following))


def next_125(value: float) -> float:
    """The first of … 1, 2, 5, 10, 20 … above `value`."""
    power = math.floor(math.log10(value))
    rungs = (digit * 10 ** exponent for exponent in (power, power + 1) for digit in (1, 2, 5))
    return next(rung for rung in rungs if rung > value * (1 + 1e-9))


def tidy(value: float) -> float:
    return value if isinstance(value, int) else float(f"{value:.10g}")


def written(value: object, unit: str = "") -> str:
    """A value as an option of a control: every digit of a whole number, with its unit."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = f"{value:,}"
    return f"{value} {unit}".strip()


def some_of(values: Sequence[float]) -> str:
    return ", ".join(map(written, values[:3])) + f" … {written(values[-1])}"
