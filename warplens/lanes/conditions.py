"""`a and b`, `a or b`, `a if t else b`: each side runs for just the lanes that need it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .masks import Mask, merged
from .values import merge, truth
from .warps import Warps


def narrow(w: Warps, value: Any, wanted: bool) -> bool:
    """Put `value` by and keep the lanes where its truth is `wanted`; is any lane left?"""
    test = truth(value)
    bits = test if wanted else np.logical_not(test)
    w.stack.append((w.mask, value, test))
    w.mask = w.mask & bits if isinstance(test, np.ndarray) else (w.mask if bits else w.no_lanes)
    return bool(w.mask)


def popped(w: Warps) -> tuple[Any, Any]:
    """The value put by, and its truth; the lanes are those of before again."""
    mask, value, test = w.stack.pop()
    w.mask = mask
    return value, test


def and_(w: Warps, right: Any = False) -> Any:
    left, test = popped(w)
    if not isinstance(test, np.ndarray):
        return right if test else left
    return merge(test, right, left)


def or_(w: Warps, right: Any = True) -> Any:
    left, test = popped(w)
    if not isinstance(test, np.ndarray):
        return left if test else right
    return merge(test, left, right)


def other_lanes(w: Warps) -> None:
    """Between the two values of a conditional expression: now for the lanes left out before."""
    outer, _, test = w.stack[-1]
    if isinstance(test, np.ndarray):
        w.mask = outer & ~test
    else:
        w.mask = w.no_lanes if test else outer


def conditional(w: Warps, _: bool, first: Any, __: None, second: Any) -> Any:
    """`first if test else second`; both are evaluated, since both have a say in the type."""
    _, test = popped(w)
    if first is None or second is None:  # what no lane needed
        return second if first is None else first
    if not isinstance(test, np.ndarray):
        test = np.full(w.mask.bits.shape, test)
    return merged(Mask(test), first, second)
