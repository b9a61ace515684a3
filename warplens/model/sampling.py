"""What a large grid does, told from a few of its blocks: accesses by line, what neighbors share.

One block in the middle is traced, and its neighbors along x, y and z. What two neighbors both fetch
need not come from far away twice: so the overlap tells how much the whole grid fetches, and how
much those blocks do that run at one time.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

import numpy as np

from warplens.lanes.launch import Launch
from warplens.lanes.log import Entry, Site
from warplens.lanes.memory import Array
from warplens.report.counts import LINE, SECTOR, distinct, elements, transactions, wavefronts_of
from warplens.report.traces import Trace

ITERATIONS = 16  # of a long loop, run at its beginning; and the last one
TAG_SETS = 4  # of an L1 cache: it looks up a line of each in a clock
WARPS = 32  # of a block, at most
WIDTHS = (4, 8, 16)  # bytes that a thread may ask for in one request
# Cache lines of a request: from here on the memory's pages are assumed to decide; but not where the
# same warp writes, or the same block reads, more than half of each sector.
SCATTERED, HALF = 16, 0.5


def chosen(grid: tuple[int, int, int]) -> list[tuple[int, ...]]:
    """The blocks to trace: one in the middle of a grid, and its next neighbor along each axis."""
    middle = [(n - 1) // 2 for n in grid]
    along = [axis for axis, n in enumerate(grid) if n > 1]
    nexts = (tuple(at + (i == axis) for i, at in enumerate(middle)) for axis in along)
    return [tuple(middle), *nexts]


@dataclass(frozen=True)
class Line:
    """What an average warp does to one array at one line of the kernel, over all its iterations.

    What a device function does counts where the kernel calls it.
    """

    line: int
    array: str
    memory: int  # that it lies in: several arrays may share it
    space: str  # "global" or "shared"
    access: str  # "read", "write" or "atomic"
    requests: float
    bytes: float  # that a thread asks for: of each request, the width of an element
    sectors: float  # of 32 bytes, request by request
    cache_lines: float  # of 128 bytes, likewise
    tags: float  # clocks in which L1 looks up the lines of all requests
    wavefronts: tuple[float, ...]  # where a thread asks for 4, 8 or 16 bytes at a time
    contended: bool  # do two threads of a block update one element?
    queue: float  # how often an average block asks to update the element that most blocks want


@dataclass(frozen=True)
class Footprint:
    """The distinct sectors of one memory that a block touches, and what its neighbors share."""

    memory: int
    access: str
    sectors: float
    shared: tuple[float, ...]  # the part that the next block along x, y, z touches too
    whole: float  # sectors of that memory
    filled: float  # of the sectors that a block reads or a warp writes, how much it does of them

    def union(self, blocks: tuple[float, ...]) -> float:
        """The distinct sectors of so many blocks along x, y and z: all there are, at most.

        Blocks far apart may share too, in a grid of one dimension over an array of several.
        """
        grown = [1 + (n - 1) * (1 - part) for n, part in zip(blocks, self.shared, strict=True)]
        return min(self.whole, self.sectors * math.prod(grown))


@dataclass(frozen=True)
class Sample:
    """A launch, as its sampled blocks tell it."""

    trace: Trace
    warps: int  # of a block
    lines: tuple[Line, ...]
    footprints: tuple[Footprint, ...]
    array_bytes: int  # of all the arrays that it touches

    @property
    def blocks(self) -> int:
        """Of the whole grid."""
        return math.prod(self.trace.grid)

    @property
    def unlike(self) -> float:
        """How often the work of the blocks that were traced the first or last block has."""
        launch = self.trace.launch
        return max(launch.ends, default=0) * len(launch.blocks) / max(1, launch.log.slots)

    def scatters(self, line: Line) -> bool:
        """Do its requests take many cache lines each, of which nobody near needs the rest?"""
        where = line.memory, line.access
        near = (f.filled for f in self.footprints if (f.memory, f.access) == where)
        return line.cache_lines >= SCATTERED * line.requests and all(x <= HALF for x in near)

    def requested(self, memory: int, access: str) -> float:
        """Sectors that a block's threads ask for, request by request."""
        asked = [x.sectors for x in self.lines if (x.memory, x.access) == (memory, access)]
        return self.warps * sum(asked)


def sampled(trace: Trace) -> Sample:
    """The Sample of a Trace of the blocks that `chosen` names, in this order, or of all."""
    launch = trace.launch
    warps = -(-launch.threads // 32)
    found: dict[tuple[int, Array, str], list[Entry]] = defaultdict(list)
    touched: dict[int, Array] = {}  # memory → the first array seen there: views have one footprint
    for site, entries in launch.log.sites.items():
        if site.array.space == "global":
            touched.setdefault(id(site.array.origin), site.array)
        if site.array.space in ("global", "shared"):
            for entry in once_each(entries) if site.access == "read" else entries:
                found[entry.kernel_line or site.line, site.array, site.access].append(entry)
    lines = [
        measured(line, array, access, entries, warps * trace.blocks)
        for (line, array, access), entries in found.items()
    ]
    return Sample(
        *(trace, warps, tuple(lines), tuple(footprints(launch))),
        sum(math.prod(a.shape) * a.dtype.itemsize for a in touched.values()),
    )


def once_each(entries: list[Entry]) -> Iterator[Entry]:
    """Reads without those that a compiler leaves out: the same place again, as in x[i] * x[i]."""
    before: list[Entry] = []
    for entry in entries:
        # In the same straight run of code, run once, lanes are the same too.
        if before and (before[0].stretch != entry.stretch or before[0].moment is not entry.moment):
            before = []
        if not any(np.array_equal(entry.place, other.place) for other in before):
            before.append(entry)
            yield entry


def measured(line: int, array: Array, access: str, entries: list[Entry], warps: int) -> Line:
    """The Line of these accesses of so many warps."""
    totals = np.zeros(8)
    for weight, group in by_weight(entries):
        request, lane, place = elements(list(group))
        byte = place.astype(np.int64) * array.step + array.offset
        requests, _, _, sectors, *more = transactions(request, byte, array.width)
        counts = [requests, requests * array.width, 0, 0, 0]
        if array.space == "global":
            counts[2:] = sectors, more[0], tag_clocks(request, byte)
        # Requests that a compiler joins ask for the bytes beside them, fewer times.
        for size in (max(array.width, size) for size in WIDTHS):
            fronts = wavefronts_of(request, lane, byte, size)[0]
            counts.append(fronts * array.width / size)
        totals += weight * np.array(counts)
    requests, width, sectors, touched, tags, *wavefronts = (totals / warps).tolist()
    return Line(
        *(line, array.name, id(array.origin), array.space, access, requests, width),
        *(sectors, touched, tags, tuple(wavefronts)),
        *(queue_of(entries) if access == "atomic" else (False, 0.0)),
    )


def queue_of(entries: list[Entry]) -> tuple[bool, float]:
    """(does a block update an element twice, the longest queue at one, by an average block)"""
    request, _, place = elements(entries)
    block = np.concatenate([entry.moment.blocks[entry.lanes // 32] for entry in entries])
    cells = np.unique([place, block], axis=1)
    _, blocks = np.unique(cells[0], return_counts=True)
    _, times = np.unique(np.unique([place, block, request], axis=1)[0], return_counts=True)
    traced = len(np.unique(block))
    common = times[blocks > min(1, traced - 1)]  # of one block all, of several those they share
    return len(place) > cells.shape[1], float(common.max(initial=0)) / traced


def by_weight(entries: Iterable[Entry]) -> Iterator[tuple[int, Iterator[Entry]]]:
    weight = attrgetter("weight")
    return groupby(sorted(entries, key=weight), key=weight)


def tag_clocks(request: np.ndarray, byte: np.ndarray) -> int:
    """Clocks to look up the distinct lines of each request: of one tag set, one a clock.

    A line's set is its number's digits to the base 4, added without carry: so say the lookups that
    te42kyfo/gpu-benches (gpu-strides, commit 1c36d509) counted on an A100, an A40 and an H200.
    """
    owner, line = distinct(request, byte // LINE)
    tag_set = np.bitwise_xor.reduce([line >> shift for shift in range(0, 40, 2)]) % TAG_SETS
    rank = np.cumsum(np.r_[0, owner[1:] != owner[:-1]])
    of_each = (rank * TAG_SETS + tag_set).astype(np.intp)
    load = np.bincount(of_each, minlength=(rank[-1] + 1) * TAG_SETS)
    return int(load.reshape(-1, TAG_SETS).max(axis=1).sum())


# -- What neighbors share.


def footprints(launch: Launch) -> list[Footprint]:
    """The Footprint of each memory, for each kind of access."""
    found: dict[tuple[int, str], list[np.ndarray]] = defaultdict(list)
    whole: dict[int, float] = defaultdict(float)
    for site, entries in launch.log.sites.items():
        if site.array.space == "global":
            memory = id(site.array.origin)
            whole[memory] = max(whole[memory], extent_of(site.array))
            for weight, group in by_weight(entries):
                part = touched(site, group, launch), weight, site.array.width
                found[memory, site.access].append(np.stack(np.broadcast_arrays(*part)))
    return [footprint(*where, parts, launch, whole[where[0]]) for where, parts in found.items()]


BLOCK = 2**40  # a key is the number of a block or warp among those traced × this + a byte


def touched(site: Site, entries: Iterable[Entry], launch: Launch) -> np.ndarray:
    """Distinct keys of what some accesses touch: by block, or where they write, by warp."""
    parts = []
    for entry in entries:
        byte = entry.place.astype(np.int64) * site.array.step + site.array.offset
        block = np.searchsorted(launch.blocks, entry.moment.blocks).astype(np.int64)
        owner = block[entry.lanes // 32] * WARPS
        owner += entry.moment.warp if site.access == "write" else 0
        parts.append(np.unique(owner * BLOCK + byte))
    return np.unique(np.concatenate(parts))


def extent_of(array: Array) -> float:
    """Sectors from an array's first byte to its last."""
    ends = [abs(stride) * (n - 1) for n, stride in zip(array.shape, array.strides, strict=True)]
    return (sum(ends) * array.step + array.dtype.itemsize) / SECTOR + 1


def footprint(
    memory: int, access: str, parts: list[np.ndarray], launch: Launch, whole: float
) -> Footprint:
    keys, weights, widths = np.concatenate(parts, axis=1)
    own = distinct_sum(keys, weights * widths)
    keys, weights = np.r_[keys, keys + widths - 1], np.r_[weights, weights]  # it may lie astride
    filled = own / SECTOR / distinct_sum(keys // SECTOR, weights)
    block, byte = keys // (WARPS * BLOCK), keys % BLOCK
    x, y, _ = launch.grid
    numbers = [i + x * (j + y * k) for i, j, k in chosen(launch.grid)]
    sides = (block == place for place in np.searchsorted(launch.blocks, numbers))
    here, *others = ((byte[side], weights[side]) for side in sides)
    shared = tuple(part_shared(here, others.pop(0)) if n > 1 else 0.0 for n in launch.grid)
    # An average block's, as requests are: blocks of one launch may do different things.
    average = distinct_sum(block * BLOCK + byte // SECTOR, weights) / len(launch.blocks)
    return Footprint(memory, access, average, shared, whole, filled)


def distinct_sum(place: np.ndarray, amount: np.ndarray) -> float:
    """Each place stands for as much as its lightest turn: what every turn touches is one."""
    order = np.argsort(amount, kind="stable")
    _, first = np.unique(place[order], return_index=True)
    return float(amount[order][first].sum())


Touched = tuple[np.ndarray, np.ndarray]  # bytes and their weights


def part_shared(here: Touched, neighbor: Touched) -> float:
    """The part of a block's sectors that an average block shares with its neighbor.

    If that does the same some bytes further on, then as many are asked as it takes to come to the
    same place in a sector: of blocks half a sector wide every second one shares with its neighbor.
    """
    byte, weight = here
    away = neighbor[0] - byte if len(neighbor[0]) == len(byte) else np.arange(2)
    alike = bool(np.all(away == away[:1])) and len(byte) > 0
    steps = SECTOR // math.gcd(int(away[0]), SECTOR) if alike else 1
    row = [(byte + n * away[0], weight) for n in range(1, steps + 1)] if alike else [neighbor]
    groups = here, row[-1], map(np.concatenate, zip(here, *row, strict=True))
    own, last, together = (distinct_sum(place // SECTOR, weight) for place, weight in groups)
    return 1 - (together - last) / steps / own if own else 0.0
