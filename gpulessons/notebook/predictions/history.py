"""The learner's predictions as a table: what was said, what was found, and whether it counts.

A guess is a prediction if it was made before the question showed its first answer. A later guess
is none: its maker has seen the answer, and may be forgiven for being right.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass

from ..controls.kept import Event
from ..controls.reveals import times_apart
from ..controls.showing import Scale, escape, quantity

# What is scored, each by itself, and what it is called. Another machine's numbers are not yours.
SCORED = {"live": "measured here", "counted": "counted"}
HOW = ("No predictions yet: move the slider of a question before its answer is shown, then run "
       "the cell that reveals it.")  # fmt: skip
FIELDS = ("number", "question", "guess", "measured", "scale_low", "scale_high", "unit", "kind",
          "scored", "off", "when")  # fmt: skip


@dataclass(frozen=True)
class Entry:
    """A question, a guess, and the first answer that was shown. Numbers in the scale's unit."""

    number: int
    question: str
    scale: Scale
    guess: float
    when: str  # the guess, or the answer that it stood before
    measured: tuple[float, float, float] | None = None  # (low, median, high)
    kind: str = ""
    late: bool = False  # guessed after the answer

    @property
    def median(self) -> float | None:
        return None if self.measured is None else self.measured[1]

    @property
    def scored(self) -> bool:
        return not self.unscored

    @property
    def unscored(self) -> str:
        """Why it is not scored; empty if it is."""
        if self.measured is None:
            return "no answer yet"
        if self.kind not in SCORED:
            return f"{self.kind}, not scored"
        if self.late:
            return f"{SCORED[self.kind]}; guessed after the answer, not scored"
        if self.ratio and self.factor is None:
            return f"{SCORED[self.kind]}; zero has no factor, not scored"
        return ""

    @property
    def ratio(self) -> bool:
        """Whether being off by a factor means something: on a log scale, or for how many times."""
        return self.scale.log or self.scale.unit == "×"

    @property
    def factor(self) -> float | None:
        return times_apart(self.guess, self.median)

    @property
    def places(self) -> tuple[float, float]:
        """(guess, measured) as shares of the scale."""
        low, length = self.scale.low, self.scale.high - self.scale.low
        return (self.guess - low) / length, ((self.median or 0) - low) / length

    @property
    def off(self) -> str:
        """How far the guess is off, in words; empty for what is no prediction."""
        if self.median is None or self.late or (self.ratio and not self.factor):
            return ""
        if self.guess == self.median:
            return "exact"
        way = "too high" if self.guess > self.median else "too low"
        if self.factor and self.ratio:
            return f"{quantity(self.factor)}× {way}"
        guess, found = self.places
        return f"{quantity(100 * abs(guess - found))} % of the scale {way}"

    @property
    def status(self) -> str:
        """Of which kind the answer is, and why it is not scored."""
        return self.unscored or SCORED[self.kind]

    @property
    def row(self) -> list[str]:
        guess = self.scale.write(self.guess)
        found = "" if self.median is None else self.scale.write(self.median)
        about = [str(self.number), self.question, guess, found]
        return [*about, self.status, self.off, self.when[:10]]


@dataclass(frozen=True)
class History:
    """The predictions that a learner made, oldest first; `unasked` answers had no guess before."""

    entries: tuple[Entry, ...]
    unasked: int = 0

    def table(self) -> Iterator[list[str]]:
        """Head and rows of plain strings."""
        yield ["", "question", "your guess", "answer", "kind", "off by", "day"]
        yield from (entry.row for entry in self.entries)

    @property
    def note(self) -> str:
        """What stands under the table."""
        scored = sum(entry.scored for entry in self.entries)
        rule = f"Scored: {scored} of {len(self.entries)}. The guess counts that stood when the " \
               "first answer was shown."  # fmt: skip
        return f"{rule if self.entries else HOW}{self.others}"

    @property
    def others(self) -> str:
        return f" Answers shown with no guess at all: {self.unasked}." * bool(self.unasked)

    def to_csv(self) -> str:
        """One row for each prediction, its numbers in full."""
        text = io.StringIO()
        writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.plain())
        return text.getvalue()

    def to_json(self) -> str:
        return json.dumps(list(self.plain()), ensure_ascii=False, indent=1) + "\n"

    def plain(self) -> Iterator[dict]:
        """Each prediction as plain values; `measured` is the median."""
        for entry in self.entries:
            low, high, unit = astuple(entry.scale)
            values = {**vars(entry), "scale_low": low, "scale_high": high, "unit": unit,
                      "measured": entry.median, "scored": entry.scored, "off": entry.off}
            yield {name: values[name] for name in FIELDS}

    def __len__(self) -> int:
        return len(self.entries)

    def __repr__(self) -> str:
        if not self.entries:
            return self.note
        from warplens.tables import aligned

        return "\n".join([*aligned(self.table()), self.note])

    def _repr_html_(self) -> str:
        if not self.entries:
            return f"<p>{escape(self.note)}</p>"
        from warplens.tables import html_table

        head, *rows = self.table()
        return f"{html_table('Your predictions', head, rows, named=1)}<p>{escape(self.note)}</p>"


def history_of(events: Iterable[Event]) -> History:
    """What events amount to: an entry for each question that a guess was made at."""
    asked: dict[str, list[Event]] = {}
    for event in events:
        asked.setdefault(event.key, []).append(event)
    entries: list[Entry] = []
    unasked = 0
    for about in asked.values():
        entry = entry_of(len(entries) + 1, about)
        if entry:
            entries.append(entry)
        unasked += entry is None
    return History(tuple(entries), unasked)


def entry_of(number: int, events: list[Event]) -> Entry | None:
    """The entry of one question's events; None where nobody made a guess."""
    answer = next((event for event in events if event.measured), None)
    guesses = [event for event in events if event.guess is not None]
    if answer and answer.guess is not None:
        made = answer
    elif guesses:
        made = guesses[-1]
    else:
        return None
    found = (answer.measured, answer.tier, made is not answer) if answer else ()
    return Entry(number, made.question, made.scale, made.guess or 0.0, made.when, *found)
