"""A learner's copy of the notebooks: what they changed stays, the rest follows the course."""

import hashlib
import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gpulessons.hardware import files

from .terminal import say

# In the folder: {notebook: hash of what was copied}, so that a change shows. Each kind has its own.
LIST, SOLVED, ASSIGNED = ".copied.json", ".copied-solutions.json", ".copied-nbgrader.json"
KINDS = {
    LIST: "a learner's copy",
    SOLVED: "a teacher's copy, with solutions",
    ASSIGNED: "assignments for nbgrader",
}
Texts = Mapping[str, bytes]  # {a file's name in the folder: what the course's holds}


def carried() -> list[Path]:
    """The notebooks that came with the package: in the wheel, or beside it in a checkout."""
    found = sorted(files.notebooks().glob("*.ipynb"))
    if not found:
        raise ValueError("This gpulessons came without its notebooks. Install it again.")
    return found


def texts() -> Texts:
    """The notebooks as they came."""
    return {notebook.name: notebook.read_bytes() for notebook in carried()}


def usual_folder() -> Path:
    """Where the copies are, unless told: in a checkout a folder that git ignores."""
    beside = files.PACKAGE.parent
    in_checkout = (beside / "pyproject.toml").exists()
    return beside / "my-notebooks" if in_checkout else Path("gpulessons-notebooks")


def changed(folder: Path, ours: Texts, kind: str = LIST) -> dict[str, bool]:
    """The files that somebody changed in the folder; True where the course has, too.

    kind: the name of the list of what was copied. Copies of another kind count as changed.
    """
    copied = listed(folder / kind)
    found = {}
    for name, text in ours.items():
        base, there = copied.get(name), folder / name
        if there.exists() and hashed(there.read_bytes()) not in (hashed(text), base):
            found[name] = hashed(text) != base
    return found


def other_kind(folder: Path, names: Iterable[str], kind: str) -> str:
    """What these files are, in words, where they are as a copy of another kind left them; or ""."""
    there = {name: hashed((folder / name).read_bytes()) for name in names}
    for other, words in KINDS.items():
        copied = listed(folder / other) if other != kind else {}
        if any(copied.get(name) == text for name, text in there.items()):
            return words
    return ""


def bring(folder: Path, ours: Texts, kind: str = LIST) -> None:
    """Copy these into the folder, as far as they are not there already."""
    now = {name: hashed(text) for name, text in ours.items()}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in ours.items():
            there = folder / name
            if not there.exists() or hashed(there.read_bytes()) != now[name]:
                there.parent.mkdir(parents=True, exist_ok=True)
                files.write(there, text)
        before = listed(folder / kind)
        if {**before, **now} != before:
            files.write(folder / kind, json.dumps({**before, **now}, indent=1))


def listed(file: Path) -> dict[str, str]:
    """A folder's list; empty where it is missing or damaged, and then all counts as changed."""
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def hashed(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def can_write(folder: Path) -> None:
    """Make the folder, saying so, and try it; ValueError when nothing can be written there."""
    if not folder.exists():
        say(f"Making the folder {folder}, which was not there.")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turns an OSError inside into a sentence about the folder."""
    try:
        yield
    except OSError as trouble:
        taken = isinstance(trouble, FileExistsError | NotADirectoryError)
        why = "a file is there" if taken else trouble.strerror
        raise ValueError(
            f"Nothing can be written in {folder} ({why}). Name another place."
        ) from trouble
