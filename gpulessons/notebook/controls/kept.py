"""The learner's predictions in one small file of their own, which outlives the kernel.

A line is one event as a JSON object: a guess, or the first answer that a question showed, with the
guess that stood then. A line is added by a single call that appends, and none is ever changed, so
that two notebooks lose none of their lines and a reader needs no lock. A line that is no event is
passed over. Where the file cannot be written, this kernel remembers.
"""

import json
import math
import os
import sys
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from .showing import Scale

NAME = "GPULESSONS_PREDICTIONS"  # in the environment: another file, or os.devnull for none
VERSION = 1  # of a line
REST = 0.5  # seconds after which a slider that was dragged counts as at rest

lock = threading.RLock()
moving: dict[str, "Event"] = {}  # guesses whose sliders may still be moving
unsaved: list["Event"] = []  # what only this kernel has
answered: set[str] = set()  # questions whose answer this kernel has shown
unsaid: list[str] = []  # why the file cannot be used
said: set[str] = set()


@dataclass(frozen=True)
class Event:
    """A guess; or, where something was `measured`, the answer and the guess that stood then."""

    when: str  # UTC, ISO 8601
    key: str
    question: str
    scale: Scale
    guess: float | None
    measured: tuple[float, float, float] | None = None  # (low, median, high)
    tier: str = ""
    label: str = ""

    @property
    def line(self) -> bytes:
        fields = {"version": VERSION, **vars(self), **vars(self.scale)}
        del fields["scale"]
        if self.measured is None:
            fields = {k: v for k, v in fields.items() if k not in ("measured", "tier", "label")}
        return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def event_of(line: bytes) -> Event | None:
    """The event of a line; None where it is none of this version."""
    try:
        fields = json.loads(line)
        if fields["version"] != VERSION:
            return None
        scale = Scale(float(fields["low"]), float(fields["high"]), str(fields["unit"]))
        guess = None if fields["guess"] is None else float(fields["guess"])
        about = str(fields["when"]), str(fields["key"]), str(fields["question"]), scale, guess
        if fields.get("measured") is None:
            return Event(*about) if guess is not None and math.isfinite(guess) else None
        low, median, high = map(float, fields["measured"])
        return Event(*about, (low, median, high), str(fields["tier"]), str(fields["label"]))
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def now() -> str:
    """The moment, written so that sorted texts are sorted in time."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def where() -> Path | None:
    """The file of predictions; None where the machine has no home for it."""
    try:
        if named := os.environ.get(NAME):
            return Path(named).expanduser()
        return data_folder() / "gpulessons" / "predictions.jsonl"
    except RuntimeError:
        return None


def data_folder() -> Path:
    """Where programs keep what is the user's own. Raises RuntimeError for a user without a home."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    named = os.environ.get("XDG_DATA_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".local" / "share"


# Writing


def note(event: Event) -> None:
    """Keep a guess as soon as its slider rests: a slider that is dragged makes one line, not 30."""
    with lock:
        moving[event.key] = event
    threading.Timer(REST, rested, [event]).start()  # a kernel that stops waits for it


def rested(event: Event) -> None:
    """Keep what moves, unless this guess has changed meanwhile."""
    if moving.get(event.key) is event:
        flush()


def flush() -> None:
    """Keep the guesses whose sliders may still be moving."""
    with lock:
        events = list(moving.values())
        moving.clear()
        append(events)


def answer(event: Event) -> None:
    """Keep the answer to a question, if it is the first that was shown."""
    flush()
    known = answered | {each.key for each in events() if each.measured}
    answered.add(event.key)
    if event.key not in known:
        append([event])


def append(events: list[Event]) -> None:
    """Add lines to the file, with what could not be written before; else this kernel keeps them."""
    with lock:
        unsaved.extend(events)
        path = where()
        if not events or str(path) == os.devnull:
            return
        try:
            if path is None:
                raise OSError(0, "this user has no home folder")
            path.parent.mkdir(parents=True, exist_ok=True)
            begin = b"\n" if torn(path) else b""  # half a line must not swallow the next
            with open(path, "ab", buffering=0) as file:
                file.write(begin + b"".join(event.line for event in unsaved))
            unsaved.clear()
        except OSError as error:
            say(f"Predictions cannot be written to {path or 'a file'} ({error.strerror}): only "
                f"this kernel remembers them. {NAME}=FILE in the environment names another place.")


def torn(path: Path) -> bool:
    """Whether the file ends in half a line."""
    return path.is_file() and path.stat().st_size > 0 and not path.read_bytes().endswith(b"\n")


# Reading


def events() -> list[Event]:
    """All that is kept, in the order of writing, each once, with what only this kernel has."""
    with lock:
        path, lines = where(), []
        try:
            lines = path.read_bytes().split(b"\n") if path and path.is_file() else []
        except OSError as error:
            say(f"The predictions in {path} cannot be read ({error.strerror}).")
        found = [event for line in lines if line.strip() and (event := event_of(line))]
        return list(dict.fromkeys([*found, *unsaved, *moving.values()]))


def last_guess(key: str) -> float | None:
    """The last guess that was kept for a question."""
    guesses = [event.guess for event in events() if event.key == key and event.guess is not None]
    return guesses[-1] if guesses else None


def forget() -> int:
    """Delete the file, and what this kernel remembers; returns how many questions it was about."""
    with lock:
        path, questions = where(), {event.key for event in events()}
        if path and path.is_file():  # never a device
            path.unlink()
        for remembered in (moving, unsaved, answered):
            remembered.clear()
    return len(questions)


def say(sentence: str) -> None:
    """Have a sentence said once, by the next cell that shows something."""
    if sentence not in said:
        said.add(sentence)
        unsaid.append(sentence)


def tell() -> None:
    """Print what has to be said. A slider's own moves have no output that anybody sees."""
    while unsaid:
        print(unsaid.pop(0))
