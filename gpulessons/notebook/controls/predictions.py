"""A guess made before the measurement: a question, a slider, and what the learner said."""

import math
import numbers
from collections.abc import Hashable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import kept
from .reveals import Measured, Reveal
from .showing import Scale, bundle, escape

if TYPE_CHECKING:
    from ipywidgets import HTML, SelectionSlider, VBox

# A cell that runs again, as under Run All, must not forget the learner's guess. What another
# kernel heard is in the file of `kept`.
remembered: dict[Hashable, float] = {}


def predict(
    question: str, low: float, high: float, unit: str = "×", *, key: Hashable = None,
) -> "Prediction":
    """Ask for a guess between `low` and `high`, with a slider: the Prediction shows itself.

    The scale is logarithmic where it spans a factor of 100 or more. `key` names the guess for a
    cell that runs again; without one the question does. A text as key outlives the kernel
    (`gpulessons.predictions` says where it is kept). Raises ValueError for a scale without extent.
    """
    return Prediction(question, Scale(low, high, unit), key or question)


class Prediction:
    """A question, a slider, and the learner's guess: `value` is None until the slider moves."""

    def __init__(self, question: str, scale: Scale, key: Hashable):
        self.question, self.scale, self.key = question, scale, key

    @property
    def value(self) -> float | None:
        guess = remembered.get(self.key)
        if guess is None and isinstance(self.key, str):
            guess = kept.last_guess(self.key)
        return guess if guess is not None and self.scale.low <= guess <= self.scale.high else None

    def set(self, value: float) -> None:
        """Make the guess without the slider. Raises ValueError for a value off the scale."""
        if not isinstance(value, numbers.Real) or not self.scale.low <= value <= self.scale.high:
            raise ValueError(f"{value} is off the scale: choose a number from "
                             f"{self.scale.write(self.scale.low)} to "
                             f"{self.scale.write(self.scale.high)}.")
        if "widget" in vars(self):
            self.slider.value = self.scale.nearest(value)
        self.keep(float(value))

    def reveal(
        self, measured: Measured, model: float | None = None, assumptions: tuple = (),
        label: str = "measured here", *, tier: str = "live", why: str = "no GPU",
    ) -> Reveal:
        """Compare the guess with what was measured and what a model expects, in one picture.

        `measured` is a number, a (low, median, high) tuple, or None where `why` says what is
        missing. `assumptions` are the model's: (name, explanation), or (name, held, explanation)
        once it is known whether each held. A value that was not measured here says so: `tier` is
        "recorded" or "published", and `label` tells where ("recorded on an H200, 2026-11-20"); a
        count from the microscope is "counted"; what a GPU that is not here would need is "modelled"
        ("modelled for A100"), and no guess is scored by it.
        """
        shown = Reveal(self.question, self.scale, self.value, measured, model, assumptions,
                       label, tier, why)
        if isinstance(self.key, str) and shown.measured and all(map(math.isfinite, shown.measured)):
            answer = {"measured": shown.measured, "tier": tier, "label": label}
            kept.answer(self.event(self.key, shown.prediction, **answer))
        return shown

    def keep(self, value: float) -> None:
        remembered[self.key] = value
        if isinstance(self.key, str):
            kept.append(self.event(self.key, value))
        if "widget" in vars(self):
            self.status.value = self.words()

    def event(self, key: str, guess: float | None, **answer: Any) -> kept.Event:
        """What is kept of a guess, or of an answer: its spread, its tier, its label."""
        return kept.Event(kept.now(), key, self.question, guess, **vars(self.scale), **answer)

    def words(self) -> str:
        made = "not yet moved" if self.value is None else f"<b>{self.scale.write(self.value)}</b>"
        return f'<span role="status">Your prediction: {made}</span>'

    @cached_property
    def widget(self) -> "VBox":
        """The slider under the question and over the guess in words."""
        from gpulessons.plots.panel import panel
        return panel(self.slider, self.status)

    @cached_property
    def slider(self) -> "SelectionSlider":
        """From stop to stop, since a page sends back a value that lies between two."""
        from ipywidgets import SelectionSlider

        start = self.scale.middle if self.value is None else self.scale.nearest(self.value)
        slider = SelectionSlider(
            options=[(self.scale.write(stop), stop) for stop in self.scale.stops], value=start,
            description=f"{self.question} ({self.scale})", readout=False)
        slider.add_class("gpulessons-question")
        slider.observe(lambda change: self.keep(change["new"]), "value")
        return slider

    @cached_property
    def status(self) -> "HTML":
        from ipywidgets import HTML

        return HTML(self.words())

    def __repr__(self) -> str:
        guess = "" if self.value is None else f" You said {self.scale.write(self.value)}."
        return f"Prediction: {self.question} ({self.scale}){guess}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return bundle(repr(self), f"<p>{escape(self)}</p>", self.widget)
