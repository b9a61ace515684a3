"""What became of a prediction: guess, measurement and model, in one sentence and one picture.

Where nothing was measured, a modelled value may stand in: said to be one, and never scored.
"""

import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .drawing import draw, rows
from .showing import Scale, escape, quantity

if TYPE_CHECKING:
    from gpulessons.plots.picture import Picture

Measured = float | tuple[float, float, float] | None  # a number, (low, median, high), or nothing


@dataclass(frozen=True)
class Reveal:
    """A prediction, a measurement and a model's estimate, and in words how far apart they are.

    Numbers are in the scale's unit. `measured` is kept as (low, median, high), or None;
    `assumptions` as (name, held, explanation), where `held` is None as long as nobody knows.
    """

    question: str
    scale: Scale
    prediction: float | None
    measured: Any
    model: float | None = None
    assumptions: tuple = ()
    label: str = "measured here"
    tier: str = "live"
    why: str = "no GPU"

    def __post_init__(self) -> None:
        kinds = "live, counted, recorded, published, modelled, bounded or emulated"
        if self.tier not in kinds.replace(" or", ",").split(", "):
            raise ValueError(f"A tier is {kinds}, not {self.tier!r}.")
        if self.tier != "live" and self.label == "measured here":
            raise ValueError(f"A {self.tier} value is not measured here: say where with label=….")
        if self.tier == "modelled" and not self.label.startswith("modelled for "):
            raise ValueError("A modelled value says for which GPU, as in "
                             f'label="modelled for A100", not {self.label!r}.')
        object.__setattr__(self, "measured", as_spread(self.measured))
        object.__setattr__(self, "assumptions", tuple(map(as_assumption, self.assumptions)))

    @property
    def median(self) -> float | None:
        return None if self.measured is None else self.measured[1]

    @property
    def factor(self) -> float | None:
        """How many times the prediction is off, at least 1; None where that means nothing."""
        if self.tier == "modelled":
            return None
        return times_apart(self.prediction, self.median)

    @property
    def score(self) -> str:
        """The prediction's error in words."""
        if self.prediction is None:
            return "no prediction was made"
        if self.measured is None:
            return "not scored, since nothing was measured"
        if self.tier == "modelled":
            return f"{self.label}, not measured: not scored"
        low, median, high = self.measured
        if low <= self.prediction <= high and low < high:
            return "inside the spread of the measurement"
        if self.scale.log and self.factor:
            return score_of(self.factor)
        percent = 100 * abs(self.prediction - median) / (self.scale.high - self.scale.low)
        bound = next((bound for bound in (5, 10, 25, 50) if percent <= bound), None)
        return f"within {bound} % of the scale" if bound else "off by more than half the scale"

    @property
    def sentence(self) -> str:
        """The message of the picture."""
        if self.prediction is None:
            return f"{self.found[0].upper()}{self.found[1:]}."
        gap = "" if self.measured is None else f": {self.gap(self.measured[1], self.prediction)}"
        return f"You said {self.scale.write(self.prediction)}; {self.found}{gap}."

    @property
    def found(self) -> str:
        """What was measured, or why nothing was, as a clause."""
        if self.measured is None:
            return f"not {self.label}: {self.why}"
        value = self.scale.write(self.measured[1])
        counted = "the count says" if self.label.startswith("counted") else f"{self.label} it is"
        here = {"live": f"this machine says {value}", "counted": f"{counted} {value}",
                "bounded": f"{self.label} {value}"}
        aside = ", not measured" * (self.tier == "modelled")
        return here.get(self.tier, f"{value} was {self.label}{aside}")

    @property
    def reason(self) -> str:
        """Whether the model explains the measurement, and if not, which assumption failed."""
        if self.model is None:
            return ""
        expects = f"The model expects {self.scale.write(self.model)}"
        if self.measured is None:
            provided = f", provided that {listed(self.assumptions)}" if self.assumptions else ""
            return f"{expects}{provided}."
        low, median, high = self.measured
        if self.tier == "modelled":  # of two models neither judges the other
            near = abs(self.model - median) <= 0.25 * abs(median)
            apart = "within 25 % of" if near else f"{self.gap(self.model, median)} than"
            return f"{expects}, {apart} what is {self.label}."
        if abs(self.model - median) <= 0.25 * abs(median):
            what = "count" if self.tier == "counted" else "measurement"
            return f"{expects}, within 25 % of the {what}.{self.canceled()}"
        if low <= self.model <= high:
            return f"{expects}, inside the spread of the measurement.{self.canceled()}"
        return f"{expects}, {self.gap(self.model, median)} than measured. {self.blame()}"

    def canceled(self) -> str:
        """What did not hold of a model that came near all the same."""
        failed = [each for each in self.assumptions if each[1] is False]
        return f" Yet this did not hold, and errors may cancel: {listed(failed)}." * bool(failed)

    def blame(self) -> str:
        failed = [each for each in self.assumptions if each[1] is False]
        unknown = [each for each in self.assumptions if each[1] is None]
        if failed:
            others = f" Not known: {listed(unknown)}." if unknown else ""
            return f"What did not hold: {listed(failed)}.{others}"
        if unknown:
            return f"At least one of its assumptions failed: {listed(unknown)}."
        if not self.assumptions:
            return "It names no assumption to blame."
        return "It leaves something out: every assumption that it names held."

    def gap(self, value: float, reference: float) -> str:
        """From `reference` to `value`: a factor on a log scale or of ratios, else a difference."""
        way = "more" if value > reference else "less"
        factor = times_apart(value, reference)
        if factor and (self.scale.log or self.scale.unit == "×"):
            times = quantity(float(f"{factor:.2g}"))
            return f"{times} times {way}" if factor >= 1.1 else "the same within 10 %"
        unit = "points" if self.scale.unit == "%" else self.scale.unit
        return f"{quantity(abs(value - reference), unit)} {way}"

    @property
    def caption(self) -> str:
        """What stands under the picture: the score, and the model's part."""
        score = f"Your prediction: {self.score}."
        if self.prediction is None:
            how = "Move its slider, then run this cell" if self.measured is None else \
                "One counts only before its answer is shown"
            score = f"You made no prediction. {how}."
        return f"{score} {self.reason}".strip()

    @property
    def alt(self) -> str:
        """The picture in words, its message first."""
        marks = "; ".join(f"{name}: {words}" for name, _, words, _ in rows(self))
        return f"{self.sentence} {marks}. Axis: {self.question} ({self.scale})."

    def picture(self) -> "Picture":
        """The three of them on one axis, as a `Picture`."""
        from gpulessons.plots.picture import Picture

        return Picture(draw(self), self.alt)

    def __repr__(self) -> str:
        return f"{self.question} {self.sentence} {self.caption}"

    def _repr_html_(self) -> str:
        if self.prediction is None:  # nothing to compare: the answer needs no picture
            answer = f"<strong>{escape(self.question)}</strong> {escape(self.sentence)}"
            return f"<p>{answer}<br>{escape(self.caption)}</p>"
        return (f'<figure style="margin: 0">{self.picture()._repr_html_()}'
                f"<figcaption>{escape(self.caption)}</figcaption></figure>")


def as_spread(measured: Any) -> tuple[float, float, float] | None:
    """(low, median, high) of a number or of such a tuple, or None."""
    if measured is None:
        return None
    low, median, high = (measured,) * 3 if isinstance(measured, numbers.Real) else measured
    if not low <= median <= high:
        raise ValueError(f"A measurement is a number or (low, median, high), not {measured}.")
    return float(low), float(median), float(high)


def as_assumption(given: tuple) -> tuple[str, bool | None, str]:
    """(name, held, explanation) of (name, explanation) or of itself."""
    name, *held, explanation = given
    return name, held[0] if held else None, explanation.rstrip(".")


def listed(assumptions: Iterable[tuple]) -> str:
    return "; ".join(f"{name} ({explanation})" for name, _, explanation in assumptions)


def times_apart(one: float | None, other: float | None) -> float | None:
    if one is None or other is None or min(one, other) <= 0:
        return None
    return max(one, other) / min(one, other)


def score_of(factor: float) -> str:
    bounds = {1.25: "within 25 %", 2: "within 2×", 10: "off by 2×–10×", 100: "off by 10×–100×"}
    return next((words for bound, words in bounds.items() if factor <= bound),
                "off by more than 100×")
