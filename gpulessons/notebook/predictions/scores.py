"""How good predictions are: how far off, which way, and whether their maker knows how far.

What was measured here and what was counted are scored apart. So are scales on which a factor means
something and those, as of shares in percent, on which a distance does.
"""

import math
from collections.abc import Iterable
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
FEW = 6  # five flips of a fair coin that agree are no evidence at 5 %


@dataclass(frozen=True)
class Score:
    """How near guesses are to what was measured, by factors. All numbers are positive."""

    pairs: Pairs

    @property
    def factors(self) -> list[float]:
        """How many times each guess is off, either way: at least 1, the best first."""
        return sorted(max(guess / true, true / guess) for guess, true in self.pairs)

    @property
    def median_factor(self) -> float:
        return median(self.factors)

    def within(self, factor: float) -> int:
        """How many are off by this factor or less, either way."""
        return sum(each <= factor for each in self.factors)

    def needed(self, share: float) -> float:
        """The factor within which this share of them is."""
        return self.factors[max(0, math.ceil(share * len(self.pairs) - 1e-9) - 1)]

    @property
    def bias(self) -> float:
        """The middle one of guess over measured: above 1 where more guesses are too high."""
        return math.exp(median(math.log(guess / true) for guess, true in self.pairs))

    @property
    def high(self) -> int:
        return sum(guess > true for guess, true in self.pairs)

    @property
    def low(self) -> int:
        return sum(guess < true for guess, true in self.pairs)

    @property
    def chance(self) -> float:
        """How often a fair coin is at least as one-sided as too high against too low."""
        return one_sided(max(self.high, self.low), self.high + self.low)

    @property
    def lean(self) -> str:
        """Which way the guesses lean, in words: sure where a fair coin seldom does the same."""
        if len(self.pairs) < FEW:
            return f"fewer than {FEW} say nothing about a lean"
        if self.chance > 0.05:
            return "no lean to either side is certain"
        return f"you tend to guess too {'high' if self.high > self.low else 'low'}"

    def coverage(self, factor: float, said: float = 0.8) -> "Coverage":
        """What becomes of “I am within this factor in so many of my cases”."""
        return Coverage(self.within(factor), len(self.pairs), factor, said, self.needed(said))

    def __repr__(self) -> str:
        n = len(self.pairs)
        within = ", ".join(f"{self.within(bound)} within {quantity(bound)}×" for bound in BOUNDS)
        text = f"{n} guesses by a factor: half are within {quantity(self.median_factor)}×; {within}"
        if n < FEW:
            return f"{text}; {self.lean}."
        chance = f"{100 * self.chance:.0f} %" if self.chance >= 0.01 else "less than 1 %"
        so = "that may be chance, and" if self.chance > 0.05 else "that is hardly chance:"
        return (f"{text}. The middle one is {quantity(self.bias)} times the answer; {self.high} "
                f"are too high, {self.low} too low. As many flips of a fair coin are at least so "
                f"one-sided in {chance} of cases: {so} {self.lean}.")  # fmt: skip


def one_sided(most: int, n: int) -> float:
    """How often n flips of a fair coin show one side so many times or more: a sign test."""
    if not n:
        return 1.0
    return min(1.0, 2 * sum(math.comb(n, k) for k in range(most, n + 1)) / 2**n)


@dataclass(frozen=True)
class Coverage:
    """A claim about oneself, “within a factor, so often”, and what came of it."""

    inside: int
    n: int
    factor: float
    said: float  # share
    needed: float  # the factor that would have made it true

    @property
    def at_most(self) -> float:
        """How often at most so many are inside, if what was said is so."""
        return binomial(range(self.inside + 1), self.n, self.said)

    @property
    def at_least(self) -> float:
        return binomial(range(self.inside, self.n + 1), self.n, self.said)

    @property
    def verdict(self) -> str:
        if self.n < FEW:
            return "too few to tell"
        if self.at_most <= 0.05:
            return "you were too sure of yourself"
        if self.at_least <= 0.05:
            return "you know more than you said"
        return "that agrees, as far as so few can tell" if self.n < 20 else "that agrees"

    def __repr__(self) -> str:
        inside, said = self.inside / self.n, f"{100 * self.said:.0f} %"
        return (f"Within {quantity(self.factor)}×: {self.inside} of {self.n} ({100 * inside:.0f} "
                f"%), where {said} was said: {self.verdict}. {said} of yours are within "
                f"{quantity(self.needed)}×.")  # fmt: skip


def binomial(counts: Iterable[int], n: int, p: float) -> float:
    return sum(math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in counts)


@dataclass(frozen=True)
class Distances:
    """How near guesses are, as shares of the scale that they were made on."""

    pairs: Pairs

    @property
    def distances(self) -> list[float]:
        return sorted(abs(guess - true) for guess, true in self.pairs)

    @property
    def median(self) -> float:
        return median(self.distances)

    def within(self, share: float) -> int:
        return sum(each <= share + 1e-12 for each in self.distances)

    def __repr__(self) -> str:
        within = ", ".join(f"{self.within(each)} within {100 * each:.0f} %" for each in DISTANCES)
        return (f"{len(self.pairs)} on a linear scale: half are within "
                f"{quantity(100 * self.median)} % of the scale; {within}.")  # fmt: skip


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
        clauses = []
        for kind, score in self.scores.items():
            n = len(score.pairs)
            lean = f"; {score.lean}" if n >= FEW else ""
            clauses.append(f"{self.about(kind)}: {score.within(2)} of {n} prediction"
                           f"{'s' * (n > 1)} within a factor of 2{lean}.")  # fmt: skip
        return " ".join(clauses)

    @property
    def words(self) -> list[str]:
        """A sentence or two for each kind."""
        both = (self.scores, self.distances)
        return [f"{self.about(kind)}: {score!r}" for group in both
                for kind, score in group.items()]  # fmt: skip

    def about(self, kind: str) -> str:
        """What a clause begins with: how the answers of this kind came about."""
        return self.whose or SCORED[kind].capitalize()

    def coverage(self, factor: float, said: float = 0.8) -> str:
        """“I am within this factor of the answer in so many of my cases”: is it so?

        said: a share, such as 0.8. Raises ValueError for a factor below 1 and no share.
        """
        if not factor >= 1 or not 0 < said < 1:
            raise ValueError(f"A factor is at least 1 and a share between 0 and 1, not {factor} "
                             f"and {said}.")  # fmt: skip
        lines = [f"{SCORED[kind].capitalize()}. {score.coverage(factor, said)!r}"
                 for kind, score in self.scores.items()]  # fmt: skip
        return "\n".join(lines) or HOW

    def picture(self) -> "Picture":
        """Guess against answer, and how many are within which factor, as a `Picture`."""
        from gpulessons.plots.calibration import reliability

        return reliability(self)

    def __repr__(self) -> str:
        return "\n".join(self.words) or HOW

    def _repr_html_(self) -> str:
        if not self.words:
            return f"<p>{escape(HOW)}</p>"
        said = "".join(f"<p>{escape(words)}</p>" for words in self.words)
        return f"{self.picture()._repr_html_()}{said}"


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
