"""What every warp did, as it happened: accesses, branches, blocks of code, arithmetic, cautions.

An access of a warp is kept as arrays, never as objects per thread: the places that its active lanes
meant, four bytes each, with the lanes themselves and the moment (which warp, behind how many
barriers) shared between accesses.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

from .masks import WARP
from .memory import Array

MEMORY_LIMIT = 2**31  # bytes of log
OVERHEAD = 300  # bytes of one access beside its places
TENSOR_CORES = "tensor cores"  # in place of a dtype: FLOPs of matrix instructions
MARKED = 100_000  # runs of code of the first block that are kept for pictures


class Moment(NamedTuple):
    """When and where: which warp, of which blocks, behind how many barriers."""

    slot: int
    blocks: np.ndarray  # per row (warp): the linear number of its block
    block_epoch: np.ndarray  # per row: barriers passed by the block
    warp_epoch: np.ndarray  # per row: barriers passed by the whole warp
    grid_epoch: int


class Access(NamedTuple):
    """One access by the active lanes of one or more warps: place and lane, element by element."""

    clock: int
    place: np.ndarray  # (n,) places in units of the array's step
    lanes: np.ndarray  # (n,) lane numbers; lane // 32 is the row
    moment: Moment


class Site(NamedTuple):
    """A place in the source that reads, writes or updates one array."""

    function: str
    line: int
    array: Array
    access: str


class Log:
    def __init__(self):
        self.sites: dict[Site, list[Access]] = defaultdict(list)
        self.branches = defaultdict(lambda: [0, 0])  # (function, line) → instances, divergent
        self.code = defaultdict(lambda: [0, 0])  # (function, line) → slots, active lanes
        self.flops = Counter()  # (function, line, dtype or TENSOR_CORES) → operations
        self.cautions = Counter()  # (kind, line, text) → times
        self.partial: list[tuple] = []  # barriers of part of a warp: (clock, moment, lane masks)
        self.marks: list[tuple] = []  # in the first block: (clock, slot, function, line, lanes)
        self.fenced = False
        self.clock = self.bytes = 0

    def access(self, w, array, access, place):
        mask = w.mask
        if type(place) is int:
            place = np.full(mask.count, place, np.int32)
        else:
            place = place if mask.full else np.broadcast_to(place, mask.bits.shape)[mask.lanes]
            place = np.broadcast_to(place, (mask.count,)).astype(np.int32)
        self.clock += 1
        self.bytes += place.nbytes + OVERHEAD
        if self.bytes > MEMORY_LIMIT:
            raise MemoryError(
                "the trace outgrows 2 GiB: trace fewer blocks, as in trace(kernel, blocks={0})"
            )
        self.sites[Site(w.function, w.line, array, access)].append(
            Access(self.clock, place, mask.lanes, w.moment)
        )

    def branch(self, w, warps: int, divergent: int):
        counts = self.branches[w.function, w.line]
        counts[0] += warps
        counts[1] += divergent

    def enter(self, w):
        """A straight run of code begins."""
        mask = w.mask
        counts = self.code[w.function, w.line]
        counts[0] += mask.warps * WARP
        counts[1] += mask.count
        if w.first and len(self.marks) < MARKED and mask.rows[0]:
            bits = int.from_bytes(
                np.packbits(mask.bits[:WARP], bitorder="little").tobytes(), "little"
            )
            self.clock += 1
            self.marks.append((self.clock, w.slot, w.function, w.line, bits))
