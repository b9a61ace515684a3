"""A curve drawn before it is measured: a prediction at each of a few places."""

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from .predictions import Prediction, predict
from .reveals import Measured
from .showing import bundle, escape

if TYPE_CHECKING:
    from ipywidgets import HTML, VBox

WIDE, TALL, EDGE = 480, 150, 12  # of the drawing, in pixels


def sketch(
    question: str, at: Sequence[float], low: float, high: float, unit: str, of: str = ""
) -> "Sketch":
    """Ask for a curve: a slider from `low` to `high` at each place, `of` what the places count.

    The places and the values lie on log scales. Raises ValueError where either cannot.
    """
    if not 0 < low < high or not all(0 < a < b for a, b in pairwise(at)):
        raise ValueError("A sketch has rising places above 0, and a scale from above 0.")
    return Sketch(question, {x: predict(f"{question} {x:,} {of}".strip(), low, high, unit)
                             for x in at})


class Sketch:
    """Predictions along an axis: `drawn` has those that the learner has made, {place: value}."""

    def __init__(self, question: str, points: Mapping[float, Prediction]):
        self.question, self.points = question, points

    @property
    def drawn(self) -> dict[float, float]:
        return {x: each.value for x, each in self.points.items() if each.value is not None}

    def reveal(self, measured: Mapping[float, Measured]) -> str:
        """Score each point by what was measured there, live; how far off they were, in words."""
        shown = [self.points[x].reveal(found) for x, found in measured.items()]
        factors = [each.factor for each in shown if each.factor]
        near = sum(factor <= 2 for factor in factors)
        return (f"You drew {len(factors)} points: {near} within a factor of 2 of what was measured."
                if factors else "You drew no curve: move the handles before it is measured.")

    @property
    def svg(self) -> str:
        """The curve as far as it is drawn."""
        scale, drawn = next(iter(self.points.values())).scale, self.drawn
        across = [math.log(x) for x in self.points]
        at = [(EDGE + (WIDE - 2 * EDGE) * share(math.log(x), across[0], across[-1]),
               TALL - EDGE - (TALL - 2 * EDGE)
               * share(math.log(y), math.log(scale.low), math.log(scale.high)))
              for x, y in drawn.items()]  # fmt: skip
        marks = "".join(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5"/>' for x, y in at)
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in at)
        words = "; ".join(f"{x:,}: {scale.write(y)}" for x, y in drawn.items()) or "nothing yet"
        return (f'<svg role="img" aria-label="Your curve: {escape(words)}" width="{WIDE}" '
                f'height="{TALL}" style="max-width: 100%; border: 1px solid; color: inherit">'
                f'<g fill="currentColor">{marks}</g>'
                f'<polyline points="{line}" fill="none" stroke="currentColor"/></svg>')

    @cached_property
    def widget(self) -> "VBox":
        """The question, a slider for each place, and the curve under them."""
        from ipywidgets import HTML

        from gpulessons.plots.panel import panel

        sliders = [each.slider for each in self.points.values()]
        for slider, x in zip(sliders, self.points, strict=True):
            slider.remove_class("gpulessons-question")
            slider.description, slider.readout = f"{x:,}", True
            slider.observe(lambda change: self.redraw(), "value")
        return panel(HTML(f"<b>{escape(self.question)} … {self.ends}</b>"), *sliders, self.picture)

    @cached_property
    def picture(self) -> "HTML":
        from ipywidgets import HTML

        return HTML(self.svg)

    def redraw(self) -> None:
        self.picture.value = self.svg

    @property
    def ends(self) -> str:
        return f"({next(iter(self.points.values())).scale})"

    def __repr__(self) -> str:
        places = ", ".join(f"{x:,}" for x in self.points)
        return f"Prediction: {self.question} {places}? {self.ends}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return bundle(repr(self), f"<p>{escape(self)}</p>", self.widget)


def share(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low)
