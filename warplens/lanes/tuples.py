"""Python's functions of tuples: tuple(), sum()."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

from ..faults import Unsupported
from .values import ARITHMETIC, Instruction
from .warps import Warps


def the_same(w: Warps, values: Any) -> tuple:
    if not isinstance(values, tuple):
        raise Unsupported(f"tuple() of {type(values).__name__}", w.line, w.function)
    return values


def total(w: Warps, values: Any, start: Any = 0) -> Any:
    return reduce(partial(ARITHMETIC["Add"], w), the_same(w, values), start)


FUNCTIONS: dict[Any, Instruction] = {tuple: the_same, sum: total}
