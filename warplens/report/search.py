"""The search for races, memory by memory.

A memory is all that may be reached by one address: arrays in global memory whose bytes overlap,
whoever owns them, and shared memory of one name. Its bytes are numbered in the largest unit that no
access cuts. Keep the accesses that could clash (`suspects`), give those that nothing orders one
number (`group`), and see in which groups two parties meet (`clashing`): warps of a block, lanes of
a warp, blocks of the grid. Where there are `syncwarp`s of part of a warp, each pair is looked at
(`Search.ordered`).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..lanes.launch import Launch, Size
from ..lanes.log import Entry, Moment, Site
from ..lanes.masks import WARP
from ..lanes.memory import Array
from ..lanes.warps import spread
from .counts import batches
from .races import Access, Race, Races

KINDS = ("read", "write", "atomic")
READ, WRITE, ATOMIC = range(3)
TOGETHER = 2**22  # accesses: some 300 MB while they are compared
EPOCHS = 2**20  # barriers that are told apart: so many are not met in one launch here


Part = dict[Site, list[Entry]]


class Memory(NamedTuple):
    """Bytes that threads share and some thread writes, and the places of the source that touch
    them."""

    sites: list[Site]
    begin: int  # the lowest address
    unit: int  # bytes: every access begins and ends at a multiple of it
    units: int  # how many, in one block where it is shared
    stretch: range | None = None  # where only some of them are looked at: their numbers

    @property
    def shared(self) -> bool:
        return self.sites[0].array.space == "shared"

    def element(self, site: Site, unit: Any) -> Any:
        """The place, in this site's array, of the element that holds a unit."""
        byte = unit % self.units * self.unit + self.begin - site.array.address
        return byte // site.array.step


class Accesses(NamedTuple):
    """Accesses to one memory, unit by unit: an array each, of one length."""

    cell: np.ndarray  # the unit's number; in shared memory each block has numbers of its own
    block: np.ndarray
    warp: np.ndarray  # the warp's number in its block
    thread: np.ndarray  # number in its block
    kind: np.ndarray  # index into KINDS
    block_epoch: np.ndarray
    warp_epoch: np.ndarray
    grid_epoch: np.ndarray
    site: np.ndarray  # index into the sites of this memory
    clock: np.ndarray

    def take(self, which: np.ndarray) -> Accesses:
        return Accesses(*(column[which] for column in self))


def find_races(launch: Launch, limit: int) -> Races:
    """The first `limit` racy cells, and how many there are."""
    found: list[Race] = []
    cells = 0
    for memory in memories(launch.log.sites):
        search = Search(launch, memory, limit)
        found, cells = found + search.races, cells + search.count()
    return Races(tuple(varied(found)[:limit]), cells)


def varied(races: list[Race]) -> list[Race]:
    """One race of each kind (arrays and lines) first, so that the first few tell most."""
    first = list({(race.array, race.lines): race for race in reversed(races)}.values())[::-1]
    return first + [race for race in races if race not in first]


# Memories


def memories(sites: Iterable[Site]) -> list[Memory]:
    """Memory that threads share and something writes."""
    groups = grouped(sites)
    return [memory_of(group) for group in groups if any(s.access != "read" for s in group)]


def grouped(sites: Iterable[Site]) -> list[list[Site]]:
    """Those that may touch the same memory, together."""
    shared, everywhere = defaultdict(list), []
    for site in sites:
        if site.array.space == "shared":
            shared[id(site.array.origin)].append(site)
        elif site.array.space == "global":
            everywhere.append(site)
    return [*shared.values(), *overlapping(everywhere)]


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


def suspects(log: dict[Site, list[Entry]], memory: Memory, each: bool) -> Accesses:
    """Every access that could clash with another, and with `each` all that might; of several by one
    thread that nothing tells apart the first, unless `each` is asked for."""
    found, clean = [nothing()], set()
    for part in separate(log, memory):
        told = likeness(part) if memory.shared and not each else None
        if told not in clean:
            some = [suspects_of(part, piece, each) for piece in stretches(memory, part)]
            if told and not any(len(accesses.cell) for accesses in some):
                clean.add(told)
            found += some
    return joined_up(found)


def stretches(memory: Memory, part: Part) -> list[Memory]:
    """A large memory in pieces, so that what is looked at together takes few megabytes."""
    size = sum(len(entry.lanes) for entries in part.values() for entry in entries)
    if memory.shared or size <= TOGETHER:
        return [memory]
    step = -(-memory.units // -(-size // TOGETHER))
    starts = range(0, memory.units, step)
    return [memory._replace(stretch=range(start, start + step)) for start in starts]


def suspects_of(part: Part, memory: Memory, each: bool) -> Accesses:
    """The same for one part."""
    if all(site.access == "read" for site in part):
        return nothing()
    accesses = met(part, memory, each)
    return accesses if each else accesses.take(clashing_somewhere(accesses, memory))


def separate(log: dict[Site, list[Entry]], memory: Memory) -> Iterator[Part]:
    """The accesses to a memory in parts: barriers keep each from all others.

    Those to a block's shared memory, between one barrier and the next, or between several where
    blocks do not pass them at the same time.
    """
    if not memory.shared:
        yield {site: log[site] for site in memory.sites if log[site]}
        return
    spans = {}  # by moment and lanes: (the first block run with it, first and last barrier passed)
    for entry in itertools.chain(*(log[site] for site in memory.sites)):
        key = id(entry.moment), id(entry.lanes)
        if key not in spans:
            epochs = entry.moment.block_epoch[entry.lanes // WARP]
            spans[key] = int(entry.moment.blocks[0]), int(epochs.min()), int(epochs.max())
    numbers = numbered(set(spans.values()))
    parts: dict[int, Part] = defaultdict(lambda: defaultdict(list))
    for site in memory.sites:
        for entry in log[site]:
            parts[numbers[spans[id(entry.moment), id(entry.lanes)]]][site].append(entry)
    yield from parts.values()


def numbered(spans: set[tuple[int, int, int]]) -> dict[tuple[int, int, int], int]:
    """A number for each (group, first, last), the same where spans of one group overlap."""
    numbers: dict[tuple[int, int, int], int] = {}
    number, group, end = 0, None, -1
    for span in sorted(spans):
        if span[0] != group or span[1] > end:
            number, group, end = number + 1, span[0], -1
        numbers[span], end = number, max(end, span[2])
    return numbers


def likeness(part: Part) -> tuple:
    """The same for parts in which the same happens, in other blocks or behind other barriers."""
    entries = [entry for entries in part.values() for entry in entries]
    base = min(int(e.moment.block_epoch[e.lanes // WARP].min()) for e in entries)
    before: dict[int, np.ndarray] = {}  # by warp
    moments = {}
    for entry in entries:
        moment = entry.moment
        if id(moment) not in moments:
            since = moment.warp_epoch - before.setdefault(moment.warp, moment.warp_epoch)
            epochs = (moment.block_epoch - base).tobytes(), since.tobytes()
            moments[id(moment)] = moment.warp, len(moment.blocks), *epochs
    return tuple(
        (id(site), *sorted({(e.first, id(e.pattern), id(e.lanes), moments[id(e.moment)])
                            for e in entries}))
        for site, entries in part.items()
    )  # fmt: skip


def met(part: Part, memory: Memory, each: bool) -> Accesses:
    """Every access to a cell that something writes while no barrier orders all of them."""
    writes = [site for site in part if site.access != "read"]
    reads = [site for site in part if site.access == "read"]
    kept = [one_of_each(piece, each)
            for site in writes for piece in accesses_at(part[site], memory, site)]  # fmt: skip
    written = as_set([meeting_keys(piece, memory) for piece in kept])
    moments = {id(entry.moment): entry.moment for site in writes for entry in part[site]}
    times = as_set([when(moment, memory) for moment in moments.values()])
    for site in reads:
        entries = during(part[site], memory, times)
        for piece in accesses_at(entries, memory, site):
            both = contained(written, meeting_keys(piece, memory))
            kept.append(one_of_each(piece.take(both), each))
    return one_of_each(joined_up(kept), each)


def joined_up(parts: list[Accesses]) -> Accesses:
    return Accesses(*map(np.concatenate, zip(*parts, strict=True)))


def nothing() -> Accesses:
    return Accesses(*(np.zeros(0, np.int64) for _ in Accesses._fields))


def clashing_somewhere(accesses: Accesses, memory: Memory) -> np.ndarray:
    found = np.zeros(len(accesses.cell), bool)
    for key, who in meetings(accesses, memory):
        found |= clashing(key, who, accesses.kind)[key]
    return found


def meetings(accesses: Accesses, memory: Memory) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(a number for those that nothing orders, who they are): the warps of a block, the lanes of a
    warp, the blocks of the grid."""
    in_block = accesses.block, accesses.cell, accesses.block_epoch
    yield group(*in_block), accesses.warp
    yield group(*in_block, accesses.warp, accesses.warp_epoch), accesses.thread
    if not memory.shared:
        yield group(accesses.cell, accesses.grid_epoch), accesses.block


def when(moment: Moment, memory: Memory) -> np.ndarray:
    """A number per row for the time between two barriers that order all accesses to the memory."""
    if memory.shared:
        return moment.blocks * EPOCHS + moment.block_epoch
    return np.full(1, moment.grid_epoch)


def during(entries: list[Entry], memory: Memory, times: np.ndarray) -> Iterator[Entry]:
    """The entries of which a row falls into one of these times: mostly none or all."""
    known: dict[int, bool] = {}
    for entry in entries:
        moment = entry.moment
        if id(moment) not in known:
            known[id(moment)] = bool(contained(times, when(moment, memory)).any())
        if known[id(moment)]:
            yield entry


def as_set(parts: list[np.ndarray]) -> np.ndarray:
    """All values, once each and sorted. (np.unique goes by a hash, which takes far longer.)"""
    values = np.sort(np.concatenate(parts))
    if not len(values):
        return values
    return values[np.r_[True, values[1:] != values[:-1]]]


def contained(among: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Which of the values are among those, which are sorted."""
    if not len(among):
        return np.zeros(len(values), bool)
    places = np.searchsorted(among, values)
    return among[np.minimum(places, len(among) - 1)] == values


def meeting_keys(accesses: Accesses, memory: Memory) -> np.ndarray:
    """A number for the cell and the time between barriers in which two accesses could clash.

    Numbers may coincide, which only lets more accesses through to the search.
    """
    epoch = accesses.block_epoch if memory.shared else accesses.grid_epoch
    return accesses.cell * EPOCHS + epoch


def one_of_each(accesses: Accesses, each: bool) -> Accesses:
    """The first of those that differ in nothing but the clock."""
    if each or len(accesses.cell) < 2:
        return accesses
    columns = accesses[:-1]
    first = np.unique(packed(*columns), return_index=True)[1]
    return accesses.take(np.sort(first))


def accesses_at(entries: Iterable[Entry], memory: Memory, site: Site) -> Iterator[Accesses]:
    """The accesses of one site, part by part."""
    for part in batches(entries):
        found = unit_by_unit(joined(part, memory, site), memory, site)
        stretch = memory.stretch
        if stretch:
            found = found.take((found.cell >= stretch.start) & (found.cell < stretch.stop))
        yield found


def joined(entries: list[Entry], memory: Memory, site: Site) -> Accesses:
    sizes = [len(entry.lanes) for entry in entries]
    array = site.array

    def per_row(name: str) -> np.ndarray:
        return np.concatenate([getattr(e.moment, name)[e.lanes // WARP] for e in entries])

    def per_entry(values: Any) -> np.ndarray:
        return np.repeat(np.array(list(values), np.int64), sizes)

    lanes, block = np.concatenate([entry.lanes for entry in entries]), per_row("blocks")
    warp = per_entry(entry.moment.warp for entry in entries)
    place = np.concatenate([entry.place for entry in entries]).astype(np.int64)
    own = block * memory.units if memory.shared else 0
    return Accesses(
        cell=(place * array.step + array.address - memory.begin) // memory.unit + own,
        block=block,
        warp=warp,
        thread=warp * WARP + lanes % WARP,
        kind=np.full(len(lanes), KINDS.index(site.access)),
        block_epoch=per_row("block_epoch"),
        warp_epoch=per_row("warp_epoch"),
        grid_epoch=per_entry(entry.moment.grid_epoch for entry in entries),
        site=np.full(len(lanes), memory.sites.index(site)),
        clock=per_entry(entry.clock for entry in entries),
    )


def unit_by_unit(accesses: Accesses, memory: Memory, site: Site) -> Accesses:
    """A wide access touches each of its units."""
    count = site.array.width // memory.unit
    if count == 1:
        return accesses
    each = Accesses(*(np.repeat(column, count) for column in accesses))
    return each._replace(cell=each.cell + np.tile(np.arange(count), len(accesses.cell)))


# Who meets whom


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
        self.each_pair = bool(launch.log.partial_syncs)
        self.races: list[Race] = []
        self.cells: set[int] = set()  # units with a race
        self.told: set[int] = set()  # elements of which one is told
        accesses = suspects(launch.log.sites, memory, self.each_pair)
        for number, (key, who) in enumerate(meetings(accesses, memory)):
            if number < 2 or not launch.log.fenced:
                self.look(accesses, key, who)

    def look(self, accesses: Accesses, key: np.ndarray, who: np.ndarray) -> None:
        """Note every cell at which two parties clash, and find the accesses for the first few."""
        clash = clashing(key, who, accesses.kind)[key]
        accesses, key, who = accesses.take(clash), key[clash], who[clash]
        if not self.each_pair:
            self.cells.update(accesses.cell.tolist())
        order = np.lexsort((accesses.clock, key))
        starts = np.r_[np.flatnonzero(np.diff(key[order], prepend=-1)), len(order)]
        for start, end in itertools.pairwise(starts):
            if len(self.races) >= self.limit and not self.each_pair:
                return
            members = order[start:end]
            pair = self.pair(accesses.take(members), who[members])
            if pair:
                self.note(int(accesses.cell[members[0]]), pair)

    def note(self, cell: int, race: Race) -> None:
        self.cells.add(cell)
        element = int(self.elements(np.array([cell]))[0])
        if element not in self.told and len(self.races) < self.limit:
            self.told.add(element)
            self.races.append(race)

    def count(self) -> int:
        """Cells with a race: elements of the first array, where units are parts of them."""
        return len(np.unique(self.elements(np.array(list(self.cells), np.int64))))

    def elements(self, cells: np.ndarray) -> np.ndarray:
        """A number for the element of the first array, block by block, that holds a unit."""
        first = self.memory.sites[0]
        block = cells // self.memory.units
        return self.memory.element(first, cells) + block * self.memory.units

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
        """Did barriers of parts of the warp come between, from one lane to the other by way of
        lanes that were in two of them?"""
        warp, block = accesses.warp[i], accesses.block[i]
        if (block, warp) != (accesses.block[j], accesses.warp[j]):
            return False
        i, j = sorted((i, j), key=lambda n: accesses.clock[n])
        reached = 1 << int(accesses.thread[i]) % WARP
        for clock, moment, members in self.launch.log.partial_syncs:
            between = accesses.clock[i] < clock < accesses.clock[j]
            if between and moment.warp == warp and block in moment.blocks:
                row = int(np.searchsorted(moment.blocks, block))
                met = members[row * WARP : (row + 1) * WARP].tolist()
                for lane in [lane for lane in range(WARP) if reached >> lane & 1]:
                    reached |= met[lane]
        return bool(reached >> int(accesses.thread[j]) % WARP & 1)

    def race(self, accesses: Accesses, i: int, j: int) -> Race:
        site = self.memory.sites[accesses.site[i]]
        cell = site.array.cell(int(self.memory.element(site, accesses.cell[i])))
        return Race(site.array.name, cell, self.access(accesses, i), self.access(accesses, j))

    def access(self, accesses: Accesses, i: int) -> Access:
        site = self.memory.sites[accesses.site[i]]
        block = coordinates(accesses.block[i], self.launch.grid)
        thread = coordinates(accesses.thread[i], self.launch.block)
        return Access(block, thread, site.line, site.access)


def coordinates(number: np.ndarray, extent: Size) -> Size:
    """(x, y, z) of a block in the grid, or of a thread in its block."""
    x, y, z = map(int, spread(number, extent))
    return x, y, z
