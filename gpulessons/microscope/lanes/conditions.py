"""`a and b`, `a or b`, `a if t else b`: each side runs for just the lanes that need it."""

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


def flip(w):
    """Between the two values of a conditional expression: now the other lanes."""
    outer, _, test = w.stack[-1]
    if isinstance(test, np.ndarray):
        w.mask = outer & ~test
    else:
        w.mask = w.nobody if test else outer


def choice(w, _, first, __, second):
    """`first if test else second`; both are evaluated, since both have a say in the type."""
    w.mask, _, test = w.stack.pop()
    if first is None or second is None:  # a call that no lane needed
        return second if first is None else first
    if not isinstance(test, np.ndarray):
        test = np.full(w.mask.bits.shape, test)
    return Either.of(Mask(test), first, second)
