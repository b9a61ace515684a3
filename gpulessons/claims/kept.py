"""found(): a page hands over what it measured, sees the word, and the last page has it, too.

A line of the file is one figure as a JSON object. Lines are only added, and the last one counts. In
a checkout `make notebooks` gathers them in found.csv, which ships with the course.
"""

import csv
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

from gpulessons.backends import gpu
from gpulessons.hardware import machine
from gpulessons.hardware.budget import note
from gpulessons.hardware.kept import cache_folder

from .findings import Finding
from .judge import Figure, Statement, statement

NAME = "GPULESSONS_FOUND"  # in the environment: another file, or os.devnull for none
SHIPPED = Path(__file__).with_name("found.csv")


@dataclass(frozen=True)
class Line:
    """One figure of a statement, as it was found on a machine one day."""

    machine: str
    date: str
    statement: str
    figure: str
    low: float
    high: float


def found(name: str, **values: Any) -> Finding:
    """The finding about a statement by what a page has measured, kept for the last page.

    values: a number, a Ratio, a pair (low, high), or None where it could not be measured, for each
    of the statement's figures. ValueError for a statement or a figure that there is not. What was
    measured under GPULESSONS_BUDGET is rough, and not kept.
    """
    about = statement(name)
    if unknown := set(values) - set(about.figures):
        raise ValueError(
            f"Statement {name} has no figure {', '.join(sorted(unknown))}: "
            f"it has {', '.join(about.figures) or 'none'}."
        )
    ranges = {figure: span for figure, value in values.items() if (span := spanned(value))}
    today, by_gpu = date.today().isoformat(), gpu.named(here := machine().name)
    lines = [Line(by_gpu if "GPU" in about.figures[each].what + about.quantity else here, today,
                  name, each, *span) for each, span in ranges.items()]  # fmt: skip
    if not note():
        keep(lines)
    return Finding.of(about, [figure(about, line) for line in lines])


def spanned(value: Any) -> tuple[float, float] | None:
    """(low, high) of what a page hands over; None for what could not be measured."""
    if value is None or getattr(value, "refused", False):
        return None
    if hasattr(value, "low"):
        return value.low, value.high
    low, high = value if isinstance(value, tuple) else (value, value)
    return float(low), float(high)


def figure(about: Statement, line: Line, shipped: bool = False) -> Figure:
    """A line as a figure; what was live when the page was saved is recorded by now."""
    measure = about.figures[line.figure]
    where = measure.where or line.machine + f", {line.date}" * shipped
    kind = "recorded" if shipped and measure.kind == "live" else measure.kind
    return Figure(measure.what, kind, line.low, line.high, where)


def where() -> Path:
    """The file of what was found on this machine."""
    with suppress(RuntimeError):
        return Path(os.environ.get(NAME) or cache_folder() / "gpulessons" / "found.jsonl")
    return Path(os.devnull)


def keep(lines: list[Line]) -> None:
    """Add lines to the file; where it cannot be written, the page has shown them all the same."""
    with suppress(OSError):
        where().parent.mkdir(parents=True, exist_ok=True)
        with where().open("a", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(vars(line))}\n" for line in lines)


def kept(file: Path | None = None) -> list[Line]:
    """What the pages found on this machine, oldest first; a line that is none is passed over."""
    lines = []
    with suppress(OSError):
        for text in (file or where()).read_text(encoding="utf-8", errors="replace").splitlines():
            with suppress(ValueError, TypeError):
                lines.append(Line(**json.loads(text)))
    return lines


@cache
def shipped() -> list[Line]:
    """What was found when the course's own pages were saved."""
    with SHIPPED.open(encoding="utf-8", newline="") as file:
        return [Line(row["machine"], row["date"], row["statement"], row["figure"],
                     float(row["low"]), float(row["high"])) for row in csv.DictReader(file)]


def measured(about: Statement) -> list[Figure]:
    """What was found here about a statement; a figure that was not is the shipped one's, which
    names its machine."""
    mine, theirs = (
        {line.figure: line for line in lines if line.statement == about.name}
        for lines in (kept(), shipped())
    )
    return [figure(about, mine.get(name) or theirs[name], shipped=name not in mine)
            for name in about.figures if name in mine or name in theirs]  # fmt: skip
