"""Which lanes are active, and the variables of a kernel: one value per lane, or one for all.

Masks are never changed, only replaced, so that `is` tells whether nothing happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..faults import Unsupported
from .memory import View
from .values import merge

if TYPE_CHECKING:
    from .warps import Warps

WARP = 32


class Mask:
    """The lanes that are active: `bits`, a bool per lane; 32 lanes in a row make a warp."""

    def __init__(self, bits: np.ndarray) -> None:
        self.bits = bits
        self.count = int(np.count_nonzero(bits))

    def __bool__(self) -> bool:
        return self.count > 0

    @cached_property
    def full(self) -> bool:
        return self.count == self.bits.size

    @cached_property
    def lanes(self) -> np.ndarray:
        """Indices of the active lanes, ascending."""
        return np.flatnonzero(self.bits).astype(np.int32)

    @cached_property
    def rows(self) -> np.ndarray:
        """Per warp: is any of its lanes active?"""
        return np.any(self.bits.reshape(-1, WARP), axis=1)

    @cached_property
    def warps(self) -> int:
        return int(np.count_nonzero(self.rows))

    def __and__(self, bits: np.ndarray) -> Mask:
        both = Mask(self.bits & bits)
        return self if both.count == self.count else both

    def __or__(self, other: Mask) -> Mask:
        return Mask(self.bits | other.bits)

    def __sub__(self, other: Mask) -> Mask:
        return Mask(self.bits & ~other.bits)


def union(masks: Iterable[Mask], w: Warps, whole: Mask) -> Mask:
    """Disjoint masks together; `whole` itself when they make it up again."""
    masks = [mask for mask in masks if mask]
    if sum(mask.count for mask in masks) == whole.count:
        return whole
    return reduce(Mask.__or__, masks) if masks else w.no_lanes


NOTHING = object()


class Variable:
    """A local variable: the newest value, and what it was before for the lanes that did not set it.

    The two are merged, and their types with them, only when lanes of both read it again: where
    Numba, too, brings the versions of a variable together.
    """

    __slots__ = ("assigned", "newest", "newest_mask", "older", "w")

    newest: Any
    newest_mask: Mask  # the lanes that set it

    def __init__(self, w: Warps) -> None:
        self.w, self.older = w, NOTHING
        self.assigned = w.no_lanes  # the lanes in which it has a value

    def set(self, value: Any) -> None:
        mask = self.w.mask
        if not self.assigned or self.assigned is mask or not self.assigned - mask:
            self.assigned, self.older = mask, NOTHING
        elif mask is not self.newest_mask:
            self.older, self.assigned = self.merged(), self.assigned | mask
        self.newest, self.newest_mask = value, mask

    @property
    def value(self) -> Any:
        mask = self.w.mask
        if self.older is not NOTHING and mask is not self.newest_mask and mask - self.newest_mask:
            self.newest, self.newest_mask, self.older = self.merged(), self.assigned, NOTHING
        return self.newest

    def merged(self) -> Any:
        if self.older is NOTHING:
            return self.newest
        return merged(self.newest_mask, self.newest, self.older)

    @property
    def known(self) -> bool:
        """Has any lane set it?"""
        return bool(self.assigned)

    def __getattr__(self, name: str) -> NoReturn:
        raise Unsupported("a variable read before it is set", self.w.line, self.w.function)


def merged(mask: Mask, new: Any, old: Any) -> Any:
    """`new` in the lanes of the mask, `old` in the others."""
    if type(new) is type(old) is View:
        return one_view(mask.bits, new, old)
    if isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
        return tuple(merged(mask, n, o) for n, o in zip(new, old, strict=True))
    return merge(mask.bits, new, old)


def one_view(bits: np.ndarray, new: View, old: View) -> View:
    """Two slices alike of one array are one with a place for each lane."""

    def each(a: Any, b: Any) -> Any:
        return a if type(a) is type(b) is int and a == b else np.where(bits, a, b)

    if (new.array, new.strides) != (old.array, old.strides):
        raise Unsupported("one name for two arrays, by the way that a thread came")
    shape = tuple(map(each, new.shape, old.shape))
    return new.sliced(each(new.start, old.start), shape, new.strides)
