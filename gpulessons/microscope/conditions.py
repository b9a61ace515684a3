"""`a and b`, `a or b`, `a if t else b`: each side is evaluated for the lanes that need it, and only
for them.
"""

from __future__ import annotations

import numpy as np

from .masks import Either, Mask
from .values import merge, truth


def narrow(w, value, wanted: bool) -> bool:
    """Put `value` by and keep the lanes where its truth is `wanted`; is any lane left?"""
    test = truth(value)
    bits = test if wanted else np.logical_not(test)
    w.stack.append((w.mask, value, test))
    w.mask = w.mask & bits if isinstance(test, np.ndarray) else (w.mask if bits else w.nobody)
    return bool(w.mask)


def both(w, right=False):
    w.mask, left, test = w.stack.pop()
    if not isinstance(test, np.ndarray):
        return right if test else left
    return merge(test, right, left)


def either(w, right=True):
    w.mask, left, test = w.stack.pop()
    if not isinstance(test, np.ndarray):
        return left if test else right
    return merge(test, left, right)


def flip(w, first):
    """Between the two values of a conditional expression: now the other lanes."""
    outer, _, test = w.stack.pop()
    w.stack.append((outer, first, test))
    if isinstance(test, np.ndarray):
        w.mask = outer & ~test
    else:
        w.mask = w.nobody if test else outer
    return bool(w.mask)


def choice(w, second=None):
    w.mask, first, test = w.stack.pop()
    if not isinstance(test, np.ndarray):
        return first if test else second
    if first is None or second is None:
        return second if first is None else first
    return Either.of(Mask(test), first, second)
