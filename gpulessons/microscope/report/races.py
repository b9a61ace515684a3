"""Races: two threads, one cell, at least one write, and nothing that orders them.

Threads of a block are ordered by its barriers, threads of a warp by `syncwarp` too, threads of
different blocks only by a grid barrier. Two atomics never race; an atomic and a plain access do.
Order made by memory fences is not followed: where a kernel uses them, blocks are not compared (and
a caution says so).
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from typing import NamedTuple

import numpy as np

from ..lanes.masks import WARP
from ..lanes.warps import spread
from .counts import CHUNK
from .racing import Race, Races, Touch

KINDS = ("read", "write", "atomic")


class Touches(NamedTuple):
    """Accesses to one memory, element by element."""

    cell: np.ndarray  # byte address; in shared memory, with the block's number before it
    block: np.ndarray
    slot: np.ndarray  # the warp's number in its block
    thread: np.ndarray  # number in its block
    kind: np.ndarray  # index into KINDS
    epoch: np.ndarray  # barriers of the block
    warp_epoch: np.ndarray
    grid_epoch: np.ndarray
    clock: np.ndarray
    site: np.ndarray  # index into the sites of this memory

    def take(self, which):
        return Touches(*(column[which] for column in self))


def find_races(launch, limit: int) -> Races:
    """The first `limit` racy cells, and how many there are."""
    found, cells = [], 0
    for sites in memories(launch.log.sites):
        touches = suspects(launch.log.sites, sites)
        search = Search(launch, sites, touches, limit)
        found, cells = found + search.races, cells + len(search.cells)
    return Races(tuple(varied(found)[:limit]), cells)


def varied(races):
    """One race of each kind (arrays and lines) first, so that the first few tell most."""
    first = list({(race.array, race.lines): race for race in reversed(races)}.values())[::-1]
    return first + [race for race in races if race not in first]


def memories(sites):
    """Sites by the memory they touch: memory that threads share and something writes."""
    groups = defaultdict(list)
    for site in sites:
        if site.array.space in ("global", "shared"):
            groups[id(site.array.origin)].append(site)
    return [group for group in groups.values() if any(s.access != "read" for s in group)]


def suspects(log_sites, sites) -> Touches:
    """Every access to a cell that something writes while no barrier orders all of them."""
    writes = [
        chunk for site in sites if site.access != "read" for chunk in gather(log_sites, sites, site)
    ]
    written = np.unique(np.concatenate([meeting(chunk, sites) for chunk in writes]))
    kept = list(writes)
    for site in sites:
        if site.access == "read":
            for chunk in gather(log_sites, sites, site):
                kept.append(chunk.take(np.isin(meeting(chunk, sites), written)))
    return Touches(*map(np.concatenate, zip(*kept, strict=True)))


def meeting(touches, sites):
    """A number for the cell and the time between barriers in which two accesses could clash.

    Numbers may coincide, which only lets more accesses through to the search.
    """
    shared = sites[0].array.space == "shared"
    return touches.cell * 2**20 + (touches.epoch if shared else touches.grid_epoch)


def gather(log_sites, sites, site):
    """The accesses of one site, a quarter of a million at a time."""
    held, size = [], 0
    for access in log_sites[site]:
        held.append(access)
        size += len(access.place)
        if size > CHUNK:
            yield element_by_element(joined(held, sites, site), site)
            held, size = [], 0
    if held:
        yield element_by_element(joined(held, sites, site), site)


def joined(accesses, sites, site) -> Touches:
    sizes = [len(a.lanes) for a in accesses]

    def per_row(name):
        return np.concatenate([getattr(a.moment, name)[a.lanes // WARP] for a in accesses])

    def per_access(values):
        return np.repeat(np.array(list(values), np.int32), sizes)

    lanes, block = np.concatenate([a.lanes for a in accesses]), per_row("blocks")
    slot = per_access(a.moment.slot for a in accesses)
    cell = np.concatenate([a.place for a in accesses]).astype(np.int64) * site.array.step
    shared = site.array.space == "shared"
    return Touches(
        cell=cell + (block << 18 if shared else site.array.address),
        block=block,
        slot=slot,
        thread=slot * WARP + lanes % WARP,
        kind=per_access(KINDS.index(site.access) for _ in accesses),
        epoch=per_row("block_epoch"),
        warp_epoch=per_row("warp_epoch"),
        grid_epoch=per_access(a.moment.grid_epoch for a in accesses),
        clock=per_access(a.clock for a in accesses),
        site=per_access(sites.index(site) for _ in accesses),
    )


def element_by_element(touches, site) -> Touches:
    """A wide access touches each of its elements."""
    size, count = site.array.dtype.itemsize, site.array.width // site.array.dtype.itemsize
    if count == 1:
        return touches
    each = Touches(*(np.repeat(column, count) for column in touches))
    return each._replace(cell=each.cell + np.tile(np.arange(count) * size, len(touches.cell)))


def group(*columns):
    """Elements that agree in all columns get one number."""
    number = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values = np.unique(column, return_inverse=True)[1]
        pair = number * (int(values.max(initial=0)) + 1) + values
        number = np.unique(pair, return_inverse=True)[1]
    return number


def clashing(key, who, kind):
    """The groups in which two parties meet, one of them writing and not both atomic."""
    count = int(key.max(initial=-1)) + 1
    first = np.empty(count, who.dtype)
    first[key] = who
    mixed, *seen = (np.zeros(count, bool) for _ in range(4))
    mixed[key[first[key] != who]] = True
    for code, flags in enumerate(seen):
        flags[key[kind == code]] = True
    reads, writes, atomics = seen
    return mixed & (writes | (atomics & reads))


class Search:
    """The races of one memory: between blocks, between warps, between lanes."""

    def __init__(self, launch, sites, touches, limit):
        self.launch, self.sites, self.limit = launch, sites, limit
        self.races: list[Race] = []
        self.cells, self.seen = set(), set()
        t = touches
        in_block = t.block, t.cell, t.epoch
        self.look(t, group(*in_block), t.slot)
        self.look(t, group(*in_block, t.slot, t.warp_epoch), t.thread)
        if sites[0].array.space == "global" and not launch.log.fenced:
            self.look(t, group(t.cell, t.grid_epoch), t.block)

    def look(self, t, key, who):
        """Note every cell at which two parties clash, and find the accesses for the first few."""
        clash = clashing(key, who, t.kind)
        t, key, who = (x.take(clash[key]) if x is t else x[clash[key]] for x in (t, key, who))
        if not self.launch.log.partial:
            self.cells.update(t.cell.tolist())
        order = np.lexsort((t.clock, key))
        starts = np.r_[np.flatnonzero(np.diff(key[order], prepend=-1)), len(order)]
        for start, end in itertools.pairwise(starts):
            if len(self.races) >= self.limit and not self.launch.log.partial:
                return
            members = order[start:end]
            pair = self.pair(t.take(members), who[members])
            if pair and (pair.array, pair.cell) not in self.seen:
                self.seen.add((pair.array, pair.cell))
                self.cells.add(int(t.cell[members[0]]))
                self.races.append(pair)

    def pair(self, t, who):
        """The first two accesses of a group that clash."""
        for i in np.flatnonzero(t.kind > 0):
            others = (who != who[i]) & ~((t.kind == 2) & (t.kind[i] == 2))
            for j in np.flatnonzero(others):
                if not self.ordered(t, i, j):
                    first, second = sorted((i, j), key=lambda n: (t.clock[n], n))
                    return self.race(t, first, second)
        return None

    def ordered(self, t, i, j) -> bool:
        """Did a barrier of part of the warp, with both lanes in it, come between?"""
        if (t.block[i], t.slot[i]) != (t.block[j], t.slot[j]):
            return False
        early, late = sorted((t.clock[i], t.clock[j]))
        for clock, moment, masks in self.launch.log.partial:
            if early < clock < late and moment.slot == t.slot[i] and t.block[i] in moment.blocks:
                row = int(np.searchsorted(moment.blocks, t.block[i]))
                mask = int(masks[row * WARP + t.thread[i] % WARP])
                if mask >> int(t.thread[j] % WARP) & 1:
                    return True
        return False

    def race(self, t, i, j) -> Race:
        site = self.sites[t.site[i]]
        byte = int(t.cell[i]) - (
            int(t.block[i]) << 18 if site.array.space == "shared" else site.array.address
        )
        return Race(
            site.array.name,
            site.array.cell(byte // site.array.step),
            self.touch(t, i),
            self.touch(t, j),
        )

    def touch(self, t, i) -> Touch:
        site = self.sites[t.site[i]]
        block, thread = (
            tuple(int(c) for c in spread(np.array(n), size))
            for n, size in ((t.block[i], self.launch.grid), (t.thread[i], self.launch.block))
        )
        return Touch(block, thread, site.line, site.access)
