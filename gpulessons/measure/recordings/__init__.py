"""Recordings: comparisons measured on a named machine, saved as data with their provenance.

One JSON file holds one machine and any number of comparisons, every sample included, and says which
version of gpulessons wrote it:

    {"format": 2, "gpulessons": "…", "machine": {…}, "comparisons": [{"op": "relu", …}]}

Those in this folder ship with the course. None is made up: without a file there is no figure.
"""

import json
import math
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from gpulessons.hardware import Machine, files

from ..results import Comparison, Entry, Timing, entry_from
from ..side_by_side import side_by_side

__all__ = [
    "BadRecording", "Recording", "joined", "load", "only", "save", "shipped", "side_by_side",
]  # fmt: skip

FORMAT = 2
SHIPPED = Path(__file__).parent


class BadRecording(ValueError):
    """A file that is not a recording this version can read."""


def version() -> str:
    """This gpulessons'; "" where it is not installed."""
    try:
        return metadata.version("gpulessons")
    except metadata.PackageNotFoundError:
        return ""


@dataclass(frozen=True)
class Recording:
    """One machine and the comparisons measured on it."""

    machine: Machine
    comparisons: tuple[Comparison, ...]
    gpulessons: str = field(default_factory=version)  # the version that measured them
    file: str = field(default="", compare=False)  # where it was read from; "" when made just now

    def to_json(self) -> str:
        machine = json.loads(self.machine.to_json())
        compared = list(map(plain, self.comparisons))
        head = {"format": FORMAT, "gpulessons": self.gpulessons}
        return json.dumps({**head, "machine": machine, "comparisons": compared})

    def of(self, op: str) -> tuple[Comparison, ...]:
        """The comparisons of one op, by its name."""
        return tuple(c for c in self.comparisons if c.op == op)


def plain(comparison: Comparison) -> dict[str, Any]:
    """A comparison as JSON has it; ValueError for a modelled one, which is no recording."""
    if comparison.tier == "modelled" or comparison.estimates:
        raise ValueError(f"{comparison.op} is {comparison.label()}: that is no recording.")
    entries = list(map(rounded, comparison.entries))
    values = {name: getattr(comparison, name) for name in ("op", "machine", "date", "unit")}
    return {**values, "notes": list(comparison.notes), "entries": entries}


def rounded(entry: Entry) -> dict[str, Any]:
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
        why = files.why(trouble)
        raise BadRecording(f"{path} cannot be read as a recording: {why}.") from trouble
    if not isinstance(data, dict) or not isinstance(data.get("format"), int):
        raise BadRecording(f"{path} is no recording: `gpulessons record` did not write it.")
    if data["format"] > FORMAT:
        raise BadRecording(
            f"{path} is in format {data['format']}; this gpulessons reads up to {FORMAT}. "
            "Upgrade gpulessons to read it."
        )
    try:
        card = Machine.from_json(json.dumps(data["machine"]))
        compared = tuple(map(comparison_from, data["comparisons"]))
        return Recording(card, compared, data.get("gpulessons", ""), str(path))
    except (KeyError, TypeError, ValueError) as trouble:
        raise BadRecording(
            f"{path} is damaged, or another version of gpulessons wrote it ({trouble}). "
            "Record it again with this one."
        ) from trouble


def comparison_from(data: dict[str, Any]) -> Comparison:
    entries = tuple(map(entry_from, data["entries"]))
    for entry in entries:
        times = entry.samples if isinstance(entry, Timing) else (1,)
        if not times or not all(0 < seconds < math.inf for seconds in times):
            raise ValueError(f"the samples of {entry.version} are not all times above 0")
    notes = tuple(data["notes"])
    where = data["op"], entries, data["machine"], data["date"]
    return Comparison(*where, "recorded", notes, data["unit"])


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
    left = (each for each in comparison.entries if each.version in versions and each.size in sizes)
    return replace(comparison, entries=tuple(left))
