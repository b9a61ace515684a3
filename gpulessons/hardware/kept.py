"""What was measured of this machine, in one small file: every page then has the same figures.

An entry says what was measured (`of`: all that makes another machine, or other libraries, another
entry), when, and what was found. Machines that share a home folder share the file. Where it cannot
be written, or holds anything else, a sentence says so, and the process measures for itself.
"""

import json
import os
import sys
import warnings
from datetime import datetime
from pathlib import Path
from typing import Any

from .files import write

NAME = "GPULESSONS_CEILINGS"  # in the environment: another file, or os.devnull for none
MOST = 32  # entries; beyond them the oldest go

Entry = dict[str, Any]  # "of", "when" (ISO 8601, with its time zone) and "found"


def where() -> Path | None:
    """The file; None where nothing is kept."""
    try:
        path = Path(os.environ.get(NAME) or cache_folder() / "gpulessons" / "machine.json")
        return None if str(path) == os.devnull else path.expanduser()
    except RuntimeError:
        return None


def cache_folder() -> Path:
    """Where programs keep what they can make again. RuntimeError for a user without a home."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named) if os.path.isabs(named) else Path.home() / ".cache"


def find(of: Entry) -> Entry | None:
    """The entry of just this, or None."""
    return next((each for each in entries() if each["of"] == as_read(of)), None)


def keep(of: Entry, found: Any) -> None:
    """Store what was found, in place of what was found of it before."""
    path = where()
    if path is None:
        return
    others = [each for each in entries() if each["of"] != as_read(of)]
    when = datetime.now().astimezone().isoformat(timespec="seconds")
    new = {"of": of, "when": when, "found": found}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, json.dumps([*others, new][-MOST:], indent=1) + "\n")
    except OSError as trouble:
        warnings.warn(
            f"What was measured of this machine cannot be stored in {path} ({trouble.strerror}). "
            f"{NAME}=FILE in the environment names another place.",
            stacklevel=2,
        )


def entries() -> list[Entry]:
    """All that is stored, oldest first; nothing, with a sentence, where the file is damaged."""
    path = where()
    try:
        read = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else []
        for each in read:
            each["of"], each["found"], datetime.fromisoformat(each["when"])
        return read
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as trouble:
        warnings.warn(
            f"What was measured of this machine cannot be read from {path} ({trouble}): it is "
            "measured again.",
            stacklevel=2,
        )
        return []


def as_read(value: Any) -> Any:
    """A value as it comes back from JSON."""
    return json.loads(json.dumps(value))
