"""What was found in launches, in lines for a terminal: races and cautions, each where it stands."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .report.traces import Trace

SHOWN = 3  # races of a launch


def findings(launches: Iterable[Trace]) -> list[str]:
    """`file:line: kernel: …`, once each, in the order of the launches."""
    found = [line for trace in launches for line in findings_of(trace)]
    return list(dict.fromkeys(found))


def findings_of(trace: Trace) -> list[str]:
    races = trace.races()
    lines = [(race.first.line, f"race: {race}") for race in races.found[:SHOWN]]
    if races.cells > len(lines) > 0:
        lines.append((races.found[0].first.line, f"races at {races.cells:,} cells in all"))
    lines += [(caution.line, f"caution: {caution.text}") for caution in trace.warnings]
    file = short_path(trace.launch.file)
    return [f"{file}:{line}: {trace.kernel}: {text}" for line, text in lines]


def short_path(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file
