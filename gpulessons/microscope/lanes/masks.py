"""Which lanes are active, and the variables of a kernel: one value per lane, or one for all.

Masks are never changed, only replaced, so that `is` tells whether nothing happened.
"""

from __future__ import annotations

from functools import cached_property, reduce

import numpy as np

from ..faults import Unsupported
from .values import merge

WARP = 32


class Mask:
    """The lanes that are active: `bits`, a bool per lane; 32 lanes in a row make a warp."""

    def __init__(self, bits):
        self.bits = bits
        self.count = int(np.count_nonzero(bits))

    def __bool__(self):
        return self.count > 0

    @cached_property
    def full(self) -> bool:
        return self.count == self.bits.size

    @cached_property
    def lanes(self):
        """Indices of the active lanes, ascending."""
        return np.flatnonzero(self.bits).astype(np.int32)

    @cached_property
    def rows(self):
        """Per warp: is any of its lanes active?"""
        return self.bits.reshape(-1, WARP).any(axis=1)

    @cached_property
    def warps(self) -> int:
        return int(np.count_nonzero(self.rows))

    def __and__(self, bits):
        both = Mask(self.bits & bits)
        return self if both.count == self.count else both

    def __or__(self, other):
        return Mask(self.bits | other.bits)

    def __sub__(self, other):
        return Mask(self.bits & ~other.bits)


def union(masks, w, whole):
    """Disjoint masks together; `whole` itself when they make it up again."""
    masks = [mask for mask in masks if mask]
    if sum(mask.count for mask in masks) == whole.count:
        return whole
    return reduce(Mask.__or__, masks) if masks else w.nobody


NOTHING = object()


class Variable:
    """A local variable: the newest value, and what it was before for the lanes that did not set it.

    The two are merged, and their types with them, only when lanes of both read it again: where
    Numba, too, brings the versions of a variable together.
    """

    __slots__ = ("lanes", "mine", "newest", "older", "w")

    def __init__(self, w):
        self.w, self.lanes, self.older = w, None, NOTHING

    def set(self, value):
        mask = self.w.mask
        if self.lanes is None or self.lanes is mask or not self.lanes - mask:
            self.lanes, self.older = mask, NOTHING
        elif mask is not self.mine:
            self.older, self.lanes = self.merged(), self.lanes | mask
        self.newest, self.mine = value, mask

    @property
    def value(self):
        if self.older is not NOTHING and self.w.mask is not self.mine and self.w.mask - self.mine:
            self.newest, self.mine, self.older = self.merged(), self.lanes, NOTHING
        return self.newest

    def merged(self):
        return (
            self.newest if self.older is NOTHING else Either.of(self.mine, self.newest, self.older)
        )

    def __getattr__(self, name):
        raise Unsupported("a variable read before it is set", self.w.line, self.w.function)


class Either:
    """Two arrays under one name: one for the lanes of `mask`, one for the others."""

    def __init__(self, mask, new, old):
        self.mask, self.new, self.old = mask, new, old

    @staticmethod
    def of(mask, new, old):
        try:
            return merge(mask.bits, new, old)
        except (NotImplementedError, TypeError):
            return Either(mask, new, old)


def settle(w, value):
    """The one array that all active lanes mean."""
    while type(value) is Either:
        inside = (w.mask & value.mask.bits).count
        if 0 < inside < w.mask.count:
            raise Unsupported(
                "one name for two arrays among the threads of a warp", w.line, w.function
            )
        value = value.new if inside else value.old
    return value
