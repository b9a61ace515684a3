"""Races as values: who touched what, and where."""

from __future__ import annotations

import json
from dataclasses import dataclass

from ..lanes.memory import short
from .tables import Report


@dataclass(frozen=True)
class Touch:
    """One of the two accesses of a race."""

    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    line: int
    access: str

    def __str__(self) -> str:
        verb = {"read": "reads it", "write": "writes it", "atomic": "updates it atomically"}[
            self.access
        ]
        return (
            f"thread {short(self.thread)} of block {short(self.block)} {verb} at line {self.line}"
        )


@dataclass(frozen=True)
class Race:
    """Two threads at one cell with nothing that orders them; `first` came first in this run."""

    array: str
    cell: tuple[int, ...]
    first: Touch
    second: Touch

    @property
    def lines(self) -> tuple[int, int]:
        return self.first.line, self.second.line

    @property
    def threads(self):
        return self.first.thread, self.second.thread

    def __str__(self) -> str:
        cell = ", ".join(map(str, self.cell))
        return f"{self.array}[{cell}]: {self.first}, {self.second}, and no barrier orders them"


@dataclass(frozen=True, repr=False)
class Races(Report):
    """The first races found (a sequence), and the number of cells that have one."""

    found: tuple[Race, ...]
    cells: int

    @classmethod
    def from_json(cls, text: str) -> Races:
        d = json.loads(text)
        return cls(tuple(race_from(r) for r in d["found"]), d["cells"])

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self):
        return iter(self.found)

    def __getitem__(self, i):
        return self.found[i]

    def headline(self) -> str:
        return f"races at {self.cells:,} cells" if self.cells else "no races"

    def table(self):
        return ("race",), [(str(race),) for race in self.found]


def race_from(d: dict) -> Race:
    first, second = (
        Touch(tuple(t["block"]), tuple(t["thread"]), t["line"], t["access"])
        for t in (d["first"], d["second"])
    )
    return Race(d["array"], tuple(d["cell"]), first, second)
