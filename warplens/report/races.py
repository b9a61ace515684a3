"""Races: two threads, one cell, at least one write, and nothing that orders them.

Threads of a block are ordered by its barriers, threads of a warp by `syncwarp` too, threads of
different blocks by nothing. Two atomics never race; an atomic and a plain access do.
Order made by memory fences is not followed: where a kernel uses them, blocks are not compared (and
a caution says so).

How one is found: report/search.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..lanes.launch import Size
from ..lanes.memory import short
from ..tables import Table, Tabled
from ..units import plural

VERBS = {"read": "reads it", "write": "writes it", "atomic": "updates it atomically"}


@dataclass(frozen=True)
class Access:
    """One of the two accesses of a race."""

    block: Size
    thread: Size
    line: int
    access: str

    def __str__(self) -> str:
        thread, block = short(self.thread), short(self.block)
        return f"thread {thread} of block {block} {VERBS[self.access]} at line {self.line}"


@dataclass(frozen=True)
class Race:
    """Two threads at one cell with nothing that orders them; `first` came first in this run."""

    array: str
    cell: tuple[int, ...]
    first: Access
    second: Access

    @property
    def lines(self) -> tuple[int, int]:
        return self.first.line, self.second.line

    @property
    def hazard(self) -> str:
        """What the missing barrier would keep apart: "read after write" (RAW), "write after read"
        (WAR) or "write after write" (WAW).
        """
        after, before = ("read" if access.access == "read" else "write"
                         for access in (self.second, self.first))  # fmt: skip
        return f"{after} after {before}"

    def __str__(self) -> str:
        cell = ", ".join(map(str, self.cell))
        return (f"{self.array}[{cell}]: {self.first}, {self.second}, and no barrier orders them "
                f"({self.hazard})")  # fmt: skip


@dataclass(frozen=True, repr=False)
class Races(Tabled):
    """The first races found (a sequence), and the number of cells that have one."""

    found: tuple[Race, ...]
    cells: int

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Race]:
        return iter(self.found)

    def __getitem__(self, i: Any) -> Any:
        return self.found[i]

    def headline(self) -> str:
        return f"races at {plural(self.cells, 'cell')}" if self.cells else "no races"

    def table(self) -> Table:
        return Table(self.headline(), ("race",), [(str(race),) for race in self.found])
