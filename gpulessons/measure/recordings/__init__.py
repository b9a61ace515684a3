"""Recordings: comparisons measured on a named machine, kept as data with their provenance.

One JSON file holds one machine and any number of comparisons, every sample included, and says which
version of gpulessons wrote it:

    {"format": 2, "gpulessons": "…", "machine": {…}, "comparisons": [{"op": "relu", …}]}

Those in this folder ship with the course. None is made up: without a file there is no figure.

The format's number rises where a field changes its meaning; 1 did not name the version. Of a file
of another version what is unknown here is left out and named (`unread`), and what it lacks counts
as unknown where that claims nothing: without its GPU, its cores or its samples it is refused.
"""

import json
import math
from collections.abc import Collection
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, get_args, get_origin

from gpulessons.hardware import Machine, files

from ..results import Absent, Comparison, Entry, Timing, entry_from
from ..side_by_side import side_by_side
from ..side_by_side.conditions import VERSION

__all__ = [
    "BadRecording", "Recording", "joined", "load", "only", "save", "shipped", "side_by_side",
]  # fmt: skip

FORMAT = 2
SHIPPED = Path(__file__).parent
# What a card may lack: None says that nobody knows, and before there was a note nothing was rough.
UNKNOWN = {
    **dict.fromkeys(("cpu", "cores_total", "simd", "simd_bits", "memory", "accelerator", "commit")),
    "note": "",
}
EARLIER = {"send": "h2d", "fetch": "d2h"}  # what the first files of format 1 call a Timing's fields


class BadRecording(ValueError):
    """A file that is not a recording this version can read."""


@dataclass(frozen=True)
class Recording:
    """One machine and the comparisons measured on it."""

    machine: Machine
    comparisons: tuple[Comparison, ...]
    gpulessons: str = VERSION  # the version that measured them; "" where the file does not say
    unread: tuple[str, ...] = ()  # fields of another version that this one left out
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
    kept = {name: getattr(comparison, name) for name in ("op", "machine", "date", "unit")}
    return {**kept, "notes": list(comparison.notes), "entries": entries}


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
    unread: set[str] = set()
    try:
        machine = believed(Machine(**fitted(Machine, data["machine"], unread)))
        compared = tuple(comparison_from(each, unread) for each in data["comparisons"])
        version = data.get("gpulessons", "")
        return believed(Recording(machine, compared, version, tuple(sorted(unread)), str(path)))
    except KeyError as trouble:
        raise BadRecording(
            f"{path} is damaged, or another version of gpulessons wrote it: it has no {trouble}. "
            "Record it again with this one."
        ) from trouble
    except (TypeError, ValueError) as trouble:
        raise BadRecording(f"{path} is damaged: {str(trouble).rstrip('.')}.") from trouble


def fitted(kind: Any, values: Any, unread: set[str]) -> dict[str, Any]:
    """The values of the fields that a class has here; the names of others go to `unread`.

    KeyError when one is missing that cannot be unknown, TypeError when these are no fields at all.
    """
    if not isinstance(values, dict):
        raise TypeError(f"{values!r:.60} is no {kind.__name__}")
    named = dict(values)
    for earlier, name in EARLIER.items():
        if earlier in named:
            named[name] = named.pop(earlier)
    wanted = [each.name for each in fields(kind)]
    unread |= set(named) - set(wanted)
    lacking = UNKNOWN if kind is Machine else {}
    return {name: (lacking | named)[name] for name in wanted}


def comparison_from(data: dict[str, Any], unread: set[str]) -> Comparison:
    op, machine, day = data["op"], data["machine"], data["date"]
    entries = tuple(
        entry_from(fitted(Timing if "samples" in each else Absent, each, unread))
        for each in data["entries"]
    )
    for entry in map(believed, entries):
        if isinstance(entry, Timing) and not (entry.samples and all(map(is_time, entry.samples))):
            raise ValueError(f"the samples of {entry.version} are not all times above 0")
    notes = tuple(data["notes"])
    return believed(Comparison(op, entries, machine, day, "recorded", notes, data["unit"]))


def is_time(seconds: float) -> bool:
    return 0 < seconds < math.inf


def believed(made: Any) -> Any:
    """The same object; ValueError when a field's value is not of the kind that it declares."""
    for each in fields(made):
        value = getattr(made, each.name)
        if not fits(value, each.type):
            raise ValueError(f"{type(made).__name__}.{each.name} cannot be {value!r:.60}")
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
