"""Which signature of a function Numba takes for the types that it is called with.

A number turns into another type in one of three ways: it is promoted (a wider type of its kind),
it stays safe (no value is lost), or it does not. Of all the signatures Numba takes the one with the
fewest unsafe turns, of those the one with the fewest safe ones, then with the fewest promotions;
of equals, the first.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

from ..faults import Untypable

PROMOTED, SAFE, UNSAFE = range(3)
TURNS = {  # one step each, as in numba-cuda's typeconv/rules.py
    PROMOTED: "int8>int16>int32>int64 uint8>uint16>uint32>uint64 float16>float32>float64",
    SAFE: "bool>int8 bool>uint8 uint8>int16 uint16>int32 uint32>int64 int8>float16 int16>float32 "
    "int32>float64 int64>float64 uint64>float64",
    UNSAFE: "int16>float16 int32>float32",
}
SIGNED, UNSIGNED = "int8 int16 int32 int64", "uint8 uint16 uint32 uint64"
INTEGERS = "int8 uint8 int16 uint16 int32 uint32 int64 uint64"  # as NumPy orders them
REALS = "float32 float64"


def types(names: str) -> list[np.dtype]:
    return list(map(np.dtype, names.split()))


def all_steps() -> dict[tuple[np.dtype, np.dtype], int]:
    steps = {}
    for kind, chains in TURNS.items():
        for chain in chains.split():
            along = types(chain.replace(">", " "))
            for one, other in itertools.pairwise(along):
                steps[one, other] = kind
                steps[other, one] = UNSAFE
    return steps


STEPS = all_steps()


@cache
def turn(one: np.dtype, other: np.dtype) -> int | None:
    """How a number of one type becomes one of another, by steps; None where it cannot."""
    for worst in (PROMOTED, SAFE, UNSAFE):
        reached, more = set(), {one}
        while more:
            reached |= more
            more = {b for (a, b), kind in STEPS.items() if a in more and kind <= worst} - reached
        if other in reached:
            return worst
    return None


class Case(NamedTuple):
    """One signature: the types that a function takes, and the type of its result."""

    result: np.dtype
    takes: tuple[np.dtype, ...]


def case(result: str, *takes: str) -> Case:
    return Case(np.dtype(result), tuple(map(np.dtype, takes)))


def alike(names: str, count: int, result: str = "") -> list[Case]:
    """For each type, `count` of it give one of it, or a `result`."""
    return [case(result or name, *[name] * count) for name in names.split()]


class Overloads:
    """A function's signatures; called with types, it gives the one that Numba takes."""

    def __init__(self, name: str, cases: Iterable[Case], lossless: bool = False) -> None:
        self.name, self.cases, self.lossless = name, list(cases), lossless
        self.found: dict[tuple[np.dtype, ...], Case] = {}

    def __call__(self, *given: np.dtype) -> Case:
        found = self.found.get(given)
        if found is None:
            found = self.found[given] = self.chosen(given)
        return found

    def chosen(self, given: tuple[np.dtype, ...]) -> Case:
        rated = [(self.losses(given, one.takes), one) for one in self.cases]
        fitting = [(losses, one) for losses, one in rated if losses is not None]
        if not fitting:
            raise Untypable(f"`{self.name}` of {' and '.join(map(str, given))}")
        return min(fitting, key=lambda pair: pair[0])[1]

    def losses(
        self, given: tuple[np.dtype, ...], takes: tuple[np.dtype, ...]
    ) -> tuple[int, int, int] | None:
        """(unsafe turns, safe ones, promotions), or None where the types do not fit."""
        if len(given) != len(takes):
            return None
        turns = [turn(a, b) for a, b in zip(given, takes, strict=True) if a != b]
        if None in turns or (self.lossless and UNSAFE in turns):
            return None
        return turns.count(UNSAFE), turns.count(SAFE), turns.count(PROMOTED)
