"""Findings saved in a file, and those that ship with the course: one file for each machine."""

import json
from pathlib import Path
from typing import Any

from gpulessons.hardware import files

from .claim import VERDICTS, Figure, Finding, Findings

FORMAT = 1
SHIPPED = Path(__file__).parent / "found"


def save(findings: Findings, path: str | Path) -> Path:
    """Write findings as JSON, whole or not at all."""
    return files.write(path, findings.to_json() + "\n")


def load(path: str | Path) -> Findings:
    """The Findings in a file; ValueError, in a sentence, when it holds none.

    What was live when they were saved is recorded by now, and says where and when.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        if data["format"] > FORMAT:
            raise ValueError(f"it is in format {data['format']}; upgrade gpulessons to read it")
        where = f"{data['machine']}, {data['date']}"
        found = tuple(finding(each, where) for each in data["found"])
        return Findings(found, data["machine"], data["date"], data["version"], tuple(data["notes"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError) as trouble:
        raise ValueError(f"{path} cannot be read as findings: {files.why(trouble)}.") from trouble


def finding(values: Any, where: str) -> Finding:
    if values["verdict"] not in VERDICTS:
        raise ValueError(f"{values['verdict']!r} is no verdict")
    figures = tuple(figure(each, where) for each in values["figures"])
    lists = {name: tuple(values.get(name, ())) for name in ("notebooks", "lacks")}
    return Finding(**{**values, **lists, "figures": figures})


def figure(values: dict[str, Any], where: str) -> Figure:
    by_now = {"kind": "recorded", "where": where} if values["kind"] == "live" else {}
    spread = tuple(values["spread"]) if values["spread"] else None
    return Figure(**{**values, **by_now, "spread": spread})


def recorded() -> tuple[Findings, ...]:
    """The findings that ship with the course, of every machine where all claims were judged."""
    return tuple(load(path) for path in sorted(SHIPPED.glob("*.json")))
