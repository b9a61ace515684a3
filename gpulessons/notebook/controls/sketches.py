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

WIDE, TALL = 480, 150  # of the drawing, in pixels


def sketch(
    question: str, at: Sequence[float], low: float, high: float, unit: str, of: str = ""
) -> "Sketch":
    """Ask for a curve: a slider from `low` to `high` at each place, `of` what the places count.

    The places and the values lie on log scales. Raises ValueError where either cannot.
    """
    if not 0 < low < high or not all(0 < a < b for a, b in pairwise(at)):
        raise ValueError("A sketch has rising places above 0, and a scale from above 0.")
    asked = {x: predict(f"{question} {x:,} {of}".strip(), low, high, unit) for x in at}
    return Sketch(f"{question} {', '.join(f'{x:,}' for x in at)} {of}".strip(), asked)


class Sketch:
    """Predictions along an axis: `drawn` has those that the learner has made, {place: value}."""

    def __init__(self, question: str, points: Mapping[float, Prediction]):
        self.question, self.points = question, points
        self.scale = next(iter(points.values())).scale

    @property
    def drawn(self) -> dict[float, float]:
        return {x: each.value for x, each in self.points.items() if each.value is not None}

    def reveal(
        self, measured: Mapping[float, Measured], label: str = "measured here", tier: str = "live"
    ) -> str:
        """Score each point by what was measured there; how far off they were, in words.

        label, tier: of what was not measured here, as `Prediction.reveal` takes them.
        """
        factors = [self.points[x].reveal(found, label=label, tier=tier).factor
                   for x, found in measured.items()]  # fmt: skip
        scored = [factor for factor in factors if factor]
        near = sum(factor <= 2 for factor in scored)
        return (f"Of your points {near} of {len(scored)} are within a factor of 2."
                if scored else "You drew no curve: move the handles before it is shown.")

    @property
    def svg(self) -> str:
        """The curve as far as it is drawn."""
        least, most = min(self.points), max(self.points)
        places = [(WIDE * (0.03 + 0.94 * math.log(x / least) / math.log(most / least)),
                   TALL * (0.95 - 0.9 * math.log(y / self.scale.low)
                           / math.log(self.scale.high / self.scale.low)))
                  for x, y in self.drawn.items()]  # fmt: skip
        marks = "".join(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5"/>' for x, y in places)
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in places)
        said = "; ".join(f"{x:,}: {self.scale.write(y)}" for x, y in self.drawn.items())
        return (f'<svg role="img" aria-label="Your curve: {escape(said or "nothing yet")}" '
                f'width="{WIDE}" height="{TALL}" style="max-width: 100%; border: 1px solid" '
                f'fill="currentColor" stroke="currentColor">{marks}'
                f'<polyline points="{line}" fill="none"/></svg>')

    @cached_property
    def widget(self) -> "VBox":
        """The question, a slider for each place, and the curve under them."""
        from ipywidgets import HTML

        from gpulessons.plots.panel import panel

        for x, each in self.points.items():
            each.slider.remove_class("gpulessons-question")
            each.slider.description, each.slider.readout = f"{x:,}", True
            each.slider.observe(lambda change: setattr(self.picture, "value", self.svg), "value")
        sliders = [each.slider for each in self.points.values()]
        return panel(HTML(f"<b>{escape(self.question)} ({self.scale})</b>"), *sliders, self.picture)

    @cached_property
    def picture(self) -> "HTML":
        from ipywidgets import HTML

        return HTML(self.svg)

    def __repr__(self) -> str:
        return f"Prediction: {self.question}? ({self.scale})"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return bundle(repr(self), f"<p>{escape(self)}</p>", self.widget)
