"""A learner's copy of the notebooks: what they changed stays, the rest follows the course."""

import hashlib
import json
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import gpulessons
from gpulessons.hardware import files

PACKAGE = Path(gpulessons.__file__).parent
LIST = ".copied.json"  # in the folder: {notebook: hash of what was copied}, so that a change shows


def carried() -> list[Path]:
    """The notebooks that came with the package: in the wheel, or beside it in a checkout."""
    wheel, checkout = PACKAGE / "_notebooks", PACKAGE.parent / "notebooks"
    found = sorted((wheel if wheel.is_dir() else checkout).glob("*.ipynb"))
    if not found:
        raise ValueError("This gpulessons came without its notebooks. Install it again.")
    return found


def usual_folder() -> Path:
    """Where the copies are, unless told: in a checkout a folder that git ignores."""
    in_checkout = (PACKAGE.parent / "pyproject.toml").exists()
    return PACKAGE.parent / "my-notebooks" if in_checkout else Path("gpulessons-notebooks")


def changed(folder: Path) -> dict[Path, bool]:
    """The notebooks that a learner changed in the folder; True where the course has, too."""
    copied = listed(folder)
    found = {}
    for notebook in carried():
        ours, base, there = hashed(notebook), copied.get(notebook.name), folder / notebook.name
        if there.exists() and hashed(there) not in (ours, base):
            found[notebook] = ours != base
    return found


def bring(folder: Path, but: Collection[Path] = ()) -> None:
    """Copy the notebooks into the folder, new and renewed ones, but not these."""
    ours = [notebook for notebook in carried() if notebook not in but]
    now = {notebook.name: hashed(notebook) for notebook in ours}
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for notebook in ours:
            there = folder / notebook.name
            if not there.exists() or hashed(there) != now[notebook.name]:
                files.write(there, notebook.read_bytes())
        before = listed(folder)
        if {**before, **now} != before:
            files.write(folder / LIST, json.dumps({**before, **now}, indent=1))


def listed(folder: Path) -> dict[str, str]:
    """The folder's list; empty where it is missing or damaged, and then all counts as changed."""
    try:
        found = json.loads((folder / LIST).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def hashed(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def can_write(folder: Path) -> None:
    """Make the folder and try it; ValueError when nothing can be written there."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turns an OSError inside into a sentence about the folder."""
    try:
        yield
    except OSError as trouble:
        raise ValueError(
            f"Nothing can be written in {folder} ({trouble.strerror}). Name another place."
        ) from trouble
