"""Atomic updates: lane by lane, in order, each lane told what it found."""

from __future__ import annotations

import numpy as np

from ..faults import Unsupported
from .access import places
from .masks import settle
from .memory import WRITTEN, View, locate
from .values import cast


def atomic(change, flops=0, fixed=False):
    """`change(old, *operands) → new`, one lane after another; each is given what it found."""

    def update(w, view, *operands):
        index, *operands = (0, *operands) if fixed else operands
        view = settle(w, view)
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
        places_ = np.broadcast_to(places(w, view, place), (w.mask.count,))
        if view.written is not None:
            note_unwritten(w, view, places_)
        values = [
            np.broadcast_to(cast(w, v, dtype), w.mask.bits.shape)[w.mask.lanes] for v in operands
        ]
        found = np.zeros(w.mask.bits.shape, dtype)
        found[w.mask.lanes] = in_turn(view.flat, places_, change, values)
        return found

    return update


def note_unwritten(w, view, places_):
    if (view.written[places_] == 0).any():
        w.caution(
            "uninitialized", f"{view.array.name} is updated where nothing has been written to it"
        )
    view.written[places_] = WRITTEN[view.written.itemsize]


def in_turn(flat, places_, change, values):
    """Update cells that lanes may share: each cell's first lane, then its second, …"""
    order = np.argsort(places_, kind="stable")
    ordered = places_[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    by_rank = np.argsort(rank, kind="stable")
    found = np.empty(len(order), flat.dtype)
    for turn in np.split(order[by_rank], np.cumsum(np.bincount(rank))[:-1]):
        cells = places_[turn]
        found[turn] = old = flat[cells]
        flat[cells] = change(old, *(v[turn] for v in values))
    return found


def nanmax(old, new):
    return np.where(np.isnan(old) | (new > old), np.where(np.isnan(new), old, new), old)


def nanmin(old, new):
    return np.where(np.isnan(old) | (new < old), np.where(np.isnan(new), old, new), old)


ATOMICS = {
    "add": atomic(np.add, flops=1),
    "sub": atomic(np.subtract, flops=1),
    "max": atomic(
        lambda old, new: np.where(new > old, new, old)
    ),  # a NaN on either side changes nothing
    "min": atomic(lambda old, new: np.where(new < old, new, old)),
    "nanmax": atomic(nanmax),
    "nanmin": atomic(nanmin),
    "and_": atomic(np.bitwise_and),
    "or_": atomic(np.bitwise_or),
    "xor": atomic(np.bitwise_xor),
    "inc": atomic(lambda old, top: np.where(old >= top, 0, old + 1)),
    "dec": atomic(lambda old, top: np.where((old == 0) | (old > top), top, old - 1)),
    "exch": atomic(lambda old, new: new),
    "cas": atomic(lambda old, expected, new: np.where(old == expected, new, old)),
    "compare_and_swap": atomic(
        lambda old, expected, new: np.where(old == expected, new, old), fixed=True
    ),
}
