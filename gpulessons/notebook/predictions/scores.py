"""How good predictions are: how far off, and which way.

What was measured here and what was counted are scored apart. So are scales on which a factor means
something and those, as of shares in percent, on which a distance does.
"""

import math
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from ..controls.showing import escape, quantity
from .history import HOW, SCORED, History

if TYPE_CHECKING:
    from gpulessons.plots.picture import Picture

Pairs = tuple[tuple[float, float], ...]  # (guess, measured)
BOUNDS = (1.25, 2, 5, 10)
DISTANCES = (0.05, 0.1, 0.25)


@dataclass(frozen=True)
class Score:
    """How near guesses are to what was measured, by factors. All numbers are positive."""

    pairs: Pairs

    @property
    def factors(self) -> list[float]:
        """How many times each guess is off, either way: at least 1, the best first."""
        return sorted(max(guess / true, true / guess) for guess, true in self.pairs)

    def within(self, factor: float) -> int:
        """How many are off by this factor or less, either way."""
        return sum(each <= factor for each in self.factors)

    @property
    def bias(self) -> float:
        """The middle one of guess over measured: above 1 where more guesses are too high."""
        return math.exp(median(math.log(guess / true) for guess, true in self.pairs))

    def __repr__(self) -> str:
        high = sum(guess > true for guess, true in self.pairs)
        low = sum(guess < true for guess, true in self.pairs)
        within = ", ".join(f"{self.within(bound)} within {quantity(bound)}×" for bound in BOUNDS)
        return (f"{len(self.pairs)} guesses by a factor: half are within "
                f"{quantity(median(self.factors))}×; {within}. The middle one is "
                f"{quantity(self.bias)} times the answer; {high} are too high, {low} too low.")


@dataclass(frozen=True)
class Distances:
    """How near guesses are, as shares of the scale that they were made on."""

    pairs: Pairs

    def __repr__(self) -> str:
        apart = [abs(guess - true) for guess, true in self.pairs]
        within = ", ".join(
            f"{sum(each <= share + 1e-12 for each in apart)} within {100 * share:.0f} %"
            for share in DISTANCES
        )
        return (f"{len(apart)} on a linear scale: half are within "
                f"{quantity(100 * median(apart))} % of the scale; {within}.")


@dataclass(frozen=True)
class Calibration:
    """A learner's predictions, scored: {kind: Score} and {kind: Distances}, and all of them."""

    history: History
    scores: dict[str, Score]
    distances: dict[str, Distances]
    whose: str = ""  # where the guesses are not a learner's, and were not measured

    @property
    def title(self) -> str:
        """The message of the picture."""
        if not self.scores:
            return "No prediction by a factor yet." if self.distances else HOW
        return " ".join(
            f"{self.about(kind)}: {score.within(2)} of {len(score.pairs)} "
            f"prediction{'s' * (len(score.pairs) > 1)} within a factor of 2."
            for kind, score in self.scores.items()
        )

    @property
    def words(self) -> list[str]:
        """A sentence or two for each kind."""
        return [f"{self.about(kind)}: {score!r}" for group in (self.scores, self.distances)
                for kind, score in group.items()]

    def about(self, kind: str) -> str:
        """What a clause begins with: how the answers of this kind came about."""
        return self.whose or SCORED[kind].capitalize()

    def picture(self) -> "Picture":
        """Guess against answer, and how many are within which factor, as a `Picture`."""
        from gpulessons.plots.calibration import reliability

        return reliability(self)

    def __repr__(self) -> str:
        return "\n".join(self.words) or HOW

    def _repr_html_(self) -> str:
        if not self.words:
            return f"<p>{escape(HOW)}</p>"
        words = "".join(f"<p>{escape(line)}</p>" for line in self.words)
        return f"{self.picture()._repr_html_()}{words}"


def calibrated(history: History) -> Calibration:
    """Score a history: a kind that nothing was predicted of is not in it."""
    scores, distances = {}, {}
    for kind in SCORED:
        scored = [entry for entry in history.entries if entry.scored and entry.kind == kind]
        by_factor = tuple((e.guess, e.median) for e in scored if e.ratio and e.median)
        by_distance = tuple(e.places for e in scored if not e.ratio)
        if by_factor:
            scores[kind] = Score(by_factor)
        if by_distance:
            distances[kind] = Distances(by_distance)
    return Calibration(history, scores, distances)
