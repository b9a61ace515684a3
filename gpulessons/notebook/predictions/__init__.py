"""What you predicted in the course, and how near you were.

    from gpulessons import predictions
    predictions.kept()          # every question you answered, in a table
    predictions.calibration()   # how far off you are, and which way, in a picture
    predictions.export("mine.csv")
    predictions.clear()

All of it is in one small file on this machine, at `predictions.where()`. Nothing leaves it.
"""

import os
from pathlib import Path

from ..controls import kept as file
from ..controls.predictions import remembered
from .history import History, history_of
from .invented import example
from .scores import Calibration, Distances, Score, calibrated

__all__ = [
    "Calibration", "Distances", "History", "Score", "calibration", "clear", "example",
    "export", "kept", "where",
]  # fmt: skip


def kept() -> History:
    """Every question that you made a guess at, oldest first: a History, which shows a table."""
    found = history_of(file.events())
    file.tell()
    return found


def calibration() -> Calibration:
    """How near your predictions were, each kind by itself: the Calibration shows itself."""
    return calibrated(kept())


def where() -> Path | None:
    """The file; None where the machine has no home for it, or the environment wants none."""
    path = file.where()
    return None if path is None or str(path) == os.devnull else path


def clear() -> str:
    """Delete the file, and what this kernel remembers; says what is gone.

    Other kernels that run remember their own guesses until they stop.
    """
    path = where()
    try:
        questions = file.forget()
    except OSError as trouble:
        return f"{path} could not be deleted: {trouble.strerror}."
    remembered.clear()
    gone = f"Deleted: {questions} question{'s' * (questions != 1)}, from this kernel"
    return f"{gone}{f' and from {path}' if path else ''}."


def export(path: str | Path) -> Path:
    """Write the table to a file, whose name ends in .csv or .json; returns where it is.

    Raises ValueError for another ending, and for the file that the predictions themselves are in.
    """
    from gpulessons.hardware import files

    ending = Path(path).suffix.lower()
    if ending not in (".csv", ".json"):
        raise ValueError(f"{path} should end in .csv or .json.")
    if is_own(Path(path)):
        raise ValueError(f"{path} is where your predictions themselves are: name another file.")
    table = kept()
    return files.write(path, table.to_csv() if ending == ".csv" else table.to_json())


def is_own(path: Path) -> bool:
    """Whether a path leads to the predictions' own file, also where that is still to come."""
    own = where()
    if own is None:
        return False
    there = path.exists() and own.exists() and path.samefile(own)
    return there or path.resolve() == own.resolve()
