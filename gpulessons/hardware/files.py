"""Files that a person cares about: where the notebooks lie; written whole, or left as they were."""

import json
from pathlib import Path
from uuid import uuid4

PACKAGE = Path(__file__).parents[1]


def notebooks() -> Path:
    """The folder of the notebooks as they were saved: in the wheel, or beside it in a checkout."""
    wheel, checkout = PACKAGE / "_notebooks", PACKAGE.parent / "notebooks"
    return wheel if wheel.is_dir() else checkout


def write(path: str | Path, content: str | bytes) -> Path:
    """Write a file aside, then give it its name: a full disk leaves the earlier one as it was.

    Others may write it at the same time, from other machines too: the last one's is what stays.
    Text becomes UTF-8 with the line ends it has. Through a link the file behind it is written.
    """
    path = Path(path).resolve()
    aside = path.with_name(f"{path.name}.{uuid4().hex}.partial")
    try:
        aside.write_bytes(content.encode() if isinstance(content, str) else content)
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return path


def why(trouble: Exception) -> str:
    """What kept a file from being read, without its name: the sentence around it has that."""
    if isinstance(trouble, json.JSONDecodeError):
        return f"no JSON at line {trouble.lineno}, column {trouble.colno}"
    if isinstance(trouble, UnicodeDecodeError):
        return "it is no text"
    return getattr(trouble, "strerror", None) or str(trouble)
