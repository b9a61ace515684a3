"""Warp primitives and bit counting: shuffles, votes, `syncwarp`, `popc`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..faults import PartialWarp, Untypable
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
        return
    w.log.partial_syncs = True
    text = "a syncwarp of part of a warp: races between lanes of a warp are not sought"
    w.caution("fence", text)


def want_kind(kinds: str, *values: Any) -> None:
    """Refuse what is neither an integer nor, if `kinds` says so, a bool."""
    for dtype in map(dtype_of, values):
        if dtype.kind not in kinds:
            raise Untypable(f"{dtype} here, where an integer{' or a bool' * ('b' in kinds)} is due")


SHUFFLED = "int32", "int64", "float32", "float64"


def shuffle(source: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Instruction:
    """A shuffle: `source(lane, argument)` says which lane of the warp to read; of the argument
    the low five bits count."""

    def shfl(w: Warps, mask: Any, value: Any, argument: Any) -> np.ndarray:
        if dtype_of(value).name not in SHUFFLED:
            raise Untypable(f"shuffle of {dtype_of(value)}: only of {', '.join(SHUFFLED)}")
        want_kind("iu", mask, argument)
        value = np.broadcast_to(value, w.mask.bits.shape)
        named = members(w, mask)
        lane = w.lane.astype(np.int64)
        wanted = source(lane, np.asarray(argument).astype(np.int64) % WARP)
        wanted = np.where((wanted < 0) | (wanted >= WARP), lane, wanted)
        absent = (named >> wanted.astype(np.uint32) & 1) == 0
        if w.any_lane(absent):
            text = "a shuffle reads lanes that do not take part: their value is undefined"
            w.caution("shuffle", text, lanes=absent & w.mask.bits)
        poison = np.array(POISON[value.dtype.kind]).astype(value.dtype)
        return np.where(absent, poison, value[w.row * WARP + wanted])

    return shfl


def ballot(w: Warps, mask: Any, predicate: Any) -> np.ndarray:
    want_kind("iu", mask)
    want_kind("iub", predicate)
    return packed(np.logical_and(truth(predicate), w.mask.bits)) & members(w, mask)


def ballot_sync(w: Warps, mask: Any, predicate: Any) -> np.ndarray:
    return ballot(w, mask, predicate).view(np.int32)


def all_sync(w: Warps, mask: Any, predicate: Any) -> np.ndarray:
    return ballot(w, mask, predicate) == members(w, mask)


def any_sync(w: Warps, mask: Any, predicate: Any) -> np.ndarray:
    return ballot(w, mask, predicate) != 0


# Bits


def of_bits(count: Callable[[np.ndarray, int], np.ndarray], result: str = "") -> Instruction:
    """`count(bits, how many there are)`, of an integer in its own type."""

    def apply(w: Warps, x: Any) -> Any:
        want_kind("iu", x)
        dtype = dtype_of(x)
        bits = np.asarray(x).view(f"u{dtype.itemsize}")
        return plain(count(bits, 8 * dtype.itemsize).astype(result or dtype)[()])

    return apply


def bit_lengths(bits: np.ndarray) -> np.ndarray:
    """Place of the highest bit that is set, from 1; 0 where none is."""
    bits = bits.astype(np.uint64)
    high, low = (np.frexp(part.astype(float))[1] for part in (bits >> 32, bits & 0xFFFFFFFF))
    return np.where(high > 0, high + 32, low)


def lowest(bits: np.ndarray, width: int) -> np.ndarray:
    """Place of the lowest bit that is set, from 1; 0 where none is."""
    if width < 32:
        raise Untypable(f"ffs() of {width} bits")
    return bit_lengths(bits & (~bits + bits.dtype.type(1)))


popc = of_bits(lambda bits, width: np.bitwise_count(bits))
clz = of_bits(lambda bits, width: width - bit_lengths(bits))
ffs = of_bits(lowest, "uint32")
