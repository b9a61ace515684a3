"""What a loop runs over besides arrays and tuples: `range`, `enumerate`, `zip`, or each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .access import length, load
from .functions import FUNCTIONS
from .masks import settle
from .warps import Warps


@dataclass(frozen=True)
class Range:
    start: Any
    stop: Any
    step: Any

    def count(self, w: Warps) -> Any:
        if all(isinstance(x, (int, np.integer)) for x in (self.start, self.stop, self.step)):
            return len(range(int(self.start), int(self.stop), int(self.step)))
        start, stop, step = (np.asarray(x).astype(np.int64) for x in vars(self).values())
        return np.maximum(0, -(-(stop - start) // step))

    def item(self, w: Warps, i: Any) -> Any:
        return self.start + i * self.step


@dataclass(frozen=True)
class Enumerated:
    values: Any
    first: Any

    def count(self, w: Warps) -> Any:
        return count(w, self.values)

    def item(self, w: Warps, i: Any) -> tuple:
        return self.first + i, item(w, self.values, i)


@dataclass(frozen=True)
class Zipped:
    parts: tuple

    def count(self, w: Warps) -> Any:
        return FUNCTIONS[min](w, tuple(count(w, part) for part in self.parts))

    def item(self, w: Warps, i: Any) -> tuple:
        return tuple(item(w, part, i) for part in self.parts)


SEQUENCES = Range, Enumerated, Zipped


def count(w: Warps, values: Any) -> Any:
    """How many elements a loop over them meets."""
    return values.count(w) if isinstance(values, SEQUENCES) else length(w, values)


def item(w: Warps, values: Any, i: Any) -> Any:
    return values.item(w, i) if isinstance(values, SEQUENCES) else load(w, values, i)


def range_of(w: Warps, start: Any, stop: Any = None, step: Any = 1, /) -> Range:
    return Range(0, start, step) if stop is None else Range(start, stop, step)


def enumerated(w: Warps, values: Any, first: Any = 0, /) -> Enumerated:
    return Enumerated(settle(w, values), first)


def zipped(w: Warps, *parts: Any) -> Zipped:
    return Zipped(tuple(settle(w, part) for part in parts))


FUNCTIONS_OF_SEQUENCES = {range: range_of, enumerate: enumerated, zip: zipped}
