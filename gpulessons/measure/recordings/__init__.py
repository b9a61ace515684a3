"""Recordings: comparisons measured on a named machine, kept as data with their provenance.

One JSON file holds one machine and any number of comparisons, every sample included:

    {"format": 1, "machine": {…}, "comparisons": [{"op": "relu", …, "entries": […]}]}

Those in this folder ship with the course. None is made up: without a file there is no figure.
"""

import json
import math
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, get_args, get_origin

from gpulessons.hardware import Machine

from .. import files
from ..results import Absent, Comparison, Timing, entry_from

FORMAT = 1
SHIPPED = Path(__file__).parent


class BadRecording(ValueError):
    """A file that is not a recording this version can read."""


@dataclass(frozen=True)
class Recording:
    """One machine and the comparisons measured on it."""

    machine: Machine
    comparisons: tuple[Comparison, ...]

    def to_json(self) -> str:
        machine = json.loads(self.machine.to_json())
        compared = list(map(plain, self.comparisons))
        return json.dumps({"format": FORMAT, "machine": machine, "comparisons": compared})

    def of(self, op: str) -> tuple[Comparison, ...]:
        """The comparisons of one op, by its name."""
        return tuple(c for c in self.comparisons if c.op == op)


def plain(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON has it."""
    entries = list(map(rounded, comparison.entries))
    kept = {name: getattr(comparison, name) for name in ("op", "machine", "date", "unit")}
    return {**kept, "notes": list(comparison.notes), "entries": entries}


def rounded(entry: Timing | Absent) -> dict[str, Any]:
    """An entry as JSON has it: five digits of a sample are more than any clock can vouch for."""
    values = dict(vars(entry))
    for name in ("samples", "waits"):
        if name in values:
            values[name] = [float(f"{seconds:.5g}") for seconds in values[name]]
    return values


def save(recording: Recording, path: str | Path) -> Path:
    """Write a recording, whole or not at all: a file half written would be a file lost."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.write(path, recording.to_json())
    return path


def load(path: str | Path) -> Recording:
    """The Recording in a file; BadRecording, with a sentence, when it is none."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as trouble:
        raise BadRecording(f"{path} cannot be read as a recording: {trouble}.") from trouble
    if not isinstance(data, dict) or not isinstance(data.get("format"), int):
        raise BadRecording(f"{path} is not a recording: it names no format.")
    if data["format"] > FORMAT:
        raise BadRecording(
            f"{path} is in format {data['format']}; this gpulessons reads up to {FORMAT}. "
            "Upgrade gpulessons to read it."
        )
    try:
        machine = believed(Machine.from_json(json.dumps(data["machine"])))
        return Recording(machine, tuple(map(comparison_from, data["comparisons"])))
    except KeyError as trouble:
        raise BadRecording(f"{path} is damaged: it has no {trouble}.") from trouble
    except (TypeError, ValueError) as trouble:
        raise BadRecording(f"{path} is damaged: {str(trouble).rstrip('.')}.") from trouble


def comparison_from(data: dict[str, Any]) -> Comparison:
    op, machine, day = data["op"], data["machine"], data["date"]
    entries, notes = tuple(map(entry_from, data["entries"])), tuple(data["notes"])
    for entry in map(believed, entries):
        if isinstance(entry, Timing) and not (entry.samples and all(map(is_time, entry.samples))):
            raise ValueError(f"the samples of {entry.version} are not all times above 0")
    return believed(Comparison(op, entries, machine, day, "recorded", notes, data["unit"]))


def is_time(seconds: float) -> bool:
    return 0 < seconds < math.inf


def believed(made: Any) -> Any:
    """The same object; ValueError when a field's value is not of the kind that it declares."""
    for field in fields(made):
        value = getattr(made, field.name)
        if not fits(value, field.type):
            raise ValueError(f"{type(made).__name__}.{field.name} cannot be {value!r:.60}")
    return made


def fits(value: Any, kind: Any) -> bool:
    """Is the value of this kind: a class, a union of them, tuple[kind, ...] or dict[str, kind]?"""
    container, inside = get_origin(kind), get_args(kind)
    if container is tuple:
        return isinstance(value, tuple) and all(fits(each, inside[0]) for each in value)
    if container is dict:
        return isinstance(value, dict) and all(fits(each, inside[1]) for each in value.values())
    return isinstance(value, (int, float) if kind is float else kind)


def shipped(op: str) -> tuple[Comparison, ...]:
    """Every shipped comparison of this op, by its name; () when there is none."""
    found = (load(path).of(op) for path in sorted(SHIPPED.glob("*.json")))
    return tuple(comparison for comparisons in found for comparison in comparisons)


def joined(recording: Recording, comparison: Comparison) -> Recording:
    """The recording with one more comparison: what it measured takes the earlier one's place.

    An op's other sizes stay, in a comparison of their own: they have a date of their own.
    """
    again = set(comparison.sizes)
    left = [
        only(each, sizes=set(each.sizes) - again) if each.op == comparison.op else each
        for each in recording.comparisons
    ]
    return replace(recording, comparisons=(*(each for each in left if each.entries), comparison))


def only(
    comparison: Comparison,
    versions: Collection[str] | None = None,
    sizes: Collection[int] | None = None,
) -> Comparison:
    """The same comparison, of these versions at these sizes; None is all of them."""
    versions = comparison.versions if versions is None else versions
    sizes = comparison.sizes if sizes is None else sizes
    kept = (each for each in comparison.entries if each.version in versions and each.size in sizes)
    return replace(comparison, entries=tuple(kept))
