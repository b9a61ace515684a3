"""What is kept for nobody: values that no thread reads again, memory that no thread writes."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..lanes.launch import Launch
from ..lanes.memory import View, nothing_in
from .search import READ, WRITE, Accesses, Memory, accesses_at, memories
from .tables import Report


@dataclass(frozen=True)
class Waste:
    """So many of the values that a line writes to shared memory are never read; without a line: so
    many elements are never written."""

    array: str
    line: int | None
    count: int
    of: int

    def __str__(self) -> str:
        share = f"{self.count:,} of {self.of:,}"
        if self.line is None:
            return f"{self.array}: {share} elements are never written"
        return f"line {self.line}: {share} values written to {self.array} are never read"


@dataclass(frozen=True, repr=False)
class Unused(Report):
    """Memory, and writes to it, that a kernel could do without (a sequence)."""

    found: tuple[Waste, ...]

    @classmethod
    def from_json(cls, text: str) -> Unused:
        return cls(tuple(Waste(**waste) for waste in json.loads(text)["found"]))

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Waste]:
        return iter(self.found)

    def headline(self) -> str:
        places = len(self.found)
        return f"unused memory or writes in {places} places" if places else "nothing is unused"

    def table(self) -> tuple[tuple, list[tuple]]:
        return ("unused",), [(str(waste),) for waste in self.found]


def find_unused(launch: Launch) -> Iterator[Waste]:
    """In shared memory, over all blocks that were traced."""
    shared = [memory for memory in memories(launch.log.sites) if memory.shared]
    for memory in shared:
        accesses = in_order(launch, memory)
        yield from unread(memory, accesses)
        array = memory.sites[0].array
        touched = len(np.unique(accesses.cell[accesses.kind != READ] % memory.units))
        missing = (memory.units - touched) * memory.unit // array.step
        if missing:
            yield Waste(array.name, None, missing, memory.units * memory.unit // array.step)
    used = [memory.sites[0].array.origin for memory in shared]
    for array in launch.arrays.values():
        if array.space == "shared" and not any(array.origin is one for one in used):
            size = math.prod(array.shape)
            yield Waste(array.name, None, size, size)


def in_order(launch: Launch, memory: Memory) -> Accesses:
    """All accesses, cell by cell and each cell's in the order of time."""
    log = launch.log.sites
    parts = [part for site in memory.sites for part in accesses_at(log[site], memory, site)]
    accesses = Accesses(*map(np.concatenate, zip(*parts, strict=True)))
    return accesses.take(np.lexsort((accesses.clock, accesses.cell)))


def unread(memory: Memory, accesses: Accesses) -> Iterator[Waste]:
    """Writes that the next access to their cell overwrites, or that none follows."""
    last = np.r_[accesses.cell[1:] != accesses.cell[:-1], True]
    next_kind = np.r_[accesses.kind[1:], WRITE]
    lost = (accesses.kind == WRITE) & (last | (next_kind == WRITE))
    for number, site in enumerate(memory.sites):
        here, units = accesses.site == number, site.array.width // memory.unit
        count = int(np.count_nonzero(lost & here)) // units
        if count:
            total = int(np.count_nonzero(here)) // units
            yield Waste(site.array.name, site.line, count, total)


def still_empty(arguments: Iterable[Any]) -> Iterator[Waste]:
    """Device arrays of which some elements have been written by nobody so far."""
    for view in arguments:
        if type(view) is View and view.written is not None:
            missing = nothing_in(view.written)
            count, size = int(np.count_nonzero(missing)), math.prod(view.array.shape)
            if count and len(missing) == size:
                yield Waste(view.array.name, None, count, size)
