"""Atomic updates: lane by lane, in order, each lane told what it found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..faults import Unsupported, Untypable
from .access import places
from .memory import View, locate
from .values import INT64, Instruction, as_type, cast, dtype_of
from .warps import Warps

Types = frozenset[np.dtype]
INTEGERS: Types = frozenset(map(np.dtype, ["int32", "int64", "uint32", "uint64"]))
NUMBERS: Types = INTEGERS | {np.dtype("float32"), np.dtype("float64")}


def atomic(name: str, types: Types, change: Callable[..., Any], flops: int = 0) -> Instruction:
    """`change(old, *operands) → new`, one lane after another; each is given what it found.

    `types` are those of the arrays that Numba takes. A `blind` one is an exchange whose result
    nobody asks for: what was there, if anything, is of no concern.
    """

    def update(w: Warps, target: Any, index: Any, *operands: Any, blind: bool = False) -> Any:
        view, dtype = check(w, name, target, types)
        place = locate(w, view, whole_number(w, view, index), "atomic")
        if not w.mask:
            return dtype.type(0)
        if type(place) is View:
            raise Unsupported("an atomic on more than one element", w.line, w.function)
        w.log.access(w, view.array, "atomic", place)
        if flops and dtype.kind == "f":
            w.count_flops(dtype, flops)
        cells = np.broadcast_to(places(w, view, place), (w.mask.count,))
        if view.written is not None:
            warn_of_nothing(w, view, cells, blind)
        values = [
            np.broadcast_to(cast(w, v, dtype), w.mask.bits.shape)[w.mask.lanes] for v in operands
        ]
        found = np.zeros(w.mask.bits.shape, dtype)
        found[w.mask.lanes] = in_turn(view.flat, cells, change, values)
        return found

    return update


def check(w: Warps, name: str, view: Any, types: Types) -> tuple[View, np.dtype]:
    """(the array, its type), of those that Numba has this atomic for."""
    if type(view) is not View:
        raise Unsupported("an atomic on anything but an array", w.line, w.function)
    dtype = view.flat.dtype
    if dtype not in types:
        allowed = ", ".join(sorted(map(str, types)))
        text = f"cuda.atomic.{name} on an array of {dtype} (a GPU has it for {allowed})"
        raise Untypable(text, w.line, w.function)
    if view.array.space == "constant":
        raise Unsupported("writing to a constant array", w.line, w.function)
    return view, dtype


def whole_number(w: Warps, view: View, index: Any) -> Any:
    """Of an array with one axis Numba takes a number as the index, and makes an int64 of it."""
    if len(view.shape) != 1:
        return index
    if isinstance(index, tuple):
        raise Unsupported(
            f"a tuple as an atomic's index of {view.array.name}, which has one axis: "
            "write the number",
            w.line,
            w.function,
        )
    return as_type(index, INT64) if dtype_of(index).kind in "fb" else index


def warn_of_nothing(w: Warps, view: View, cells: np.ndarray, blind: bool) -> None:
    """Be told where cells that are updated held nothing; from now on they hold something."""
    assert view.written is not None
    missing = np.zeros(w.mask.bits.shape, bool)
    missing[w.mask.lanes] = ~view.written[cells]
    view.written[cells] = True
    if missing.any() and not blind:
        text = f"{view.array.name} is updated where nothing has been written to it"
        w.caution("uninitialized", text, lanes=missing)


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


ATOMICS = {
    "add": atomic("add", NUMBERS, np.add, flops=1),
    "sub": atomic("sub", NUMBERS, np.subtract, flops=1),
    # A NaN on either side changes nothing.
    "max": atomic("max", NUMBERS, lambda old, new: np.where(new > old, new, old)),
    "min": atomic("min", NUMBERS, lambda old, new: np.where(new < old, new, old)),
    "and_": atomic("and_", INTEGERS, np.bitwise_and),
    "or_": atomic("or_", INTEGERS, np.bitwise_or),
    "xor": atomic("xor", INTEGERS, np.bitwise_xor),
    "exch": atomic("exch", INTEGERS, lambda old, new: new),
    "cas": atomic("cas", INTEGERS, lambda old, expected, new: np.where(old == expected, new, old)),
}
