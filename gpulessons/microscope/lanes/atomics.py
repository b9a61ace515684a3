"""Atomic updates: lane by lane, in order, each lane told what it found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..faults import Unsupported
from .access import places
from .endless import watching
from .masks import settle
from .memory import WRITTEN_MARK, View, locate
from .values import Instruction, cast
from .warps import Warps


def atomic(change: Callable[..., Any], flops: int = 0, fixed: bool = False) -> Instruction:
    """`change(old, *operands) → new`, one lane after another; each is given what it found.

    With `fixed`, an update of the array's first element, called without an index.
    """

    def update(w: Warps, target: Any, *given: Any) -> Any:
        index, *operands = (0, *given) if fixed else given
        view = settle(w, target)
        if type(view) is not View:
            raise Unsupported("an atomic on anything but an array", w.line, w.function)
        place = locate(w, view, index, "atomic")
        dtype = view.flat.dtype
        if not w.mask:
            return dtype.type(0)
        if type(place) is View or dtype.names:
            raise Unsupported("an atomic on more than one element", w.line, w.function)
        w.log.access(w, view.array, "atomic", place)
        if flops and dtype.kind in "fc":
            w.count_flops(dtype, flops)
        cells = np.broadcast_to(places(w, view, place), (w.mask.count,))
        mark_written(w, view, cells)
        values = [
            np.broadcast_to(cast(w, v, dtype), w.mask.bits.shape)[w.mask.lanes] for v in operands
        ]
        found = np.zeros(w.mask.bits.shape, dtype)
        with watching(w, view, cells):
            found[w.mask.lanes] = in_turn(view.flat, cells, change, values)
        return found

    return update


def mark_written(w: Warps, view: View, cells: np.ndarray) -> None:
    """Note that these cells hold something now, and be told where they held nothing."""
    if view.written is None:
        return
    if (view.written[cells] == 0).any():
        w.caution(
            "uninitialized", f"{view.array.name} is updated where nothing has been written to it"
        )
    view.written[cells] = WRITTEN_MARK[view.written.itemsize]


def in_turn(
    flat: np.ndarray, cells: np.ndarray, change: Callable[..., Any], values: list[np.ndarray]
) -> np.ndarray:
    """Update cells that lanes may share: each cell's first lane, then its second, …"""
    order = np.argsort(cells, kind="stable")
    ordered = cells[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    by_rank = np.argsort(rank, kind="stable")
    found = np.empty(len(order), flat.dtype)
    for turn in np.split(order[by_rank], np.cumsum(np.bincount(rank))[:-1]):
        found[turn] = old = flat[cells[turn]]
        flat[cells[turn]] = change(old, *(v[turn] for v in values))
    return found


def nanmax(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(old) | (new > old), np.where(np.isnan(new), old, new), old)


def nanmin(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.where(np.isnan(old) | (new < old), np.where(np.isnan(new), old, new), old)


def compare_and_swap(old: np.ndarray, expected: np.ndarray, new: np.ndarray) -> np.ndarray:
    return np.where(old == expected, new, old)


ATOMICS = {
    "add": atomic(np.add, flops=1),
    "sub": atomic(np.subtract, flops=1),
    # A NaN on either side changes nothing.
    "max": atomic(lambda old, new: np.where(new > old, new, old)),
    "min": atomic(lambda old, new: np.where(new < old, new, old)),
    "nanmax": atomic(nanmax),
    "nanmin": atomic(nanmin),
    "and_": atomic(np.bitwise_and),
    "or_": atomic(np.bitwise_or),
    "xor": atomic(np.bitwise_xor),
    "inc": atomic(lambda old, top: np.where(old >= top, 0, old + 1)),
    "dec": atomic(lambda old, top: np.where((old == 0) | (old > top), top, old - 1)),
    "exch": atomic(lambda old, new: new),
    "cas": atomic(compare_and_swap),
    "compare_and_swap": atomic(compare_and_swap, fixed=True),
}
