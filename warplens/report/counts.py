"""From logged accesses to counts: sectors, lines, banks. Definitions are those of NVIDIA's memory
system.

A request is one access of one warp. Global memory moves in sectors of 32 bytes, four to a line of
128. Shared memory has 32 banks of 4-byte words; a request takes as many wavefronts as the busiest
bank has distinct words to give, where 8-byte elements are served by half-warps and 16-byte elements
by quarter-warps. Equal words cost nothing extra, except to atomics: where threads of a warp update
one place, all of their updates occur, one after another (NVIDIA, "CUDA C++ Programming Guide", SIMT
architecture), so that a request takes as many steps as its most wanted place has threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..lanes.log import Entry, Site
from ..lanes.masks import WARP

SECTOR, LINE, BANKS, WORD = 32, 128, 32, 4
CHUNK = 2**18  # elements counted at a time: enough for NumPy to be quick, few megabytes


@dataclass(frozen=True)
class SiteCount:
    """What one line does to one array in one way; all numbers are totals over the traced blocks."""

    function: str
    line: int
    array: str
    space: str  # "global", "shared", "local", "constant"
    access: str  # "read", "write", "atomic"
    requests: int
    accesses: int  # over all threads; each of one element, or of four with load4 and store4
    bytes_asked: int  # accesses × size of one
    bytes_used: int  # each place of a request once
    sectors: int
    lines: int
    wavefronts: int = 0
    ideal: int = 0  # wavefronts without any conflict
    worst: int = 0  # of the most conflicted request: n-way
    # Sectors of requests whose threads ask for places side by side.
    ideal_sectors: int = 0
    steps: int = 0  # of atomics: one for each thread of a request that shares the busiest place
    crowd: int = 0  # the most threads of one request at one place

    @property
    def bytes_moved(self) -> int:
        return SECTOR * self.sectors


def count_site(site: Site, entries: list[Entry]) -> SiteCount:
    array, size = site.array, site.array.width
    totals = np.zeros(8, np.int64)
    worst = steps = crowd = 0
    for batch in batches(alike(site, entries)):
        request, lane, place = elements(batch)
        weight = batch[0].weight
        byte = place.astype(np.int64) * array.step + array.offset
        totals[:6] += weight * np.array(transactions(request, byte, size))
        if array.space == "shared":
            wavefronts, ideal, most = wavefronts_of(request, lane, byte, size)
            totals[6:] += weight * wavefronts, weight * ideal
            worst = max(worst, most)
        if site.access == "atomic":
            queues = queues_of(request, byte)
            steps += weight * int(queues.sum())
            crowd = max(crowd, int(queues.max()))
    requests, accesses, used, sectors, lines, side_by_side, wavefronts, ideal = map(int, totals)
    return SiteCount(
        *(site.function, site.line, array.name, array.space, site.access),
        *(requests, accesses, accesses * size, used * size),
        *(sectors, lines, wavefronts, ideal, worst, side_by_side, steps, crowd),
    )


def alike(site: Site, entries: Iterable[Entry]) -> list[Entry]:
    """One entry for all that are counted alike, weighing as much as they do together.

    Sectors, lines and banks come again after 128 bytes: so do the counts of places that lie to each
    other as those of another entry do, and whole lines further.
    """
    one: dict[tuple[int, int, int], Entry] = {}
    weights: Counter[tuple[int, int, int]] = Counter()
    for entry in entries:
        key = id(entry.pattern), id(entry.lanes), entry.first * site.array.step % LINE
        one.setdefault(key, entry)
        weights[key] += entry.weight
    heavy = [entry._replace(weight=weights[key]) for key, entry in one.items()]
    return sorted(heavy, key=lambda entry: entry.weight)


def batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Entries of a log of one weight, about `CHUNK` elements at a time."""
    held: list[Entry] = []
    size = 0
    for entry in entries:
        if held and held[0].weight != entry.weight:
            yield held
            held, size = [], 0
        held.append(entry)
        size += len(entry.lanes)
        if size > CHUNK:
            yield held
            held, size = [], 0
    if held:
        yield held


def elements(entries: list[Entry]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(request number, lane of the warp, place), element by element."""
    lanes = np.concatenate([entry.lanes for entry in entries])
    rows = max(len(entry.moment.blocks) for entry in entries)
    number, sizes = np.arange(len(entries), dtype=np.int64), [len(entry.lanes) for entry in entries]
    first = np.repeat(number * rows, sizes)
    place = np.concatenate([entry.place for entry in entries])
    return first + lanes // WARP, lanes % WARP, place


def distinct(request: np.ndarray, unit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct (request, unit) pairs, in order."""
    low = unit.min()
    span = int(unit.max() - low) + 1
    key = request * span + (unit - low)
    if np.any(key[1:] < key[:-1]):
        key = np.sort(key)
    key = key[np.r_[True, key[1:] != key[:-1]]]
    return key // span, key % span + low


def changes(request: np.ndarray, unit: np.ndarray) -> int:
    """How many distinct pairs, given in order."""
    return 1 + int(np.count_nonzero((request[1:] != request[:-1]) | (unit[1:] != unit[:-1])))


def transactions(request: np.ndarray, byte: np.ndarray, size: int) -> tuple[int, ...]:
    """(requests, accesses, distinct elements, sectors, lines, sectors were all side by side)"""
    owner, first = distinct(request, byte)
    used = len(first)
    threads = np.diff(np.flatnonzero(np.r_[True, request[1:] != request[:-1], True]))
    ideal = int(np.sum(-(-threads * size // SECTOR)))
    last = first + size - 1
    if np.any(first // SECTOR != last // SECTOR):  # elements astride a border
        owner, first = distinct(np.r_[owner, owner], np.r_[first, last])
    requests = 1 + int(np.count_nonzero(owner[1:] != owner[:-1]))
    sectors, lines = changes(owner, first // SECTOR), changes(owner, first // LINE)
    return requests, len(byte), used, sectors, lines, ideal


def wavefronts_of(
    request: np.ndarray, lane: np.ndarray, byte: np.ndarray, size: int
) -> tuple[int, int, int]:
    """(wavefronts, wavefronts without conflicts, the most of one request part)"""
    parts = max(1, size // WORD)
    part, unit = distinct(request * parts + lane * parts // WARP, byte // max(WORD, size))
    rank = np.cumsum(np.r_[0, part[1:] != part[:-1]])
    banks = BANKS // parts
    bank = (rank * banks + unit % banks).astype(np.intp)
    load = np.bincount(bank, minlength=(rank[-1] + 1) * banks)
    ways = load.reshape(-1, banks).max(axis=1)
    return int(ways.sum()), len(ways), int(ways.max())


def queues_of(request: np.ndarray, byte: np.ndarray) -> np.ndarray:
    """Per request the most threads at one place."""
    order = np.lexsort((byte, request))
    request, byte = request[order], byte[order]
    new = np.r_[True, (request[1:] != request[:-1]) | (byte[1:] != byte[:-1])]
    threads, owner = np.diff(np.r_[np.flatnonzero(new), len(byte)]), request[new]
    first = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
    longest: np.ndarray = np.maximum.reduceat(threads, first)
    return longest
