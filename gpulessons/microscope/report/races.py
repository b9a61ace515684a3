"""Races: two threads, one cell, at least one write, and nothing that orders them.

Threads of a block are ordered by its barriers, threads of a warp by `syncwarp` too, threads of
different blocks only by a grid barrier. Two atomics never race; an atomic and a plain access do.
Order made by memory fences is not followed: where a kernel uses them, blocks are not compared (and
a caution says so).

How one is found, memory by memory: keep the accesses that could clash (`suspects`), give those that
nothing orders one number (`group`), and see in which groups two parties meet (`clashing`): warps of
a block, lanes of a warp, blocks of the grid. Where there are `syncwarp`s of part of a warp, each
pair is looked at (`Search.ordered`).
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..lanes.launch import Launch, Size
from ..lanes.log import Entry, Site
from ..lanes.masks import WARP
from ..lanes.memory import Array, short
from ..lanes.warps import spread
from .counts import batches
from .tables import Report

KINDS = ("read", "write", "atomic")
READ, WRITE, ATOMIC = range(3)
VERBS = {"read": "reads it", "write": "writes it", "atomic": "updates it atomically"}
# Shared memory has no address of its own here: block b's begins at b times this. No GPU has blocks
# with so many bytes (227 KiB is the most), so those of two blocks do not meet.
SHARED_STRIDE = 2**18
EPOCHS = 2**20  # barriers that `meeting_keys` tells apart: so many are not met in one launch here


# What is told


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

    @classmethod
    def from_dict(cls, d: dict[str, Any]) -> Race:
        first, second = (
            Access(tuple(a["block"]), tuple(a["thread"]), a["line"], a["access"])
            for a in (d["first"], d["second"])
        )
        return cls(d["array"], tuple(d["cell"]), first, second)

    @property
    def lines(self) -> tuple[int, int]:
        return self.first.line, self.second.line

    @property
    def threads(self) -> tuple[Size, Size]:
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
        return cls(tuple(map(Race.from_dict, d["found"])), d["cells"])

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Iterator[Race]:
        return iter(self.found)

    def __getitem__(self, i: Any) -> Any:
        return self.found[i]

    def headline(self) -> str:
        return f"races at {self.cells:,} cells" if self.cells else "no races"

    def table(self) -> tuple[tuple, list[tuple]]:
        return ("race",), [(str(race),) for race in self.found]


# How it is found


class Accesses(NamedTuple):
    """Accesses to one memory, element by element: an array each, of one length."""

    cell: np.ndarray  # byte address, see `base_of`
    block: np.ndarray
    warp: np.ndarray  # the warp's number in its block
    thread: np.ndarray  # number in its block
    kind: np.ndarray  # index into KINDS
    block_epoch: np.ndarray
    warp_epoch: np.ndarray
    grid_epoch: np.ndarray
    clock: np.ndarray
    site: np.ndarray  # index into the sites of this memory

    def take(self, which: np.ndarray) -> Accesses:
        return Accesses(*(column[which] for column in self))


def find_races(launch: Launch, limit: int) -> Races:
    """The first `limit` racy cells, and how many there are."""
    found: list[Race] = []
    cells = 0
    for sites in memories(launch.log.sites):
        search = Search(launch, sites, suspects(launch.log.sites, sites), limit)
        found, cells = found + search.races, cells + len(search.cells)
    return Races(tuple(varied(found)[:limit]), cells)


def varied(races: list[Race]) -> list[Race]:
    """One race of each kind (arrays and lines) first, so that the first few tell most."""
    first = list({(race.array, race.lines): race for race in reversed(races)}.values())[::-1]
    return first + [race for race in races if race not in first]


def memories(sites: dict[Site, list[Entry]]) -> list[list[Site]]:
    """Sites by the memory they touch: memory that threads share and something writes."""
    groups = defaultdict(list)
    for site in sites:
        if site.array.space in ("global", "shared"):
            groups[id(site.array.origin)].append(site)
    return [group for group in groups.values() if any(s.access != "read" for s in group)]


def suspects(log: dict[Site, list[Entry]], sites: list[Site]) -> Accesses:
    """Every access to a cell that something writes while no barrier orders all of them."""
    kept = [
        part for site in sites if site.access != "read" for part in accesses_at(log, sites, site)
    ]
    written = np.unique(np.concatenate([meeting_keys(part, sites) for part in kept]))
    for site in sites:
        if site.access == "read":
            for part in accesses_at(log, sites, site):
                kept.append(part.take(np.isin(meeting_keys(part, sites), written)))
    return Accesses(*map(np.concatenate, zip(*kept, strict=True)))


def meeting_keys(accesses: Accesses, sites: list[Site]) -> np.ndarray:
    """A number for the cell and the time between barriers in which two accesses could clash.

    Numbers may coincide, which only lets more accesses through to the search.
    """
    shared = sites[0].array.space == "shared"
    return accesses.cell * EPOCHS + (accesses.block_epoch if shared else accesses.grid_epoch)


def base_of(array: Array, block: Any) -> Any:
    """The address at which an array's cells begin, in this block: its own in shared memory."""
    return block * SHARED_STRIDE if array.space == "shared" else array.address


def accesses_at(log: dict[Site, list[Entry]], sites: list[Site], site: Site) -> Iterator[Accesses]:
    """The accesses of one site, part by part."""
    for entries in batches(log[site]):
        yield element_by_element(joined(entries, sites, site), site)


def joined(entries: list[Entry], sites: list[Site], site: Site) -> Accesses:
    sizes = [len(entry.lanes) for entry in entries]

    def per_row(name: str) -> np.ndarray:
        return np.concatenate([getattr(e.moment, name)[e.lanes // WARP] for e in entries])

    def per_entry(values: Any) -> np.ndarray:
        return np.repeat(np.array(list(values), np.int32), sizes)

    lanes, block = np.concatenate([entry.lanes for entry in entries]), per_row("blocks")
    warp = per_entry(entry.moment.warp for entry in entries)
    place = np.concatenate([entry.place for entry in entries]).astype(np.int64)
    return Accesses(
        cell=place * site.array.step + base_of(site.array, block),
        block=block,
        warp=warp,
        thread=warp * WARP + lanes % WARP,
        kind=per_entry(KINDS.index(site.access) for _ in entries),
        block_epoch=per_row("block_epoch"),
        warp_epoch=per_row("warp_epoch"),
        grid_epoch=per_entry(entry.moment.grid_epoch for entry in entries),
        clock=per_entry(entry.clock for entry in entries),
        site=per_entry(sites.index(site) for _ in entries),
    )


def element_by_element(accesses: Accesses, site: Site) -> Accesses:
    """A wide access touches each of its elements."""
    size, count = site.array.dtype.itemsize, site.array.width // site.array.dtype.itemsize
    if count == 1:
        return accesses
    each = Accesses(*(np.repeat(column, count) for column in accesses))
    return each._replace(cell=each.cell + np.tile(np.arange(count) * size, len(accesses.cell)))


def group(*columns: np.ndarray) -> np.ndarray:
    """Elements that agree in all columns get one number."""
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values = np.unique(column, return_inverse=True)[1]
        pair = number * (int(values.max(initial=0)) + 1) + values
        number = np.unique(pair, return_inverse=True)[1]
    return number


def clashing(key: np.ndarray, who: np.ndarray, kind: np.ndarray) -> np.ndarray:
    """The groups in which two parties meet, one of them writing and not both atomic."""
    count = int(key.max(initial=-1)) + 1
    first = np.empty(count, who.dtype)
    first[key] = who
    mixed = np.zeros(count, bool)
    mixed[key[first[key] != who]] = True
    reads, writes, atomics = (np.zeros(count, bool) for _ in KINDS)
    for code, found in ((READ, reads), (WRITE, writes), (ATOMIC, atomics)):
        found[key[kind == code]] = True
    return mixed & (writes | (atomics & reads))


class Search:
    """The races of one memory: between warps, between lanes, between blocks."""

    def __init__(self, launch: Launch, sites: list[Site], accesses: Accesses, limit: int) -> None:
        self.launch, self.sites, self.limit = launch, sites, limit
        self.races: list[Race] = []
        self.cells: set[int] = set()
        self.seen: set[tuple] = set()
        in_block = accesses.block, accesses.cell, accesses.block_epoch
        self.look(accesses, group(*in_block), accesses.warp)
        self.look(accesses, group(*in_block, accesses.warp, accesses.warp_epoch), accesses.thread)
        if sites[0].array.space == "global" and not launch.log.fenced:
            self.look(accesses, group(accesses.cell, accesses.grid_epoch), accesses.block)

    def look(self, accesses: Accesses, key: np.ndarray, who: np.ndarray) -> None:
        """Note every cell at which two parties clash, and find the accesses for the first few."""
        clash = clashing(key, who, accesses.kind)[key]
        accesses, key, who = accesses.take(clash), key[clash], who[clash]
        each_pair = bool(self.launch.log.partial_syncs)
        if not each_pair:
            self.cells.update(accesses.cell.tolist())
        order = np.lexsort((accesses.clock, key))
        starts = np.r_[np.flatnonzero(np.diff(key[order], prepend=-1)), len(order)]
        for start, end in itertools.pairwise(starts):
            if len(self.races) >= self.limit and not each_pair:
                return
            members = order[start:end]
            pair = self.pair(accesses.take(members), who[members])
            if pair and (pair.array, pair.cell) not in self.seen:
                self.seen.add((pair.array, pair.cell))
                self.cells.add(int(accesses.cell[members[0]]))
                self.races.append(pair)

    def pair(self, accesses: Accesses, who: np.ndarray) -> Race | None:
        """The first two accesses of a group that clash."""
        for i in np.flatnonzero(accesses.kind != READ).tolist():
            others = (who != who[i]) & ~((accesses.kind == ATOMIC) & (accesses.kind[i] == ATOMIC))
            for j in np.flatnonzero(others).tolist():
                if not self.ordered(accesses, i, j):
                    first, second = sorted((i, j), key=lambda n: (accesses.clock[n], n))
                    return self.race(accesses, first, second)
        return None

    def ordered(self, accesses: Accesses, i: int, j: int) -> bool:
        """Did a barrier of part of the warp, with both lanes in it, come between?"""
        warp, block = accesses.warp[i], accesses.block[i]
        if (block, warp) != (accesses.block[j], accesses.warp[j]):
            return False
        early, late = sorted((accesses.clock[i], accesses.clock[j]))
        for clock, moment, members in self.launch.log.partial_syncs:
            if early < clock < late and moment.warp == warp and block in moment.blocks:
                row = int(np.searchsorted(moment.blocks, block))
                met = int(members[row * WARP + accesses.thread[i] % WARP])
                if met >> int(accesses.thread[j] % WARP) & 1:
                    return True
        return False

    def race(self, accesses: Accesses, i: int, j: int) -> Race:
        array = self.sites[accesses.site[i]].array
        byte = int(accesses.cell[i]) - int(base_of(array, accesses.block[i]))
        cell = array.cell(byte // array.step)
        return Race(array.name, cell, self.access(accesses, i), self.access(accesses, j))

    def access(self, accesses: Accesses, i: int) -> Access:
        site = self.sites[accesses.site[i]]
        block = coordinates(accesses.block[i], self.launch.grid)
        thread = coordinates(accesses.thread[i], self.launch.block)
        return Access(block, thread, site.line, site.access)


def coordinates(number: np.ndarray, extent: Size) -> Size:
    """(x, y, z) of a block in the grid, or of a thread in its block."""
    x, y, z = map(int, spread(number, extent))
    return x, y, z
