"""A learner's copy of the notebooks: what they changed stays, the rest follows the course."""

import hashlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gpulessons.hardware import files

from .terminal import say

LIST = ".copied.json"  # in the folder: {notebook: hash of what was copied}, so that a change shows
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


def changed(folder: Path, ours: Texts) -> dict[str, bool]:
    """The files that somebody changed in the folder; True where the course has, too."""
    copied = listed(folder / LIST)
    found = {}
    for name, text in ours.items():
        base, there = copied.get(name), folder / name
        if there.exists() and hashed(there.read_bytes()) not in (hashed(text), base):
            found[name] = hashed(text) != base
    return found


def bring(folder: Path, ours: Texts) -> None:
    """Copy these into the folder, as far as they are not there already."""
    now = {name: hashed(text) for name, text in ours.items()}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in ours.items():
            there = folder / name
            if not there.exists() or hashed(there.read_bytes()) != now[name]:
                files.write(there, text)
        before = listed(folder / LIST)
        if {**before, **now} != before:
            files.write(folder / LIST, json.dumps({**before, **now}, indent=1))


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
