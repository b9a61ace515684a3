"""Several machines beside each other: the same op, size and version, timed on each.

On one machine versions take turns, and their ratio is paired round by round. Between machines
nothing is paired: a ratio is one of medians.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING

from gpulessons import units
from gpulessons.hardware import machine
from warplens.tables import Table

from .results import Absent, Comparison, Timing, cell

if TYPE_CHECKING:
    from .recordings import Recording

Entries = dict[str, Timing | Absent]  # by version


@dataclass(frozen=True)
class Side:
    """One machine: what a recording holds, or what was measured here just now."""

    letter: str  # what the table calls it
    label: str
    comparisons: tuple[Comparison, ...]

    def entries(self, op: str, size: int) -> Entries:
        """Of two of a version the later one, as in a file."""
        return {
            each.version: each for one in self.comparisons if one.op == op
            for each in one.entries if each.size == size and isinstance(each, Timing | Absent)
        }  # fmt: skip


def side_by_side(*measured: Recording | Comparison) -> Table:
    """Machines in columns, versions that two of them have timed in rows; ratios are to the first.

    Live comparisons are one column, the first. ValueError where no two have timed the same.
    """
    sides = sides_of(measured)
    places = {(one.op, size): one.unit for side in sides for one in side.comparisons
              for size in one.sizes}  # fmt: skip
    rows: list[Sequence[str]] = []
    for (op, size), unit in sorted(places.items()):
        if found := list(rows_of([side.entries(op, size) for side in sides])):
            rows += [(f"{op}, {units.count(size)} {unit}", *[""] * (2 * len(sides) - 1)), *found]
    if not rows:
        raise ValueError("It takes an op at a size that two machines have timed; here is none.")
    notes = [f"{side.letter}  {side.label}" for side in sides]
    notes += dict.fromkeys(f"{side.letter}: {note}." for side in sides
                           for one in side.comparisons for note in one.notes)  # fmt: skip
    title = f"{len(sides)} machines side by side. vs A: how many times as fast as A"
    others = (head for side in sides[1:] for head in (side.letter, "vs A"))
    return Table(title, ("time of one call", "A", *others), rows, notes)


def sides_of(measured: Sequence[Recording | Comparison]) -> list[Side]:
    """All live comparisons, and each recording."""
    live = tuple(each for each in measured if isinstance(each, Comparison))
    if any(each.tier != "live" for each in live):
        raise ValueError(
            "A recorded comparison alone does not say under what conditions it was measured: "
            "give the whole recording."
        )
    found = [(f"live: {machine().name}", live)] if live else []
    for each in measured:
        if not isinstance(each, Comparison) and each.comparisons:
            days = dict.fromkeys(sorted(one.date for one in each.comparisons))
            label = f"recorded: {each.machine.name}, {' and '.join(days)}, {each.file}"
            found.append((label.rstrip(", "), each.comparisons))
    return [Side(ascii_uppercase[n % 26], *each) for n, each in enumerate(found)]


def rows_of(tried: Sequence[Entries]) -> Iterator[list[str]]:
    """A row for each version that two machines have timed."""
    versions = [e.version for each in tried for e in each.values() if isinstance(e, Timing)]
    for version in dict.fromkeys(versions):
        if versions.count(version) > 1:
            yield [version, *cells([each.get(version) for each in tried])]


def cells(entries: Sequence[Timing | Absent | None]) -> Iterator[str]:
    """The first machine's time; then each other's, and how it compares."""
    first, *others = entries
    yield cell(first) if first else ""
    for entry in others:
        yield cell(entry) if entry else ""
        yield times_as_fast(first, entry)


def times_as_fast(there: Timing | Absent | None, here: Timing | Absent | None) -> str:
    """A ratio, or why there is none; "" where there is no time."""
    if not (isinstance(there, Timing) and isinstance(here, Timing)):
        return ""
    if "too noisy" in (there.noise, here.noise):
        return "too noisy"
    if there.cold != here.cold:
        return "cold, warm"
    if (there.flops, there.bytes) != (here.flops, here.bytes):
        return "other work"
    return units.ratio(there.median / here.median)
