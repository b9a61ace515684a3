"""The learner's predictions in one small file of their own, which outlives the kernel.

A line is one event as a JSON object: a guess, or the first answer that a question showed, with the
guess that stood then. A line is added by a single call that appends, which on the local disk of a
Unix loses none of two notebooks' lines. So no line is ever changed, and a reader needs no lock.

Where the file cannot be written, this kernel remembers. Where it holds something else, it is set
aside under another name, and what can be read of it goes on in a new file. Lines of a newer version
stay as they are and are passed over. Events stand in the order of writing: clocks are set back.
"""

import errno
import json
import math
import os
import sys
import threading
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from .showing import Scale

NAME = "GPULESSONS_PREDICTIONS"  # in the environment: another file, or os.devnull for none
VERSION = 1  # of a line
REST = 0.5  # seconds after which a slider that was dragged counts as at rest
WRITING = 0.05  # seconds that another process may need to end its line
TRIES = 3  # of a line, where the file is set aside meanwhile, or its system never tells one file

lock = threading.RLock()
moving: dict[str, "Event"] = {}  # guesses whose sliders may still be moving
unsaved: list["Event"] = []  # what only this kernel has
answered: set[str] = set()  # questions whose answer this kernel has shown
unsaid: list[str] = []
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
    moved: bool = field(default=False, compare=False)  # from a file that was set aside

    @property
    def line(self) -> bytes:
        fields = {"version": VERSION, **vars(self), **vars(self.scale)}
        del fields["scale"]
        if self.measured is None:
            fields = {k: v for k, v in fields.items() if k not in ("measured", "tier", "label")}
        if not self.moved:
            del fields["moved"]
        return json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace") + b"\n"


def event_of(line: bytes) -> Event | None:
    """The event of a line; None where it is none of this version."""
    try:
        fields = json.loads(line)
        texts = [fields[name] for name in ("when", "key", "question", "unit")]
        scale = Scale(number(fields["low"]), number(fields["high"]), fields["unit"])
        guess = None if fields["guess"] is None else number(fields["guess"])
        spread = fields.get("measured")
        measured = None if spread is None else tuple(map(number, spread))
        if fields["version"] != VERSION or not all(isinstance(text, str) for text in texts):
            return None
        if (guess is None and measured is None) or len(measured or (0, 0, 0)) != 3:
            return None
        when, key, question, _ = texts
        told = str(fields.get("tier", "")), str(fields.get("label", "")), bool(fields.get("moved"))
        return Event(when, key, question, scale, guess, measured, *told)  # type: ignore[arg-type]
    except (ValueError, TypeError, LookupError, OverflowError, RecursionError):
        return None


def is_newer(line: bytes) -> bool:
    """Whether a later version of the course wrote this line: what it means, only that one knows."""
    try:
        version = json.loads(line)["version"]
        return isinstance(version, int) and version > VERSION
    except (ValueError, TypeError, LookupError, RecursionError):
        return False


def number(value: object) -> float:
    """A finite number as it is. Raises ValueError for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a number")
    return float(value)


def now() -> str:
    """The moment, written so that sorted texts are sorted in time."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


# Where


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
        with lock:
            append([event])


def append(events: list[Event]) -> None:
    """Write events, and those that could not be written before; else this kernel keeps them."""
    wanted, path = [*unsaved, *events], where()
    unsaved[:] = wanted
    if not events or str(path) == os.devnull:
        return
    try:
        if path is None:
            raise OSError(errno.ENOENT, "this user has no home folder")
        put(path, b"".join(event.line for event in wanted))
        unsaved.clear()
    except OSError as trouble:
        say("write", f"Predictions cannot be written to {path or 'a file'} ({trouble.strerror}): "
            f"only this kernel remembers them. {NAME}=FILE in the environment names another place.")


def put(path: Path, lines: bytes) -> None:
    """Append lines by one call, and again where the file was set aside meanwhile.

    Some shared folders never say that two looks are at one file. A line that is there twice counts
    once.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    how = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    for _ in range(TRIES):
        file = os.open(path, how, 0o600)
        try:
            whole = lines if ends_a_line(file) else b"\n" + lines
            if os.write(file, whole) < len(whole):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if os.path.samestat(os.fstat(file), path.stat()):
                return
        except FileNotFoundError:
            continue
        finally:
            os.close(file)


def ends_a_line(file: int) -> bool:
    """Whether what is added begins a line: half a line of another must not swallow it."""
    if not os.fstat(file).st_size:
        return True
    os.lseek(file, -1, os.SEEK_END)
    return os.read(file, 1) == b"\n"


# Reading


def events() -> list[Event]:
    """All that is kept, in the order of writing, each once, with what only this kernel has."""
    with lock:
        path = where()
        try:
            found = load(path) if path and path.is_file() else []
        except OSError as trouble:
            found = []
            say("read", f"The predictions in {path} cannot be read ({trouble.strerror}).")
        return list(dict.fromkeys([*found, *unsaved, *moving.values()]))


def last_guess(key: str) -> float | None:
    """The last guess that was kept for a question."""
    guesses = [event.guess for event in events() if event.key == key and event.guess is not None]
    return guesses[-1] if guesses else None


def load(path: Path) -> list[Event]:
    """The events of a file, which is set aside where it holds anything else."""
    found = Content(path)
    if not found.sound:
        time.sleep(WRITING)  # half a line may be one that another process is writing
        before, found = found, Content(path)
        if not found.sound and len(found.events) <= len(before.events):
            return set_aside(path, found)
    if found.newer:
        say("newer", f"{path} holds lines from a newer gpulessons; they stay, and are passed over "
            "until this one is upgraded.")
    return found.events


class Content:
    """What a file held when it was read: events, lines of a newer version, and anything else."""

    def __init__(self, path: Path):
        self.file = path.stat()
        read = {line: event_of(line) for line in path.read_bytes().split(b"\n") if line.strip()}
        # What was moved here from a file that was set aside is older than what others added since.
        self.events = sorted(filter(None, read.values()), key=lambda event: not event.moved)
        others = [line for line in read if not read[line]]
        self.newer = list(filter(is_newer, others))
        self.sound = self.newer == others

    @property
    def moved(self) -> bytes:
        """The lines that go on in another file."""
        events = (replace(event, moved=True).line for event in self.events)
        return b"".join([*events, *(line + b"\n" for line in self.newer)])


def set_aside(path: Path, damaged: Content) -> list[Event]:
    """Give a damaged file another name, and what can be read of it a new file."""
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M%S-%f}"
    aside = path.with_name(f"{path.stem}.damaged-{stamp}{path.suffix}")
    try:
        if not os.path.samestat(path.stat(), damaged.file):  # another process was first
            return Content(path).events
        path.rename(aside)
    except FileNotFoundError:
        return Content(path).events if path.exists() else []
    except OSError:
        say("damage", f"{path} holds lines that are no predictions; they are passed over.")
        return Content(path).events
    found = Content(aside)
    try:
        put(path, found.moved)
    except OSError:  # a full disk: as it was
        aside.replace(path)
        say("damage", f"{path} holds lines that are no predictions; they are passed over.")
        return found.events
    if found.sound:  # another process was first
        aside.unlink()
    else:
        say(stamp, f"{path} held lines that are no predictions: it was set aside as {aside.name}, "
            f"and what could be read of it ({len(found.events)}) is in a new file.")
    return found.events


def forget() -> int:
    """Delete the file, and what this kernel remembers; returns how many questions it was about."""
    with lock:
        path, questions = where(), {event.key for event in events()}
        if path and path.is_file():  # never a device
            path.unlink()
        for remembered in (moving, unsaved, answered):
            remembered.clear()
    return len(questions)


# What the learner has to know


def say(about: str, sentence: str) -> None:
    """Have a sentence said once about each trouble, by the next cell that shows something."""
    if about not in said:
        said.add(about)
        unsaid.append(sentence)


def tell() -> None:
    """Print what has to be said. A slider's own moves have no output that anybody sees."""
    while unsaid:
        print(unsaid.pop(0))
