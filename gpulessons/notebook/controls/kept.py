"""The learner's predictions in one small file of their own, which outlives the kernel.

A line is one event as JSON: a guess, or the first answer that a question showed with the guess that
stood then. Lines are only ever added, each by a single call, so that two notebooks lose none.
"""

import json
import os
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .showing import Scale

NAME = "GPULESSONS_PREDICTIONS"  # in the environment: another file, or os.devnull for none

unsaved: list["Event"] = []  # what could not be written: only this kernel has it


@dataclass(frozen=True)
class Event:
    """A guess; or, where something was `measured`, the answer and the guess that stood then."""

    when: str  # UTC, ISO 8601
    key: str
    question: str
    guess: float | None
    low: float  # of the scale
    high: float
    unit: str
    measured: tuple[float, float, float] | None = None  # (low, median, high)
    tier: str = ""
    label: str = ""
    version: int = 1

    @property
    def scale(self) -> Scale:
        return Scale(self.low, self.high, self.unit)

    @property
    def median(self) -> float | None:
        return self.measured[1] if self.measured else None


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def where() -> Path:
    """The file of predictions."""
    from platformdirs import user_data_path

    mine = user_data_path("gpulessons", appauthor=False, roaming=True) / "predictions.jsonl"
    return Path(os.environ.get(NAME) or mine).expanduser()


def append(event: Event) -> None:
    """Add a line to the file, after what could not be written before."""
    unsaved.append(event)
    lines = "".join(json.dumps(vars(each), ensure_ascii=False) + "\n" for each in unsaved)
    try:
        where().parent.mkdir(parents=True, exist_ok=True)
        with open(where(), "ab", buffering=0) as file:
            file.write(lines.encode())
        unsaved.clear()
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        pass  # a slider's moves have no output that anybody sees; `answer` says it


def answer(event: Event) -> None:
    """Add the answer to a question, if it is the first that was shown."""
    if not any(each.measured for each in events() if each.key == event.key):
        append(event)
    if unsaved:
        warnings.warn(
            f"Predictions cannot be written: only this kernel remembers them. {NAME}=FILE in the "
            "environment names another place.",
            stacklevel=2,
        )


def events() -> list[Event]:
    """All that was kept, in the order of writing; a line that is none is skipped, and said."""
    try:
        lines = where().read_bytes().splitlines()
    except FileNotFoundError:
        return [*unsaved]
    except (OSError, RuntimeError) as trouble:
        warnings.warn(f"Your predictions cannot be read: {trouble}.", stacklevel=2)
        return [*unsaved]
    found = [event for line in lines if (event := event_of(line))]
    if skipped := len(lines) - len(found):
        warnings.warn(f"{where()}: {skipped} of its lines cannot be read.", stacklevel=2)
    return [*found, *unsaved]


def event_of(line: bytes) -> Event | None:
    try:
        return Event(**json.loads(line))
    except (ValueError, TypeError):
        return None


def last_guess(key: str) -> float | None:
    """The last guess that was kept for a question."""
    guesses = [event.guess for event in events() if event.key == key and event.guess is not None]
    return guesses[-1] if guesses else None
