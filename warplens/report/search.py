"""The search for races, memory by memory.

A memory is all that may be reached by one address: arrays in global memory whose bytes overlap,
whoever owns them, and shared memory of one name. Its bytes are numbered in the largest unit that no
access cuts. Accesses that no barrier orders get one number (`meetings`): those to one unit by the
warps of a block between two barriers, by the lanes of a warp between two `syncwarp`s, by the blocks
of the grid. A number under which two parties meet, one of them writing, is a race (`clashing`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..lanes.launch import Launch, Size
from ..lanes.log import Entry, Site
from ..lanes.masks import WARP
from ..lanes.memory import Array
from ..lanes.warps import spread
from .counts import batches
from .races import Access, Race, Races

KINDS = ("read", "write", "atomic")
READ, WRITE, ATOMIC = range(3)
Part = dict[Site, list[Entry]]


class Memory(NamedTuple):
    """Bytes that threads share and some thread writes, and the places of the source that touch
    them."""

    sites: list[Site]
    begin: int  # the lowest address
    unit: int  # bytes: every access begins and ends at a multiple of it
    units: int  # how many, in one block where it is shared

    @property
    def shared(self) -> bool:
        return self.sites[0].array.space == "shared"

    def element(self, site: Site, unit: Any) -> Any:
        """The place, in this site's array, of the element that holds a unit."""
        byte = unit % self.units * self.unit + self.begin - site.array.address
        return byte // site.array.step


# One access of one thread to one unit of a memory.
ACCESS = np.dtype([(name, np.int64) for name in (
    "cell",  # the unit's number; in shared memory each block has numbers of its own
    "block", "warp", "thread",  # the warp's and the thread's number in its block
    "kind",  # index into KINDS
    "block_epoch", "warp_epoch",
    "site",  # index into the sites of this memory
    "clock",
)])  # fmt: skip


def find_races(launch: Launch, limit: int) -> Races:
    """The first `limit` racy cells, and how many there are."""
    found: list[Race] = []
    cells = 0
    for memory in memories(launch.log.sites):
        search = Search(launch, memory, limit)
        found, cells = found + search.races, cells + len(search.cells)
    return Races(tuple(varied(found)[:limit]), cells)


def varied(races: list[Race]) -> list[Race]:
    """One race of each kind (arrays and lines) first, so that the first few tell most."""
    first = list({(race.array, race.lines): race for race in reversed(races)}.values())[::-1]
    return first + [race for race in races if race not in first]


# Memories


def memories(sites: Iterable[Site]) -> list[Memory]:
    """Memory that threads share and something writes."""
    shared, everywhere = defaultdict(list), []
    for site in sites:
        if site.array.space == "shared":
            shared[id(site.array.origin)].append(site)
        elif site.array.space == "global":
            everywhere.append(site)
    groups = [*shared.values(), *overlapping(everywhere)]
    return [memory_of(group) for group in groups if any(s.access != "read" for s in group)]


def overlapping(sites: list[Site]) -> Iterator[list[Site]]:
    """Sites whose arrays share bytes, or are linked by others that do, together."""
    group: list[Site] = []
    end = 0
    for site in sorted(sites, key=lambda site: site.array.address):
        if group and site.array.address >= end:
            yield group
            group = []
        group.append(site)
        end = max(end if group[1:] else 0, end_of(site.array))
    if group:
        yield group


def end_of(array: Array) -> int:
    """The address behind an array's last byte."""
    return array.address + array.span


def memory_of(sites: list[Site]) -> Memory:
    arrays = [site.array for site in sites]
    begin, end = min(a.address for a in arrays), max(map(end_of, arrays))
    unit = math.gcd(*(n for a in arrays for n in (a.address - begin, a.step, a.dtype.itemsize)))
    return Memory(sites, begin, unit, -(-(end - begin) // unit))


# Accesses


def suspects(log: dict[Site, list[Entry]], memory: Memory) -> np.ndarray:
    """Every access that could clash with another."""
    found = [np.empty(0, ACCESS)]
    for part in separate(log, memory):
        if any(site.access != "read" for site in part):
            accesses = met(part, memory)
            clash = np.zeros(len(accesses), bool)
            for key, who in meetings(accesses, memory):
                clash |= clashing(key, who, accesses["kind"])[key]
            found.append(accesses[clash])
    return np.concatenate(found)


def separate(log: dict[Site, list[Entry]], memory: Memory) -> Iterable[Part]:
    """The accesses to a memory in parts that can be looked at alone: those to shared memory by
    blocks that run together, between two barriers if all of these blocks pass them at a time."""
    if not memory.shared:
        return [{site: log[site] for site in memory.sites if log[site]}]
    entries = [(site, entry) for site in memory.sites for entry in log[site]]
    apart = {first_block(e) for _, e in entries if np.ptp(e.moment.block_epoch)}
    parts: dict[tuple[int, int], Part] = defaultdict(lambda: defaultdict(list))
    for site, entry in entries:
        batch = first_block(entry)
        epoch = 0 if batch in apart else int(entry.moment.block_epoch[0])
        parts[batch, epoch][site].append(entry)
    return parts.values()


def first_block(entry: Entry) -> int:
    return int(entry.moment.blocks[0])


def met(part: Part, memory: Memory) -> np.ndarray:
    """The accesses to units that something writes, once each."""
    writes = [site for site in part if site.access != "read"]
    kept = [once(some) for site in writes for some in accesses_at(part[site], memory, site)]
    written = np.unique(np.concatenate(kept)["cell"])
    for site in (site for site in part if site.access == "read"):
        for some in accesses_at(part[site], memory, site):
            kept.append(once(some[np.isin(some["cell"], written)]))
    return once(np.concatenate(kept))


def once(accesses: np.ndarray) -> np.ndarray:
    """The first of those that differ in nothing but the clock."""
    columns = [accesses[name] for name in ACCESS.names or () if name != "clock"]
    first = np.unique(packed(*columns), return_index=True)[1]
    return accesses[np.sort(first)]


def accesses_at(entries: Iterable[Entry], memory: Memory, site: Site) -> Iterator[np.ndarray]:
    """The accesses of one site, part by part; a wide one touches each of its units."""
    count = site.array.width // memory.unit
    for some in batches(entries):
        each = np.repeat(joined(some, memory, site), count)
        each["cell"] += np.tile(np.arange(count), len(each) // count)
        yield each


def joined(entries: list[Entry], memory: Memory, site: Site) -> np.ndarray:
    array, sizes = site.array, [len(entry.lanes) for entry in entries]
    out = np.empty(sum(sizes), ACCESS)
    for name in ("block_epoch", "warp_epoch"):
        out[name] = np.concatenate([getattr(e.moment, name)[e.lanes // WARP] for e in entries])
    out["block"] = np.concatenate([e.moment.blocks[e.lanes // WARP] for e in entries])
    out["clock"] = np.repeat([entry.clock for entry in entries], sizes)
    out["warp"] = np.repeat([entry.moment.warp for entry in entries], sizes)
    out["thread"] = out["warp"] * WARP + np.concatenate([entry.lanes for entry in entries]) % WARP
    out["kind"], out["site"] = KINDS.index(site.access), memory.sites.index(site)
    place = np.concatenate([entry.place for entry in entries]).astype(np.int64)
    out["cell"] = (place * array.step + array.address - memory.begin) // memory.unit
    if memory.shared:
        out["cell"] += out["block"] * memory.units
    return out


# Who meets whom


def meetings(accesses: np.ndarray, memory: Memory) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(a number for those that nothing orders, who they are): the warps of a block, the lanes of a
    warp, the blocks of the grid."""
    in_block = accesses["block"], accesses["cell"], accesses["block_epoch"]
    yield group(*in_block), accesses["warp"]
    yield group(*in_block, accesses["warp"], accesses["warp_epoch"]), accesses["thread"]
    if not memory.shared:
        yield group(accesses["cell"]), accesses["block"]


def packed(*columns: np.ndarray) -> np.ndarray:
    """A number for each element, the same for those that agree in all columns."""
    number, range_ = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        low = int(column.min(initial=0))
        size = int(column.max(initial=0)) - low + 1
        if range_ * size >= 2**62:
            number = np.unique(number, return_inverse=True)[1]
            range_ = len(number)
        if range_ * size >= 2**62:
            column, low = np.unique(column, return_inverse=True)[1], 0
            size = len(column)
        number, range_ = number * size + (column - low), range_ * size
    return number


def group(*columns: np.ndarray) -> np.ndarray:
    """Elements that agree in all columns get one number, from 0 on."""
    return np.unique(packed(*columns), return_inverse=True)[1]


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

    def __init__(self, launch: Launch, memory: Memory, limit: int) -> None:
        self.launch, self.memory, self.limit = launch, memory, limit
        self.races: list[Race] = []
        self.cells: set[int] = set()  # elements with a race
        log = launch.log
        accesses = suspects(log.sites, memory)
        # What orders lanes of a warp, or blocks, is not known where it is done in other ways.
        known = True, not log.partial_syncs, not log.fenced
        for sought, (key, who) in zip(known, meetings(accesses, memory), strict=False):
            if sought:
                self.look(accesses, key, who)

    def look(self, accesses: np.ndarray, key: np.ndarray, who: np.ndarray) -> None:
        """Note every cell at which two parties clash, and find the accesses for the first few."""
        clash = clashing(key, who, accesses["kind"])[key]
        accesses, key, who = accesses[clash], key[clash], who[clash]
        elements = self.elements(accesses["cell"])
        known = set(self.cells)
        self.cells.update(elements.tolist())
        order = np.lexsort((accesses["clock"], key))
        for members in np.split(order, np.flatnonzero(np.diff(key[order])) + 1):
            if len(self.races) >= self.limit or not len(members):
                return
            element = int(elements[members[0]])
            if element not in known:
                known.add(element)
                self.races.append(self.first_race(accesses[members], who[members]))

    def elements(self, cells: np.ndarray) -> np.ndarray:
        """A number for the element of the first array, block by block, that holds a unit."""
        block = cells // self.memory.units
        return self.memory.element(self.memory.sites[0], cells) + block * self.memory.units

    def first_race(self, accesses: np.ndarray, who: np.ndarray) -> Race:
        """The first two of these accesses, of which some clash, that do."""
        kind = accesses["kind"]
        for i in np.flatnonzero(kind != READ).tolist():
            both_atomic = (kind == ATOMIC) & (kind[i] == ATOMIC)
            others = np.flatnonzero((who != who[i]) & ~both_atomic)
            if len(others):
                j = int(others[0])
                break
        first, second = sorted((i, j), key=lambda n: (accesses["clock"][n], n))
        site = self.memory.sites[accesses["site"][first]]
        cell = site.array.cell(int(self.memory.element(site, accesses["cell"][first])))
        return Race(site.array.name, cell, *map(self.access, accesses[[first, second]]))

    def access(self, one: Any) -> Access:
        site = self.memory.sites[one["site"]]
        block = coordinates(one["block"], self.launch.grid)
        return Access(block, coordinates(one["thread"], self.launch.block), site.line, site.access)


def coordinates(number: np.ndarray, extent: Size) -> Size:
    """(x, y, z) of a block in the grid, or of a thread in its block."""
    x, y, z = map(int, spread(number, extent))
    return x, y, z
