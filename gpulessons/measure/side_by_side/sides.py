"""Whose times stand beside each other: one column a machine, each with a letter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count, product
from string import ascii_uppercase
from typing import TYPE_CHECKING

from gpulessons import units
from gpulessons.hardware import Machine, machine

from ..results import Absent, Comparison, ModelledTiming, Timing
from .conditions import VERSION

if TYPE_CHECKING:
    from ..recordings import Recording


@dataclass(frozen=True)
class Side:
    """One machine's column: what a recording holds, or what was measured here just now."""

    letter: str  # what the tables and pictures call it
    machine: Machine
    comparisons: tuple[Comparison, ...]
    gpulessons: str = ""  # the version that measured it; "" where unknown
    file: str = ""  # "" where it was read from none
    unread: tuple[str, ...] = ()  # fields of another version that were left out

    @property
    def tier(self) -> str:
        return "live" if any(each.tier == "live" for each in self.comparisons) else "recorded"

    @property
    def dates(self) -> list[str]:
        return sorted({each.date for each in self.comparisons})

    def label(self) -> str:
        days = list(dict.fromkeys([*self.dates[:1], *self.dates[-1:]]))
        of = [self.machine.name, " to ".join(days), self.file]
        return f"{self.tier}: {', '.join(filter(None, of))}"

    @property
    def name(self) -> str:
        """What it is called before it has a letter."""
        return self.file or self.label()

    @cached_property
    def entries(self) -> dict[tuple[str, int], dict[str, Timing | Absent]]:
        """(op, size) -> version -> its entry; of two the later one, as in a file."""
        found: dict[tuple[str, int], dict[str, Timing | Absent]] = {}
        for one in self.comparisons:
            for entry in one.entries:
                if not isinstance(entry, ModelledTiming):  # which no machine has taken
                    found.setdefault((one.op, entry.size), {})[entry.version] = entry
        return found

    def timed(self, op: str, size: int) -> dict[str, Timing]:
        """version -> its timing"""
        entries = self.entries.get((op, size), {})
        return {name: entry for name, entry in entries.items() if isinstance(entry, Timing)}

    @property
    def sizes(self) -> dict[str, list[int]]:
        """op -> the sizes at which anything was timed"""
        found: dict[str, list[int]] = {}
        for op, size in self.entries:
            if self.timed(op, size):
                found.setdefault(op, []).append(size)
        return found

    def shares(self, sides: Sequence[Side], op: str, size: int) -> bool:
        """Has another machine timed this op at this size, too?"""
        return any(side is not self and side.timed(op, size) for side in sides)


def sides_of(
    measured: Sequence[Recording | Comparison], names: Mapping[str, str]
) -> tuple[list[Side], list[str]]:
    """(the machines that share something, with letters or their files' names; what is left out)

    Live comparisons are one machine. ValueError where no two share anything.
    """
    found, left_out = without_twins(columns(measured))
    sides = [
        side for side in found
        if any(side.shares(found, op, size) for op, sizes in side.sizes.items() for size in sizes)
    ]  # fmt: skip
    if not sides:
        raise ValueError(
            "Nothing can be laid side by side: it takes an op at a size that two machines have "
            f"timed. {' '.join([*map(holding, found), *left_out])}".rstrip()
        )
    if alone := [side.name for side in found if side not in sides]:
        left_out.append(f"left out, for nothing in it is shared: {', '.join(alone)}")
    called = zip(letters(), sides, strict=False)
    return [replace(side, letter=names.get(side.file, letter)) for letter, side in called], left_out


def columns(measured: Sequence[Recording | Comparison]) -> Iterator[Side]:
    """Each recording, and all live comparisons where the first of them stands."""
    live = tuple(
        replace(each, beside=(), modelled=()) for each in measured if isinstance(each, Comparison)
    )
    if any(each.tier != "live" for each in live):
        raise ValueError(
            "A recorded comparison alone does not say under what conditions it was measured. "
            "Give the whole recording, as recordings.load(file) returns it."
        )
    for each in measured:
        if not isinstance(each, Comparison):
            about = each.gpulessons, each.file, each.unread
            yield Side("", each.machine, each.comparisons, *about)
        elif live:
            yield Side("", machine(), live, VERSION)
            live = ()


def without_twins(sides: Iterator[Side]) -> tuple[list[Side], list[str]]:
    """(the sides, each once; a sentence about each that was there already)"""
    found: list[Side] = []
    left_out = []
    for side in sides:
        twin = next((each for each in found if replace(each, file=side.file) == side), None)
        if twin:
            left_out.append(f"left out, for it is {twin.name} once more: {side.name}.")
        else:
            found.append(side)
    return found, left_out


def letters() -> Iterator[str]:
    """A to Z, then AA, AB …"""
    for length in count(1):
        yield from map("".join, product(ascii_uppercase, repeat=length))


def chosen_from(sides: Sequence[Side], against: str) -> int:
    """Where the machine stands that the ratios refer to: the first, unless named."""
    for n, side in enumerate(sides):
        if not against or against in (side.letter, side.file):
            return n
    known = ", ".join(f"{side.letter} ({side.name})" for side in sides)
    raise ValueError(f"There is no machine {against!r} to compare with; there is {known}.")


def holding(side: Side) -> str:
    """What a machine has timed, in a sentence."""
    has = (f"{op} at {', '.join(map(units.count, sizes))}" for op, sizes in side.sizes.items())
    return f"{side.name} has {'; '.join(has) or 'nothing'}."


def unshared(sides: Sequence[Side]) -> Iterator[str]:
    """What one machine alone has timed: ops, sizes, versions."""
    ops: dict[str, list[Side]] = {}
    for side in sides:
        for op in side.sizes:
            ops.setdefault(op, []).append(side)
    alone = [f"{op} ({those[0].letter})" for op, those in ops.items() if len(those) == 1]
    if alone:
        yield f"left out, on one machine alone: {', '.join(alone)}"
    for op, those in ops.items():
        if len(those) > 1:
            yield from unshared_of(op, those)


def unshared_of(op: str, sides: Sequence[Side]) -> Iterator[str]:
    sizes: list[str] = []
    versions: dict[str, set[str]] = {}
    for side in sides:
        for size in side.sizes[op]:
            if not side.shares(sides, op, size):
                sizes.append(f"{units.count(size)} ({side.letter})")
                continue
            for version in side.timed(op, size):
                versions.setdefault(version, set()).add(side.letter)
    if sizes:
        yield f"left out of {op}, sizes on one machine alone: {', '.join(sizes)}"
    if once := [f"{version} ({at.pop()})" for version, at in versions.items() if len(at) == 1]:
        yield f"left out of {op}, versions on one machine alone: {'; '.join(once)}"
