"""hint(): two layers, one folded inside the other: a nudge, then a line."""

from html import escape
from typing import Any

from .source import highlighted


class Hint:
    """An exercise's hints, closed until they are asked for, on a page without Python too."""

    def __init__(self, nudge: str, line: str):
        self.nudge, self.line = nudge, line

    def __repr__(self) -> str:
        return f"Hint 1: a nudge: {self.nudge}\nHint 2: a line: {self.line}"

    def _repr_html_(self) -> str:
        page = ""
        for name, html in (("Hint 2: a line", highlighted(self.line)),
                           ("Hint 1: a nudge", f"<p>{escape(self.nudge)}</p>")):
            page = (f'<details style="margin-left: 1em"><summary>{name}</summary>'
                    f"{html}{page}</details>")  # fmt: skip
        return page


def hint(exercise: Any) -> Hint:
    """Show an exercise's hints, folded: open the first one, try again, then the next."""
    if not exercise.hints:
        raise ValueError(f"{exercise.name} has no hints; solution({exercise.name}) shows a way.")
    return Hint(*exercise.hints)
