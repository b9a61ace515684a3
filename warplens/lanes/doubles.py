"""Which doubles the compiled code has: LLVM computes in float32 what comes out the same there.

A float32 that meets a Python number becomes a double. Where the double does nothing but become a
float32 again, and one addition, subtraction, multiplication or division made it, of a float32 (or
of a choice between one and a constant) with a constant that a float32 holds, LLVM leaves the double
out: of `x * 0.5` stored into float32 memory, but not of `x * 0.1`, nor of `x * 0.5 + y`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from .values import FLOAT32, FLOAT64

if TYPE_CHECKING:
    from .warps import Warps

Numbers = (int, float)


class Doubles:
    """Of one front of warps: the latest double that may be none, and those that hold float32."""

    def __init__(self) -> None:
        self.latest: Latest | None = None
        self.widened: WeakValueDictionary[int, np.ndarray] = WeakValueDictionary()

    def is_float(self, value: Any) -> bool:
        return getattr(value, "dtype", None) == FLOAT32 or self.widened.get(id(value)) is value

    def merged(self, out: Any, *parts: Any) -> None:
        """`out` is one of these, lane by lane, in a type that holds them all."""
        if type(out) is np.ndarray and out.dtype == FLOAT64 and self.float_and_constant(*parts):
            self.widened[id(out)] = out

    def float_and_constant(self, a: Any, b: Any) -> bool:
        """Is one of them a float, and the other a number that a float holds as well?"""
        number, other = (a, b) if type(a) in Numbers else (b, a)
        held = type(number) in Numbers and float(np.float32(number)) == number
        return held and self.is_float(other)

    def made(self, w: Warps, out: Any, operands: tuple, constant: bool) -> Any:
        """Of these operands a double was made; `constant`: a number among them is one."""
        if self.latest is not None and any(self.latest.value is v for v in operands):
            self.latest.count_as(w, "float64")
            self.latest = None
        if constant and self.float_and_constant(*operands):
            self.latest = Latest(out, w.function, w.line, w.weight * w.mask.count)
        return out

    def negated(self, value: Any, out: Any) -> None:
        if self.latest is not None and self.latest.value is value:
            self.latest.value = out

    def truncated(self, w: Warps, value: Any) -> None:
        """A value becomes a float32."""
        if self.latest is not None and self.latest.value is value:
            self.latest.count_as(w, "float32")


class Latest:
    """A double, where it was made, and how many lanes did."""

    def __init__(self, value: Any, function: str, line: int, times: int) -> None:
        self.value, self.where, self.times = value, (function, line), times
        self.counted_as = "float64"

    def count_as(self, w: Warps, kind: str) -> None:
        if kind == self.counted_as:
            return
        flops, before = w.log.flops, (*self.where, self.counted_as)
        flops[before] -= self.times
        if not flops[before]:
            del flops[before]
        flops[(*self.where, kind)] += self.times
        self.counted_as = kind
