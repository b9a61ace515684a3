"""What a learner can turn: a slider over a list of values, a choice among some."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ipywidgets import Dropdown, SelectionSlider


def slider(
    low: int, high: int, first: int | None = None, *, step: int = 1, unit: str = "",
    saved: Sequence[int] = (),
) -> "Slider":
    """A control of whole numbers from `low` to `high` that starts at `first`, else in the middle.

    A saved page has room for some of them: for those of `saved`, else for some at even distances.
    Raises ValueError for a way that is none, or a value that is not on it.
    """
    if not low < high or not 0 < step <= high - low or (high - low) / step > 1000:
        raise ValueError(f"A slider runs up from a low number to a higher one in at most 1,000 "
                         f"steps, not from {low} to {high} by {step}.")
    values = range(low, high + 1, step)
    start = values[(len(values) - 1) // 2] if first is None else first
    for value in (start, *saved):
        if value not in values:
            raise ValueError(f"{value} is not on the slider, which runs from {low} to {high}.")
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


def written(value: object, unit: str = "") -> str:
    """A value as an option of a control: every digit of a whole number, with its unit."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = f"{value:,}"
    return f"{value} {unit}".strip()
