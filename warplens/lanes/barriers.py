"""Barriers: a kernel yields one and sleeps until its whole block, or the whole grid, is there."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..faults import PartialBarrier, Unsupported, Untypable
from .masks import WARP, Mask
from .memory import short
from .values import cast, dtype_of, truth
from .warps import Warps


class Barrier(NamedTuple):
    """What the lanes of `mask` wait for."""

    line: int
    mask: Mask
    scope: str  # "block" or "grid"
    predicate: np.ndarray | None  # per lane


class Votes(NamedTuple):
    """What a barrier with a predicate answers, per block: lanes for it, lanes asked."""

    yes: np.ndarray
    total: np.ndarray


Waiting = Generator[Barrier, Votes, Any]

# What a kernel calls


def wait(w: Warps, scope: str, predicate: Any = None) -> Waiting:
    mask = w.mask
    if predicate is not None:
        predicate = np.broadcast_to(truth(predicate), mask.bits.shape)
    votes = None
    if mask:
        votes = yield Barrier(w.line, mask, scope, predicate)
        w.pass_block_barrier(mask.rows, scope == "grid")
    return votes


def syncthreads(w: Warps) -> Waiting:
    yield from wait(w, "block")


def vote(
    answer: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[[Warps, Any], Waiting]:
    """A barrier that counts the lanes for its predicate: `answer(yes, total)`, per block."""

    def sync(w: Warps, predicate: Any) -> Waiting:
        if dtype_of(predicate).kind not in "iu":
            raise Untypable(f"barrier that counts a {dtype_of(predicate)}: it takes an integer")
        predicate = cast(w, predicate, np.dtype("int32"))
        if not w.mask:
            return np.int32(0)
        yes, total = yield from wait(w, "block", predicate)
        return np.repeat(answer(yes, total), WARP).astype(np.int32)

    return sync


GRID = object()  # what `cg.this_grid()` gives


def this_grid(w: Warps) -> object:
    return GRID


def sync_group(w: Warps, group: Any) -> Waiting:
    if group is not GRID:
        raise Unsupported("the method .sync of anything but a grid", w.line, w.function)
    yield from wait(w, "grid")


BARRIERS = {
    "syncthreads": syncthreads,
    "syncthreads_count": vote(lambda yes, total: yes),
    "syncthreads_and": vote(lambda yes, total: yes == total),
    "syncthreads_or": vote(lambda yes, total: yes > 0),
}

# Who goes on


def lanes_per_block(bits: np.ndarray) -> np.ndarray:
    return np.count_nonzero(bits.reshape(-1, WARP), axis=1)


def released(warps: list[Warps], waiting: dict[int, Barrier]) -> dict[int, Votes]:
    """The warps whose barrier is complete, with its votes; an error when all wait and none is.

    `waiting` has the barrier of each warp that waits, by its number; those released are removed.
    """
    if not waiting:
        return {}
    alive = np.sum([lanes_per_block(w.alive.bits) for w in warps], axis=0)
    reached = {warp: lanes_per_block(barrier.mask.bits) for warp, barrier in waiting.items()}
    total = np.sum(list(reached.values()), axis=0)
    complete = total == alive
    check_several_lines(warps, waiting, reached)
    for barrier in waiting.values():
        if barrier.scope == "grid":
            check_missing_blocks(warps[0], barrier, total)
    ready = {}
    for warp, barrier in waiting.items():
        if complete[reached[warp] > 0].all() and (barrier.scope == "block" or complete.all()):
            ready[warp] = barrier
    if not ready:
        row = int(np.argmax(~complete & (total > 0)))
        refuse(warps, row, waiting, reached, int(alive[row]))
    ballots = [
        lanes_per_block(barrier.mask.bits & barrier.predicate)
        for barrier in waiting.values()
        if barrier.predicate is not None
    ]
    passing = np.sum([reached[warp] for warp in ready], axis=0) > 0
    note_early_returns(warps, ready, alive, passing)
    for warp in ready:
        waiting.pop(warp)
    return {warp: Votes(np.sum(ballots, axis=0), alive) for warp in sorted(ready)}


def check_several_lines(
    warps: list[Warps], waiting: dict[int, Barrier], reached: dict[int, np.ndarray]
) -> None:
    """All warps of a block must wait at the same line."""
    if len({barrier.line for barrier in waiting.values()}) == 1:
        return
    for row in range(len(warps[0].blocks)):
        if len(lines_at(row, waiting, reached)) > 1:
            refuse(warps, row, waiting, reached, warps[0].launch.threads)


def check_missing_blocks(w: Warps, barrier: Barrier, reached: np.ndarray) -> None:
    """A barrier of the grid takes every block, also one that has returned or waits elsewhere."""
    missing = np.flatnonzero(reached == 0)
    if missing.size:
        block = w.coordinates(int(missing[0]) * WARP)[0]
        text = (
            f"line {barrier.line}: a barrier of the whole grid is not reached by block "
            f"{short(block)}; every thread of the grid must reach the same barrier"
        )
        details = {"lines": (barrier.line,), "reached": 0, "threads": w.launch.threads}
        raise PartialBarrier(text, barrier.line, block=block, **details)


def lines_at(row: int, waiting: dict[int, Barrier], reached: dict[int, np.ndarray]) -> list[int]:
    """The lines at which warps of a block wait."""
    return sorted({barrier.line for warp, barrier in waiting.items() if reached[warp][row]})


def absent(warps: list[Warps], row: int, waiting: dict[int, Barrier]) -> Any:
    """The first thread of a block that neither waits nor has returned."""
    for w in warps:
        lanes = w.alive - waiting[w.warp].mask if w.warp in waiting else w.alive
        here = lanes.lanes[lanes.lanes // WARP == row]
        if here.size:
            return w.coordinates(int(here[0]))[1]
    return None


def refuse(
    warps: list[Warps],
    row: int,
    waiting: dict[int, Barrier],
    reached: dict[int, np.ndarray],
    threads: int,
) -> NoReturn:
    lines, count = lines_at(row, waiting, reached), int(sum(r[row] for r in reached.values()))
    block, thread = warps[0].coordinates(row * WARP)[0], absent(warps, row, waiting)
    shown = ", ".join(map(str, lines))
    text = (
        f"line{'s' * (len(lines) > 1)} {shown}: a barrier is reached by {count} of {threads} "
        f"threads of block {short(block)}{' at different lines' * (len(lines) > 1)}"
        f"{f', not by thread {short(thread)}' if thread else ''}; "
        "every thread of a block must reach the same barrier"
    )
    details = {"lines": tuple(lines), "reached": count, "threads": threads, "block": block}
    details["thread"] = thread
    raise PartialBarrier(text, lines[0], **details)


def note_early_returns(
    warps: list[Warps], ready: dict[int, Barrier], alive: np.ndarray, rows: np.ndarray
) -> None:
    gone = int((warps[0].launch.threads - alive)[rows].max())
    if gone:
        line = next(iter(ready.values())).line
        text = (
            f"a barrier is passed while {gone} threads have returned: GPUs before Volta hang here"
        )
        warps[0].log.cautions["early return", line, text] += 1
