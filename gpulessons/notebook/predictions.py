"""What you predicted in the course, and how near you were.

    from gpulessons import predictions
    predictions.kept()          # every question you answered, in a table
    predictions.calibration()   # how far off you are, and which way, in a picture
    predictions.clear()

All of it is in one small file on this machine, at `predictions.where()`. Nothing leaves it.

A guess is a prediction if it was made before the question showed its first answer: who guesses
later has seen it.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from .controls import kept as file
from .controls.predictions import remembered
from .controls.reveals import times_apart
from .controls.showing import Scale, escape, quantity

if TYPE_CHECKING:
    from gpulessons.plots.picture import Picture

# What is scored, each by itself, and what it is called. Another machine's numbers are not yours.
SCORED = {"live": "measured here", "counted": "counted"}
HOW = ("No predictions yet: move the slider of a question before its answer is shown, then run "
       "the cell that reveals it.")  # fmt: skip
HEAD = ["", "question", "your guess", "answer", "kind", "off by", "day"]


def kept() -> "History":
    """Every question that you made a guess at, oldest first: a History, which shows a table."""
    return history_of(file.events())


def calibration() -> "Calibration":
    """How near your predictions were, each kind by itself: the Calibration shows itself."""
    return Calibration(kept())


def where() -> Path | None:
    """The file; None where the environment wants none."""
    path = file.where()
    return None if str(path) == os.devnull else path


def clear() -> str:
    """Delete the file, and what this kernel remembers; says what is gone.

    Other kernels that run remember their own guesses until they stop.
    """
    count, path = len({event.key for event in file.events()}), where()
    try:
        if path:
            path.unlink(missing_ok=True)
    except OSError as trouble:
        return f"{path} could not be deleted: {trouble.strerror}."
    file.unsaved.clear()
    remembered.clear()
    return f"Deleted: {count} question{'s' * (count != 1)}{f', and {path}' if path else ''}."


# -- The table.


@dataclass(frozen=True)
class Entry:
    """A question, a guess, and the first answer that was shown. Numbers in the scale's unit."""

    number: int
    question: str
    scale: Scale
    guess: float
    when: str  # the guess, or the answer that it stood before
    median: float | None = None  # of what was measured
    kind: str = ""
    late: bool = False  # guessed after the answer

    @property
    def ratio(self) -> bool:
        """Whether being off by a factor means something: on a log scale, or for how many times."""
        return self.scale.log or self.scale.unit == "×"

    @property
    def factor(self) -> float | None:
        return times_apart(self.guess, self.median)

    @property
    def distance(self) -> float:
        """Between guess and answer, as a share of the scale."""
        return abs(self.guess - (self.median or 0)) / (self.scale.high - self.scale.low)

    @property
    def scored(self) -> bool:
        return self.status in SCORED.values()

    @property
    def status(self) -> str:
        """Of which kind the answer is, and why it is not scored."""
        if self.median is None:
            return "no answer yet"
        if self.kind not in SCORED:
            return f"{self.kind}, not scored"
        if self.late:
            return f"{SCORED[self.kind]}; guessed after the answer, not scored"
        if self.ratio and self.factor is None:
            return f"{SCORED[self.kind]}; zero has no factor, not scored"
        return SCORED[self.kind]

    @property
    def off(self) -> str:
        """How far the guess is off, in words; empty for what is no prediction."""
        if self.median is None or self.late or (self.ratio and not self.factor):
            return ""
        if self.guess == self.median:
            return "exact"
        gap = f"{quantity(100 * self.distance)} % of the scale"
        if self.factor and self.ratio:
            gap = f"{quantity(self.factor)}×"
        return f"{gap} too {'high' if self.guess > self.median else 'low'}"

    @property
    def row(self) -> list[str]:
        guess = self.scale.write(self.guess)
        found = "" if self.median is None else self.scale.write(self.median)
        about = [str(self.number), self.question, guess, found]
        return [*about, self.status, self.off, self.when[:10]]


@dataclass(frozen=True)
class History:
    """The predictions that a learner made, oldest first."""

    entries: tuple[Entry, ...]

    @property
    def note(self) -> str:
        """What stands under the table."""
        scored = sum(entry.scored for entry in self.entries)
        return (f"Scored: {scored} of {len(self)}. The guess counts that stood when the first "
                "answer was shown.")  # fmt: skip

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        from warplens.tables import aligned

        rows = [entry.row for entry in self.entries]
        return "\n".join([*aligned([HEAD, *rows]), self.note]) if rows else HOW

    def _repr_html_(self) -> str:
        from warplens.tables import html_table

        rows = [entry.row for entry in self.entries]
        table = html_table("Your predictions", HEAD, rows, named=1)
        return f"{table}<p>{escape(self.note)}</p>" if rows else f"<p>{escape(HOW)}</p>"


def history_of(events: Iterable[file.Event]) -> History:
    """What events amount to: an entry for each question that a guess was made at."""
    asked: dict[str, list[file.Event]] = {}
    for event in events:
        asked.setdefault(event.key, []).append(event)
    entries: list[Entry] = []
    for about in asked.values():
        answer = next((event for event in about if event.measured), None)
        guesses = [event for event in about if event.guess is not None]
        if guesses:
            made = answer if answer in guesses else guesses[-1]
            found = (answer.median, answer.tier, made is not answer) if answer else ()
            entries.append(Entry(len(entries) + 1, made.question, made.scale, made.guess or 0.0,
                                 made.when, *found))  # fmt: skip
    return History(tuple(entries))


# -- The score.


@dataclass(frozen=True)
class Score:
    """How near the guesses of one kind are to the answers.

    On a scale on which a factor means something a guess has its ratio to the answer, a positive
    number; on another its distance from it, as a share of the scale.
    """

    ratios: tuple[float, ...]
    distances: tuple[float, ...]

    @property
    def factors(self) -> list[float]:
        """How many times each guess is off, either way: at least 1, the best first."""
        return sorted(max(ratio, 1 / ratio) for ratio in self.ratios)

    def within(self, factor: float) -> int:
        """How many are off by this factor or less, either way."""
        return sum(each <= factor for each in self.factors)

    def __repr__(self) -> str:
        words = []
        if self.ratios:
            high, low = (sum(r > 1 for r in self.ratios), sum(r < 1 for r in self.ratios))
            words.append(f"{len(self.ratios)} by a factor: half are within "
                         f"{quantity(median(self.factors))}×; {high} too high, {low} too low.")
        if self.distances:
            words.append(f"{len(self.distances)} on a linear scale: half are within "
                         f"{quantity(100 * median(self.distances))} % of the scale.")
        return " ".join(words)


@dataclass(frozen=True)
class Calibration:
    """A learner's predictions, scored."""

    history: History

    @property
    def scores(self) -> dict[str, Score]:
        """{kind: its Score}: a kind that nothing was predicted of is not in it."""
        found = {}
        for kind in SCORED:
            scored = [e for e in self.history.entries if e.scored and e.kind == kind]
            ratios = tuple(e.guess / e.median for e in scored if e.ratio and e.median)
            if scored:
                found[kind] = Score(ratios, tuple(e.distance for e in scored if not e.ratio))
        return found

    @property
    def title(self) -> str:
        """The message of the picture."""
        return " ".join(
            f"{SCORED[kind].capitalize()}: {score.within(2)} of {len(score.ratios)} predictions "
            "within a factor of 2."
            for kind, score in self.scores.items() if score.ratios
        ) or "No prediction by a factor yet."  # fmt: skip

    @property
    def words(self) -> list[str]:
        """A line for each kind."""
        return [f"{SCORED[kind].capitalize()}: {score!r}" for kind, score in self.scores.items()]

    def picture(self) -> "Picture":
        """Guess against answer, and how many are within which factor, as a `Picture`."""
        from gpulessons.plots.calibration import reliability

        return reliability(self)

    def __repr__(self) -> str:
        return "\n".join(self.words) or HOW

    def _repr_html_(self) -> str:
        words = "".join(f"<p>{escape(line)}</p>" for line in self.words or [HOW])
        return f"{self.picture()._repr_html_()}{words}" if self.words else words
