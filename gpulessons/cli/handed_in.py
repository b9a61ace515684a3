"""What a class handed in, read: whose each file is, and which exercises are right.

A notebook says itself which exercises are right: `check` has left its verdict beside them, as data
in the cell's output. Nothing that a learner wrote is run here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gpulessons
from gpulessons import exercises
from gpulessons.grader import SAVED

from . import copies

if TYPE_CHECKING:
    from gpulessons.measure.recordings import Recording

IMPORT = re.compile(r"^from gpulessons\.exercises import (\w+)", re.MULTILINE)
RIGHT, NOT_YET, NOT_TRIED = "right", "not yet", "not tried"
CORE, EXTRA = "core", "extra"
PROGRAMS = (".", "__")  # how the names begin of what programs put there: .git, __MACOSX
WEEK = re.compile(r"(week|day|evening|lesson|unit|part|assignment)[\W_]*\d+", re.IGNORECASE)
COPY = re.compile(r"\bcopy of\b|\bcopy[\W_]*\d*$|\(\d+\)", re.IGNORECASE)

Cells = list[dict[str, Any]]


@dataclass(frozen=True)
class Result:
    """One exercise of one learner."""

    learner: str
    notebook: str  # the number that the course gives it, such as "02"
    exercise: str
    state: str  # RIGHT, NOT_YET or NOT_TRIED
    words: str = ""  # what the check said of an attempt that is not yet right

    @property
    def kind(self) -> str:
        return EXTRA if self.exercise in exercises.EXTRA else CORE


@dataclass(frozen=True)
class LeftOut:
    """A file that does not count, and why, in words that follow its name."""

    learner: str
    file: Path  # as it lies in the class's folder
    why: str

    def __str__(self) -> str:
        return f"{self.file} {self.why}"


@dataclass
class Class:
    """What all learners handed in."""

    learners: list[str]  # whose folder or file it holds, by the alphabet, whatever came of it
    results: list[Result] = field(default_factory=list)
    recordings: list[tuple[str, Recording]] = field(default_factory=list)  # and whose each is
    left_out: list[LeftOut] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)  # whose a file is, where that is not plain


def read(folder: Path, cells_of: Callable[[Path], Cells] | None = None) -> Class:
    """All that is in the folder. cells_of: runs a notebook, instead of reading what was saved."""
    found = Class(learners_in(folder))
    results_of(found, folder, cells_of)
    recordings_of(found, folder)
    return found


# -- Whose.


def seen(folder: Path, pattern: str) -> Iterator[Path]:
    """What lies in the folder, at any depth, less what a program hid."""
    for path in sorted(folder.rglob(pattern)):
        if not any(part.startswith(PROGRAMS) for part in path.relative_to(folder).parts):
            yield path


def learners_in(folder: Path) -> list[str]:
    """Everybody who has a folder, empty ones too, and everybody whose notebooks lie loose."""
    inside = [path / "any" for path in seen(folder, "*") if path.is_dir()]
    names = [named[0] for path in inside if (named := folders_of(folder, path))]
    names += [learner_of(folder, path) for path in seen(folder, "*.ipynb")]
    return sorted(set(names), key=str.lower)


def learner_of(folder: Path, path: Path) -> str:
    """Whose a file is: the first folder's that is not a week's; else its own name says it."""
    folders = folders_of(folder, path)
    return folders[0] if folders else around(path.stem) or folder.resolve().name


def folders_of(folder: Path, path: Path) -> list[str]:
    """The folders on the way to a file, less those of a week or of a notebook."""
    parts = path.relative_to(folder).parts[:-1]
    return [part for part in parts if not WEEK.fullmatch(part) and part not in pages()]


def around(stem: str) -> str:
    """The words before the notebook's own name, or after it: "ida" of 02_activations_ida."""
    own = "|".join([*pages(), r"[01]\d"])
    parts = re.split(rf"(?<![A-Za-z\d])(?:{own})(?![A-Za-z\d])", COPY.sub("", stem), maxsplit=1)
    return next(filter(None, (part.strip(" _-.") for part in parts)), "")


# -- Notebooks.


def results_of(found: Class, folder: Path, cells_of: Callable[[Path], Cells] | None) -> None:
    """A result for each learner and each exercise of the notebooks handed in, in their order."""
    best: dict[tuple[str, str], Result] = {}
    places: dict[tuple[str, str], list[str]] = {}
    for path in seen(folder, "*.ipynb"):
        who, where = learner_of(folder, path), path.relative_to(folder)
        try:
            cells = cells_in(path)
            numbers = numbers_in(cells, path.name)
            said = states_in(cells_of(path) if cells_of and numbers else cells)
        except ValueError as trouble:
            found.left_out.append(LeftOut(who, where, str(trouble)))
            continue
        for number in numbers:
            places.setdefault((who, number), []).append(str(where))
        for name, home in home_of().items():
            if home[:2] in numbers:
                keep_better(best, Result(who, home[:2], name, *said.get(name, (NOT_TRIED, ""))))
    found.results += sorted(best.values(), key=lambda one: (one.learner.lower(), one.notebook))
    found.doubts += doubts_of(places)


def numbers_in(cells: Cells, file: str) -> set[str]:
    """The numbers of the notebooks whose exercises these cells hold, as a rule one.

    ValueError for none, but for the course's own pages without exercises.
    """
    home = home_of()
    numbers = {home[name][:2] for name in named_in(cells) if name in home}
    if not numbers and Path(file).stem not in {*pages()} - {*home.values()}:
        raise ValueError("holds no exercise of the course.")
    return numbers


def doubts_of(places: dict[tuple[str, str], list[str]]) -> Iterator[str]:
    """A sentence about each learner who handed in a notebook more than once."""
    several = {who: (number, files) for (who, number), files in places.items() if len(files) > 1}
    for who, (number, files) in several.items():
        yield (
            f"{who} handed in notebook {number} in {len(files)} files ({', '.join(files)}): the "
            "furthest try of each exercise counts. If these are several learners', give each a "
            "folder with the learner's name."
        )


@cache
def pages() -> list[str]:
    """The names of the course's notebooks, the glossary included."""
    return [path.stem for path in copies.carried()]


@cache
def home_of() -> dict[str, str]:
    """{exercise: the name of its notebook, "02_activations"}, in the order of the course."""
    return {
        name: path.stem
        for path in copies.carried() for name in named_in(cells_in(path))
        if name in exercises.NAMES
    }  # fmt: skip


def named_in(cells: Iterable[dict[str, Any]]) -> list[str]:
    """The exercises that a notebook's code imports, each once."""
    texts = ("".join(cell.get("source", "")) for cell in cells if cell.get("cell_type") == "code")
    return list(dict.fromkeys(name for text in texts for name in IMPORT.findall(text)))


def states_in(cells: Iterable[dict[str, Any]]) -> dict[str, tuple[str, str]]:
    """{exercise: (state, words)}: right where any check of it says so, else what the last says."""
    found: dict[str, tuple[str, str]] = {}
    for name, state, words in (said for cell in cells for said in said_in(cell)):
        if found.get(name) != (RIGHT, ""):
            found[name] = state, words
    return found


def said_in(cell: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(exercise, state, words) of each verdict; or the error at which its check stopped."""
    verdicts = verdicts_of(cell)
    for each in verdicts:
        state = RIGHT if each["passed"] else NOT_TRIED if each["untouched"] else NOT_YET
        yield each["subject"], state, each["trouble"] if state == NOT_YET else ""
    for output in cell.get("outputs", ()) if not verdicts else ():
        if output.get("output_type") == "error":
            first = (output.get("evalue") or "").strip().partition("\n")[0]
            error = f"{output.get('ename')}: {first}"
            yield from ((name, NOT_YET, error) for name in named_in([cell]))


def verdicts_of(cell: dict[str, Any]) -> list[dict[str, Any]]:
    """What check() found of exercises, as it left it among a cell's outputs: grader.Verdicts."""
    found = (output.get("data", {}).get(SAVED) for output in cell.get("outputs", ()))
    return [verdict for verdict in found if verdict and verdict["subject"] in exercises.NAMES]


def keep_better(found: dict[tuple[str, str], Result], one: Result) -> None:
    """Of two copies of a notebook the one in which an exercise came further counts."""
    order = (NOT_TRIED, NOT_YET, RIGHT)
    before = found.get((one.learner, one.exercise))
    if before is None or order.index(one.state) > order.index(before.state):
        found[one.learner, one.exercise] = one


def cells_in(path: Path) -> Cells:
    """A notebook's cells; ValueError where the file is no notebook."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for cell in cells:  # whatever is odd in them comes to light here
            named_in([cell]), list(said_in(cell))
        return cells
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as trouble:
        raise ValueError("cannot be read as a notebook: it is empty or damaged.") from trouble


# -- Recordings.


def recordings_of(found: Class, folder: Path) -> None:
    """The recordings that can be read, named as they lie in the folder."""
    for path in seen(folder, "*.json"):
        who, where = learner_of(folder, path), path.relative_to(folder)
        try:
            recording = gpulessons.recordings.load(path)
            found.recordings.append((who, replace(recording, file=str(where))))
        except gpulessons.recordings.BadRecording as trouble:
            found.left_out.append(LeftOut(who, where, str(trouble).removeprefix(f"{path} ")))
