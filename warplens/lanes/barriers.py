"""Barriers: a kernel yields one and sleeps until its whole block is there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..faults import PartialBarrier
from .masks import WARP, Mask
from .memory import short
from .warps import Warps


class Barrier(NamedTuple):
    """What the lanes of `mask` wait for."""

    line: int
    mask: Mask


def syncthreads(w: Warps) -> Iterator[Barrier]:
    mask = w.mask
    if mask:
        yield Barrier(w.line, mask)
        w.pass_block_barrier(mask.rows)


BARRIERS = {"syncthreads": syncthreads}

# Who goes on


def lanes_per_block(bits: np.ndarray) -> np.ndarray:
    return np.count_nonzero(bits.reshape(-1, WARP), axis=1)


def released(warps: list[Warps], waiting: dict[int, Barrier]) -> list[int]:
    """The warps whose barrier is complete; an error when all wait and none is.

    `waiting` has the barrier of each warp that waits, by its number; those released are removed.
    """
    if not waiting:
        return []
    alive = np.sum([lanes_per_block(w.alive.bits) for w in warps], axis=0)
    reached = {warp: lanes_per_block(barrier.mask.bits) for warp, barrier in waiting.items()}
    total = np.sum(list(reached.values()), axis=0)
    complete = total == alive
    check_several_lines(warps, waiting, reached)
    ready = {warp: one for warp, one in waiting.items() if complete[reached[warp] > 0].all()}
    if not ready:
        row = int(np.argmax(~complete & (total > 0)))
        refuse(warps, row, waiting, reached, int(alive[row]))
    passing = np.sum([reached[warp] for warp in ready], axis=0) > 0
    note_early_returns(warps, ready, alive, passing)
    for warp in ready:
        waiting.pop(warp)
    return sorted(ready)


def check_several_lines(
    warps: list[Warps], waiting: dict[int, Barrier], reached: dict[int, np.ndarray]
) -> None:
    """All warps of a block must wait at the same line."""
    if len({barrier.line for barrier in waiting.values()}) == 1:
        return
    for row in range(len(warps[0].blocks)):
        if len(lines_at(row, waiting, reached)) > 1:
            refuse(warps, row, waiting, reached, warps[0].launch.threads)


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
