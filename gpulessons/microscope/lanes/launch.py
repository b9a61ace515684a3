"""Running a grid: batches of blocks, their warps in turn, and the barriers at which they meet.

The order is fixed, so that a kernel with a race gives the same wrong answer every time. Blocks run
in batches of up to `BATCH` (one by one in a kernel that swaps values, since it may wait for another
block); in a batch the first warps of all blocks run together until they wait at a barrier or
return, then the second warps, and so on; then round again. Within a warp, each statement runs for
all active lanes before the next one, and of several lanes that write one cell the highest wins.
"""

from __future__ import annotations

import math
import operator
from typing import NamedTuple

import numpy as np

from ..faults import KernelFault, LaunchError, PartialBarrier, Unsupported
from .log import Log
from .masks import WARP
from .memory import Array, short
from .warps import Warps

BATCH = 1024  # blocks run together
SHARED_LIMIT = 48 * 1024  # bytes of shared memory a block gets on every GPU without asking for more
BLOCK_LIMIT = (1024, 1024, 64)
GRID_LIMIT = (2**31 - 1, 65535, 65535)


def extent(value, what: str) -> tuple[int, int, int]:
    """A launch size as three numbers."""
    try:
        sizes = tuple(
            operator.index(v) for v in (value if isinstance(value, (tuple, list)) else (value,))
        )
    except TypeError:
        raise TypeError(
            f"{what} must be a whole number or up to three of them, not {value!r}"
        ) from None
    if not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise LaunchError(f"{what} must be one to three numbers of at least 1, not {value!r}")
    return sizes + (1,) * (3 - len(sizes))


class Launch:
    """One launch under the microscope: its sizes, its log, the arrays the kernel makes."""

    def __init__(self, function, grid, block, dynamic_shared=0, blocks=None):
        self.function = function
        self.grid, self.block = extent(grid, "the grid"), extent(block, "the block")
        self.threads = math.prod(self.block)
        self.dynamic_shared = int(dynamic_shared)
        self.blocks = self.chosen(blocks)
        self.first = int(self.blocks[0])
        self.log, self.own = Log(), {}
        self.dynamic = Array("dynamic shared memory", "shared", (self.dynamic_shared,), np.uint8)
        self.check_limits()

    def check_limits(self):
        if self.threads > 1024:
            raise LaunchError(
                f"a block of {self.threads:,} threads: a GPU allows at most 1,024",
                threads=self.threads,
            )
        for what, sizes, limits in (
            ("block", self.block, BLOCK_LIMIT),
            ("grid", self.grid, GRID_LIMIT),
        ):
            if any(size > limit for size, limit in zip(sizes, limits, strict=True)):
                raise LaunchError(f"a {what} of {sizes}: a GPU allows at most {limits}")
        self.check_shared(None)

    def check_shared(self, line):
        static = [a for a in self.own.values() if a.space == "shared" and a.origin is a]
        used = self.dynamic_shared + sum(math.prod(a.shape) * a.dtype.itemsize for a in static)
        if used > SHARED_LIMIT:
            text = f"{used:,} bytes of shared memory in a block: a GPU gives {SHARED_LIMIT:,}"
            raise LaunchError(text, line, shared=used)

    def chosen(self, blocks):
        total = math.prod(self.grid)
        if blocks is None:
            return np.arange(total)
        x, y, _ = self.grid
        linear = {
            sum(operator.index(i) * s for i, s in zip(block, (1, x, x * y), strict=False))
            for block in (b if isinstance(b, tuple) else (b,) for b in blocks)
        }
        if not linear or min(linear) < 0 or max(linear) >= total:
            raise ValueError(
                f"blocks={blocks!r} are not all in a grid of {total} blocks (numbered from 0)"
            )
        return np.array(sorted(linear))

    def own_array(self, site, name, space, shape, dtype) -> Array:
        if site not in self.own:
            self.own[site] = Array(name, space, shape, dtype)
        return self.own[site]

    def shared_array(self, site, name, shape, dtype, dynamic) -> Array:
        new = site not in self.own
        if dynamic:
            shape = (self.dynamic_shared // dtype.itemsize,)
            if new:
                self.own[site] = Array(name, "shared", shape, dtype, origin=self.dynamic)
            return self.own[site]
        array = self.own_array(site, name, "shared", shape, dtype)
        if new:
            self.check_shared(site[1])
        return array

    def run(self, program, names, arguments):
        """Run a compiled kernel whose code, and its device functions', speaks of these names."""
        self.locks = bool(names & {"cas", "compare_and_swap", "exch"})
        size = len(self.blocks) if "this_grid" in names else 1 if self.locks else BATCH
        with np.errstate(all="ignore"):
            for start in range(0, len(self.blocks), size):
                self.run_batch(program, arguments, self.blocks[start : start + size])

    def run_batch(self, program, arguments, blocks):
        shared = {}
        warps = [Warps(self, slot, blocks, shared) for slot in range(-(-self.threads // WARP))]
        runs = [program(w, *arguments) for w in warps]
        answers = dict.fromkeys(range(len(runs)))
        waiting = {}
        while answers:
            for slot, answer in answers.items():
                barrier = advance(runs[slot], answer, warps[slot])
                if barrier is None:
                    warps[slot].alive = warps[slot].nobody
                else:
                    waiting[slot] = barrier
            answers = released(warps, waiting)


def advance(run, answer, w):
    """Run warps up to their next barrier, or None at the end; give refusals their line."""
    try:
        return run.send(answer)
    except StopIteration:
        return None
    except Unsupported as refusal:
        if refusal.line is None:
            raise Unsupported(refusal.what, w.line, w.function) from None
        raise
    except KernelFault:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise Unsupported(f"this line ({error})", w.line, w.function) from error


class Votes(NamedTuple):
    """What a barrier with a predicate answers, per block: lanes for it, lanes asked."""

    yes: np.ndarray
    total: np.ndarray


def per_row(bits):
    return np.count_nonzero(bits.reshape(-1, WARP), axis=1)


def released(warps, waiting) -> dict:
    """The warps whose barrier is complete, with its votes; an error when all wait and none is."""
    if not waiting:
        return {}
    alive = sum(per_row(w.alive.bits) for w in warps)
    reached = {slot: per_row(barrier.mask.bits) for slot, barrier in waiting.items()}
    complete = sum(reached.values()) == alive
    check_lines(warps[0], waiting, reached)
    ready = {}
    for slot, barrier in waiting.items():
        rows = reached[slot] > 0
        if complete[rows].all() and (barrier.scope == "block" or complete.all()):
            ready[slot] = barrier
    if not ready:
        partial_barrier(warps, waiting, reached, alive, complete)
    yes = sum(
        per_row(b.predicate & b.mask.bits) for b in waiting.values() if b.predicate is not None
    )
    note_early_returns(warps, ready, alive, sum(reached[slot] for slot in ready) > 0)
    for slot in ready:
        waiting.pop(slot)
    return {slot: Votes(yes, alive) for slot in sorted(ready)}


def check_lines(w, waiting, reached):
    """All warps of a block must wait at the same line."""
    if len({barrier.line for barrier in waiting.values()}) == 1:
        return
    for row in range(len(w.blocks)):
        if len(lines_at(row, waiting, reached)) > 1:
            raise_partial(w, row, waiting, reached, w.launch.threads)


def partial_barrier(warps, waiting, reached, alive, complete):
    row = int(np.argmax(~complete & (sum(reached.values()) > 0)))
    raise_partial(warps[0], row, waiting, reached, int(alive[row]))


def lines_at(row, waiting, reached) -> list[int]:
    """The lines at which warps of a block wait."""
    return sorted({barrier.line for slot, barrier in waiting.items() if reached[slot][row]})


def raise_partial(w, row, waiting, reached, threads):
    lines, count = lines_at(row, waiting, reached), int(sum(r[row] for r in reached.values()))
    block = w.coordinates(row * WARP)[0]
    shown = ", ".join(map(str, lines))
    text = (
        f"line{'s' * (len(lines) > 1)} {shown}: a barrier is reached by {count} of {threads} "
        f"threads of block {short(block)}{' at different lines' * (len(lines) > 1)}; "
        "every thread of a block must reach the same barrier"
    )
    details = {"lines": tuple(lines), "reached": count, "threads": threads, "block": block}
    raise PartialBarrier(text, lines[0], **details)


def note_early_returns(warps, ready, alive, rows):
    gone = int((warps[0].launch.threads - alive)[rows].max())
    if gone:
        line = next(iter(ready.values())).line
        text = (
            f"a barrier is passed while {gone} threads have returned: GPUs before Volta hang here"
        )
        warps[0].log.cautions["early return", line, text] += 1
