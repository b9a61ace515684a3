"""What every warp did, as it happened: accesses, branches, blocks of code, arithmetic, cautions.

An access of a warp is kept as arrays, never as objects per thread: the places that its active lanes
meant, four bytes each, with the lanes themselves and the moment (which warp, behind how many
barriers) shared between accesses. Where a warp comes by again and means places that lie to each
other as they did the time before, as in nearly all loops, these are shared, too: what is new is one
number, how far all of them have moved.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ..faults import Misaligned, TooLarge
from .masks import WARP
from .memory import VERBS, Array, short

if TYPE_CHECKING:
    from .warps import Warps

MEMORY_LIMIT = 2**31  # bytes of log: 2 GiB, what a small machine can spare
TOO_LARGE = ("a trace of more than 2 GiB: trace a few blocks, as in trace(…, blocks={0}), or a few "
             "iterations of long loops, as in trace(…, iterations=16)")  # fmt: skip
OVERHEAD = 300  # bytes of one entry beside its places
TENSOR_CORES = "tensor cores"  # in place of a dtype: FLOPs of matrix instructions
RUNS_KEPT = 100_000  # runs of code of the first block, for pictures


class Moment(NamedTuple):
    """When and where: which warp, of which blocks, behind how many barriers."""

    warp: int  # its number in its block
    blocks: np.ndarray  # per row (warp): the linear number of its block
    block_epoch: np.ndarray  # per row: barriers passed by the block
    warp_epoch: np.ndarray  # per row: barriers passed by the whole warp


class Entry(NamedTuple):
    """One access by the active lanes of one or more warps: place and lane, element by element."""

    clock: int
    first: int  # the place of the first active lane, in units of the array's step
    pattern: np.ndarray  # (n,) how far each place lies behind the first
    lanes: np.ndarray  # (n,) lane numbers; lane // 32 is the row
    moment: Moment
    weight: int = 1  # the iterations of sampled loops that it stands for
    kernel_line: int | None = None  # in a device function: where the kernel called
    stretch: int = 0  # the number of the straight run of code that it belongs to

    @property
    def place(self) -> np.ndarray:
        """(n,) places in units of the array's step."""
        return self.pattern + self.first


class Site(NamedTuple):
    """A place in the source that reads, writes or updates one array."""

    function: str
    line: int
    array: Array
    access: str


class Run(NamedTuple):
    """A straight run of code, begun by a warp of the first block."""

    clock: int
    warp: int
    function: str
    line: int
    lanes: int  # bit by bit, those that are active


Place = tuple[str, int]  # function and line


class Log:
    def __init__(self) -> None:
        self.sites: dict[Site, list[Entry]] = defaultdict(list)
        self.latest: dict[tuple[Site, int], Entry] = {}  # by the warp's number
        self.branches: dict[Place, list[int]] = defaultdict(lambda: [0, 0])  # instances, divergent
        self.code: dict[Place, list[int]] = defaultdict(lambda: [0, 0])  # slots, active lanes
        self.flops: Counter[tuple[str, int, str]] = Counter()  # …, dtype or TENSOR_CORES
        self.extrema: Counter[tuple[str, int, str]] = Counter()  # min and max in doubles: no FLOPs
        self.cautions: Counter[tuple[str, int, str]] = Counter()  # kind, line, text
        self.doers: dict[tuple[str, int, str], str] = {}  # of cautions, which thread was the first
        # What warps do, by the kernel's own line, whatever their lanes: "branches" they come to,
        # "flops", and "functions" (exp, a division), of which the source does not say the cost.
        self.by_kernel_line: Counter[tuple[int, str]] = Counter()
        self.partial_syncs = False  # of part of a warp: whom they order is not followed
        self.runs: list[Run] = []
        self.fenced = False
        self.clock = self.bytes = self.stretch = 0

    def access(self, w: Warps, array: Array, access: str, place: Any) -> None:
        mask = w.mask
        if not isinstance(place, np.ndarray):
            first, pattern = int(place), np.zeros(mask.count, np.int32)
        else:
            if not mask.full:
                place = np.broadcast_to(place, mask.bits.shape)[mask.lanes]
            first = int(place.flat[0])
            pattern = (place - first).astype(np.int32)
            if len(pattern) != mask.count:
                pattern = np.broadcast_to(pattern, (mask.count,))
        lanes, site = mask.lanes, Site(w.function, w.line, array, access)
        # What this warp, or the one before it, did here last.
        before = self.latest.get((site, w.warp)) or self.latest.get((site, w.warp - 1))
        if before and same(before.lanes, lanes):
            lanes = before.lanes
            pattern = before.pattern if same(before.pattern, pattern) else pattern
        self.clock += 1
        entries = self.sites[site]
        if array.astray and not entries:
            check_astray(w, array, access)
        entry = Entry(
            *(self.clock, first, pattern, lanes, w.moment),
            *(w.weight, w.kernel_line, self.stretch),
        )
        self.latest[site, w.warp] = entry
        entries.append(entry)
        self.bytes += OVERHEAD + (0 if before and pattern is before.pattern else pattern.nbytes)
        if self.bytes > MEMORY_LIMIT:
            raise TooLarge(TOO_LARGE, w.line, w.function)

    @property
    def slots(self) -> int:
        """Of all straight runs of code: how much there is to do, whatever it is."""
        return sum(slots for slots, _ in self.code.values())

    def branch(self, w: Warps, warps: int, divergent: int) -> None:
        counts = self.branches[w.function, w.line]
        counts[0] += w.weight * warps
        counts[1] += w.weight * divergent
        self.by_kernel_line[w.kernel_line or w.line, "branches"] += w.weight * warps

    def enter(self, w: Warps) -> None:
        """A straight run of code begins."""
        self.stretch += 1
        mask = w.mask
        counts = self.code[w.function, w.line]
        counts[0] += w.weight * mask.warps * WARP
        counts[1] += w.weight * mask.count
        if w.holds_first_block and len(self.runs) < RUNS_KEPT and mask.rows[0]:
            packed = np.packbits(mask.bits[:WARP], bitorder="little")
            lanes = int.from_bytes(packed.tobytes(), "little")
            self.clock += 1
            self.runs.append(Run(self.clock, w.warp, w.function, w.line, lanes))


def check_astray(w: Warps, array: Array, access: str) -> NoReturn:
    """Raise Misaligned for the first thread that touches an array."""
    block, thread = w.coordinates(int(w.mask.lanes[0]))
    text = (
        f"line {w.line}: thread {short(thread)} of block {short(block)} {VERBS[access]} "
        f"{array.name}, whose elements do not begin at multiples of {array.dtype.alignment} bytes "
        "(a GPU stops the kernel)"
    )
    details = {"array": array.name, "shape": array.shape, "block": block, "thread": thread}
    raise Misaligned(text, w.line, **details, access=access)


def same(one: np.ndarray, other: np.ndarray) -> bool:
    return one is other or (len(one) == len(other) and bool((one == other).all()))
