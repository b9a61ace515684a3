"""Several machines beside each other: the same op, size and version, timed on each.

On one machine versions take turns, and their ratio is paired round by round. Between machines
nothing is paired: a ratio is one of medians, and its range goes from quartile to quartile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING

from gpulessons import units
from gpulessons.hardware import Machine, machine
from warplens.tables import Table

from .results import Absent, Comparison, Ratio, Timing

if TYPE_CHECKING:
    from .recordings import Recording

BEST = "best of all"


@dataclass(frozen=True)
class Side:
    """One machine's column: what a recording holds, or what was measured here just now."""

    letter: str  # what the tables and pictures call it
    machine: Machine
    comparisons: tuple[Comparison, ...]
    file: str = ""

    @property
    def tier(self) -> str:
        return "live" if any(each.tier == "live" for each in self.comparisons) else "recorded"

    def label(self) -> str:
        days = sorted({each.date for each in self.comparisons})
        days = list(dict.fromkeys([days[0], days[-1]]))
        of = [self.machine.name, " to ".join(days), self.file]
        return f"{self.tier}: {', '.join(filter(None, of))}"

    def entries(self, op: str, size: int) -> dict[str, Timing | Absent]:
        """version -> its entry; of two the later one, as in a file"""
        return {
            each.version: each for one in self.comparisons if one.op == op
            for each in one.entries if each.size == size and isinstance(each, Timing | Absent)
        }  # fmt: skip

@dataclass(frozen=True)
class Row:
    """One version of an op at one size, or the best of each machine."""

    op: str
    size: int
    unit: str
    name: str  # the version, or BEST
    entries: tuple[Timing | Absent | None, ...]  # one a machine; None: it has not tried it
    ratios: tuple[Ratio | None, ...]  # how many times as fast as the one chosen; None: no ratio


@dataclass(frozen=True, repr=False)
class SideBySide:
    """Machines in columns, the versions of the ops that they share in rows."""

    sides: tuple[Side, ...]
    against: str  # the letter of the machine that the ratios refer to
    rows: tuple[Row, ...]
    left_out: tuple[str, ...] = ()  # what one machine alone has timed

    @property
    def shared(self) -> list[tuple[str, int]]:
        """The (op, size) pairs that at least two machines have timed."""
        return list(dict.fromkeys((row.op, row.size) for row in self.rows))

    def of(self, op: str, size: int) -> list[Row]:
        return [row for row in self.rows if (row.op, row.size) == (op, size)]

    @property
    def title(self) -> str:
        return (
            f"{len(self.sides)} machines side by side. "
            f"vs {self.against}: how many times as fast as {self.against}"
        )

    def tables(self) -> list[Table]:
        """The machines, and a table of times for each op and size."""
        letters = [side.letter for side in self.sides]
        legend = [(side.letter, side.label()) for side in self.sides]
        said = {f"{side.letter}: {note}.": None for side in self.sides for one in side.comparisons
                for note in one.notes}  # fmt: skip
        alone = [f"left out, on one machine alone: {', '.join(self.left_out)}"]
        notes = [*said, *(alone if self.left_out else [])]
        found = [Table(self.title, ("machine", ""), legend, notes)]
        columns = [(n, ratio) for n, letter in enumerate(letters) for ratio in (False, True)
                   if not (ratio and letter == self.against)]  # fmt: skip
        heads = [f"vs {self.against}" if ratio else letters[n] for n, ratio in columns]
        for op, size in self.shared:
            rows = self.of(op, size)
            cells = [
                (row.name, *(ratio_cell(row.ratios[n]) if ratio else time_cell(row.entries[n])
                             for n, ratio in columns))
                for row in rows
            ]  # fmt: skip
            caption = f"{op}, {units.count(size)} {rows[0].unit}: time of one call"
            noted = {f"– {each.version}: {each.why}": None for row in rows for each in row.entries
                     if isinstance(each, Absent)}  # fmt: skip
            found.append(Table(caption, ("version", *heads), cells, [*noted]))
        return found

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.tables()))

    def _repr_html_(self) -> str:
        return "".join(table._repr_html_() for table in self.tables())


def side_by_side(
    *measured: Recording | Comparison, against: str = ""
) -> SideBySide:
    """Recordings of several machines beside each other, and this machine's live comparisons.

    against: the machine that the ratios refer to, by its letter or its file; the first unless
    given. Live comparisons are one column. ValueError where no two machines have timed the same.
    """
    sides = sides_of(measured)
    chosen = [n for n, side in enumerate(sides) if against in ("", side.letter, side.file)]
    if not chosen:
        there = ", ".join(side.letter for side in sides)
        raise ValueError(f"There is no machine {against!r} to compare with; there is {there}.")
    places = {(one.op, size): one.unit for side in sides for one in side.comparisons
              for size in one.sizes}  # fmt: skip
    rows = [row for (op, size), unit in sorted(places.items())
            for row in rows_of(sides, op, size, unit, chosen[0])]  # fmt: skip
    if not rows:
        raise ValueError("It takes an op at a size that two machines have timed; here is none.")
    shared = {(row.op, row.size) for row in rows}
    left_out = tuple(
        f"{op} at {units.count(size)} ({side.letter})" for op, size in sorted(set(places) - shared)
        for side in sides if side.entries(op, size)
    )  # fmt: skip
    return SideBySide(tuple(sides), sides[chosen[0]].letter, tuple(rows), left_out)


def sides_of(measured: Sequence[Recording | Comparison]) -> list[Side]:
    """Each recording, and all live comparisons first."""
    live = tuple(each for each in measured if isinstance(each, Comparison))
    if any(each.tier != "live" for each in live):
        raise ValueError(
            "A recorded comparison alone does not say under what conditions it was measured: "
            "give the whole recording."
        )
    sides = [Side("A", machine(), live)] if live else []
    for each in measured:
        if not isinstance(each, Comparison) and each.comparisons:
            letter = ascii_uppercase[len(sides) % 26]
            sides.append(Side(letter, each.machine, each.comparisons, each.file))
    return sides


def rows_of(sides: Sequence[Side], op: str, size: int, unit: str, chosen: int) -> list[Row]:
    """A row for each version that two machines have timed, and one for the best of each."""
    tried = [side.entries(op, size) for side in sides]
    timed = [{v: e for v, e in each.items() if isinstance(e, Timing)} for each in tried]
    versions = dict.fromkeys(version for each in timed for version in each)
    found = {
        version: tuple(each.get(version) for each in tried)
        for version in versions if sum(version in each for each in timed) > 1
    }  # fmt: skip
    if sum(map(bool, timed)) > 1 and len(versions) > 1:
        found[BEST] = tuple(
            min(each.values(), key=lambda timing: timing.median, default=None) for each in timed
        )
    return [
        Row(op, size, unit, name, entries, tuple(
            None if n == chosen else unpaired(entries[chosen], entry)
            for n, entry in enumerate(entries)
        ))
        for name, entries in found.items()
    ]  # fmt: skip


def unpaired(there: Timing | Absent | None, here: Timing | Absent | None) -> Ratio | None:
    """How many times as fast as `there` a machine is `here`; None where one has no time.

    Refused where one was too noisy, where one was cold and one warm, and where the work differs.
    """
    if not (isinstance(there, Timing) and isinstance(here, Timing)):
        return None
    refused = ""
    if "too noisy" in (there.noise, here.noise):
        refused = "too noisy"
    elif there.cold != here.cold:
        refused = "cold, warm"
    elif (there.flops, there.bytes) != (here.flops, here.bytes):
        refused = "other work"
    if refused:
        return Ratio(math.nan, math.nan, math.nan, refused)
    (fast, slow), (quick, late) = there.quartiles, here.quartiles
    return Ratio(there.median / here.median, fast / late, slow / quick)


def time_cell(entry: Timing | Absent | None) -> str:
    """One time; a tilde marks a noisy one, a dash one that could not be taken there."""
    return f"{entry.words}{' ~' * bool(entry.noise)}" if entry else ""


def ratio_cell(ratio: Ratio | None) -> str:
    return "" if not ratio else ratio.refused or units.ratio(ratio.median)
