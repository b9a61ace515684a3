"""hint(): three layers, each folded inside the one before: a nudge, a picture, a line."""

import importlib
from functools import cached_property
from html import escape
from typing import Any

from .source import highlighted


class Hint:
    """An exercise's hints, closed until they are asked for, on a page without Python too."""

    def __init__(self, nudge: str, picture_name: str, line: str):
        self.nudge, self.picture_name, self.line = nudge, picture_name, line

    @cached_property
    def picture(self) -> Any:
        """Drawn when it is first shown; None where an exercise has none."""
        pictures = importlib.import_module("gpulessons.illustrations.puzzles")
        return getattr(pictures, self.picture_name)() if self.picture_name else None

    @property
    def layers(self) -> dict[str, tuple[str, str]]:
        """{summary: (as text, as HTML)}, the least telling first."""
        layers = {"a nudge": (self.nudge, f"<p>{escape(self.nudge)}</p>")}
        if self.picture:
            layers["a picture"] = (repr(self.picture), self.picture._repr_html_())
        layers["a line"] = (self.line, highlighted(self.line))
        return {f"Hint {n}: {kind}": layer for n, (kind, layer) in enumerate(layers.items(), 1)}

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, (text, _) in self.layers.items())

    def _repr_html_(self) -> str:
        page = ""
        for name, (_, html) in reversed(self.layers.items()):
            page = (f'<details style="margin-left: 1em"><summary>{name}</summary>'
                    f"{html}{page}</details>")  # fmt: skip
        return page


def hint(exercise: Any) -> Hint:
    """Show an exercise's hints, folded: open the first one, try again, then the next."""
    if not exercise.hints:
        raise ValueError(f"{exercise.name} has no hints; solution({exercise.name}) shows a way.")
    nudge, *picture, line = exercise.hints
    return Hint(nudge, "".join(picture), line)
