"""Warp primitives and bit counting: shuffles, votes, matches, `syncwarp`, `popc`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..faults import PartialWarp
from .log import PartialSync
from .masks import WARP
from .memory import POISON, short
from .values import Instruction, dtype_of, plain, truth
from .warps import Warps

LANES = np.arange(WARP, dtype=np.uint32)
ALL_LANES = 0xFFFFFFFF


def packed(bits: np.ndarray) -> np.ndarray:
    """32 bools per warp → one uint32 per lane."""
    rows = np.packbits(bits.reshape(-1, 4, 8), axis=-1, bitorder="little").reshape(-1, 4)
    return np.repeat(rows.copy().view("<u4").ravel(), WARP)


def members(w: Warps, mask: Any) -> np.ndarray:
    """The lanes that take part, as uint32 per lane; cautions for masks a GPU chokes on."""
    named = (np.asarray(mask).astype(np.int64) & ALL_LANES).astype(np.uint32)
    named = np.broadcast_to(named, w.mask.bits.shape)
    active, alive = packed(w.mask.bits), packed(w.alive.bits)
    warn_of(w, named & alive & ~active != 0, "the mask names lanes that do not run this line")
    warn_of(w, named >> w.lane.astype(np.uint32) & 1 == 0, "a lane is not in its own mask")
    warn_of(w, disagreeing(named & active), "lanes that name each other differ in their masks")
    return named & active


def warn_of(w: Warps, lanes: np.ndarray, what: str) -> None:
    """Note a mask that a GPU chokes on, in some of these lanes."""
    if w.any_lane(lanes):
        text = f"{what}: a GPU may hang or answer anything"
        w.caution("warp mask", text, lanes=lanes & w.mask.bits)


def disagreeing(named: np.ndarray) -> np.ndarray:
    """Per lane: does it name one that names others than it?"""
    masks = named.reshape(-1, WARP)
    if (masks == masks[:, :1]).all():
        return np.zeros(named.shape, bool)
    names = masks[:, :, None] >> LANES & 1 == 1
    return (names & (masks[:, :, None] != masks[:, None, :])).any(axis=2).ravel()


def whole_warp(w: Warps, instruction: str) -> None:
    """Refuse an instruction that takes all 32 lanes of a warp where only some of them run it."""
    reached = np.count_nonzero(w.mask.bits.reshape(-1, WARP), axis=1)
    partial = np.flatnonzero(reached % WARP)
    if partial.size:
        row = int(partial[0])
        block, count = w.coordinates(row * WARP)[0], int(reached[row])
        text = (
            f"line {w.line}: {instruction} is run by {count} of the 32 lanes of warp {w.warp} of "
            f"block {short(block)}; it is one instruction of the whole warp"
        )
        raise PartialWarp(text, w.line, reached=count, block=block, warp=w.warp)


def syncwarp(w: Warps, mask: Any = ALL_LANES) -> None:
    if not w.mask:
        return
    named = members(w, mask)
    whole = (named == packed(w.alive.bits)) | ~w.mask.bits
    if whole.all():
        w.moment = w.moment._replace(warp_epoch=w.moment.warp_epoch + w.mask.rows)
    else:
        w.log.clock += 1
        met = np.where(w.mask.bits, named, 0)
        w.log.partial_syncs.append(PartialSync(w.log.clock, w.moment, met))


def shuffle(source: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Instruction:
    """A shuffle: `source(lane, argument)` says which lane of the warp to read."""

    def shfl(w: Warps, mask: Any, value: Any, argument: Any) -> np.ndarray:
        value = np.broadcast_to(value, w.mask.bits.shape)
        named = members(w, mask)
        lane = w.lane.astype(np.int64)
        wanted = source(lane, np.asarray(argument).astype(np.int64))
        wanted = np.where((wanted < 0) | (wanted >= WARP), lane, wanted)
        absent = (named >> wanted.astype(np.uint32) & 1) == 0
        if w.any_lane(absent):
            text = "a shuffle reads lanes that do not take part: their value is undefined"
            w.caution("shuffle", text, lanes=absent & w.mask.bits)
        poison = np.array(POISON[value.dtype.kind]).astype(value.dtype)
        return np.where(absent, poison, value[w.row * WARP + wanted])

    return shfl


def ballot(w: Warps, mask: Any, predicate: Any) -> np.ndarray:
    return packed(np.logical_and(truth(predicate), w.mask.bits)) & members(w, mask)


def ballot_sync(w: Warps, mask: Any, predicate: Any) -> np.ndarray:
    return ballot(w, mask, predicate).view(np.int32)


def all_sync(w: Warps, mask: Any, predicate: Any) -> np.ndarray:
    return ballot(w, mask, predicate) == members(w, mask)


def any_sync(w: Warps, mask: Any, predicate: Any) -> np.ndarray:
    return ballot(w, mask, predicate) != 0


def eq_sync(w: Warps, mask: Any, predicate: Any) -> np.ndarray:
    found = ballot(w, mask, predicate)
    return (found == 0) | (found == members(w, mask))


def same(w: Warps, mask: Any, value: Any) -> tuple[np.ndarray, np.ndarray]:
    """(lanes of the warp that hold this lane's value, lanes that take part)"""
    named = members(w, mask)
    value = np.broadcast_to(value, w.mask.bits.shape).reshape(-1, WARP)
    equal = value[:, :, None] == value[:, None, :]
    bits = (equal * (np.uint32(1) << LANES)).sum(axis=2, dtype=np.uint32).ravel()
    return bits & named, named


def match_any_sync(w: Warps, mask: Any, value: Any) -> np.ndarray:
    return same(w, mask, value)[0].view(np.int32)


def match_all_sync(w: Warps, mask: Any, value: Any) -> tuple[np.ndarray, np.ndarray]:
    found, named = same(w, mask, value)
    return np.where(found == named, named, 0).astype(np.uint32).view(np.int32), found == named


def lanemask_lt(w: Warps) -> np.ndarray:
    return (np.uint32(1) << w.lane.astype(np.uint32)) - np.uint32(1)


# Bits


def unsigned(value: Any) -> tuple[np.ndarray, int]:
    """The value's bits, and how many there are."""
    value = np.asarray(value)
    return value.view(value.dtype.str.replace("i", "u")), value.dtype.itemsize * 8


def popc(w: Warps, x: Any) -> Any:
    bits, _ = unsigned(x)
    return plain(np.bitwise_count(bits).astype(dtype_of(x))[()])


def bit_lengths(bits: np.ndarray) -> np.ndarray:
    """Place of the highest bit that is set, from 1; 0 where none is."""
    return np.array([int(b).bit_length() for b in bits.ravel()]).reshape(bits.shape)


def clz(w: Warps, x: Any) -> Any:
    bits, width = unsigned(x)
    return plain((width - bit_lengths(bits)).astype(dtype_of(x))[()])


def ffs(w: Warps, x: Any) -> Any:
    bits, _ = unsigned(x)
    return bit_lengths(bits & (~bits + bits.dtype.type(1))).astype(np.uint32)[()]


def brev(w: Warps, x: Any) -> Any:
    bits, width = unsigned(x)
    out = bits * 0
    for i in range(width):
        out = out | (
            (bits >> bits.dtype.type(i) & bits.dtype.type(1)) << bits.dtype.type(width - 1 - i)
        )
    return plain(out.astype(dtype_of(x))[()])
