"""Control flow of warps in lock-step: which lanes are active, and when they come together again.

A `Mask` says which lanes run. `if`, loops and `return` narrow it and widen it again at the point where the source does,
which is how SIMT hardware reconverges. Masks are never changed, only replaced: `is` tells whether nothing happened.
"""

from __future__ import annotations

from functools import cached_property, reduce

import numpy as np

from .faults import NoProgress, Unsupported
from .values import FUNCTIONS, merge, truth

WARP = 32
PATIENCE = 10_000_000  # turns of a loop before it is called endless
PATIENCE_WITH_LOCKS = 100_000  # the same in a kernel that swaps values to wait for other threads


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


class Variable:
    """A local variable: a value, and the lanes for which it has been set."""

    __slots__ = ("lanes", "value", "w")

    def __init__(self, w):
        self.w, self.lanes = w, None

    def set(self, value):
        mask = self.w.mask
        if self.lanes is not None and self.lanes is not mask:
            rest = self.lanes - mask
            if rest:
                value = Either.of(mask, value, self.value)
                mask = mask | rest
        self.value, self.lanes = value, mask

    def __getattr__(self, name):
        raise Unsupported("a variable read before it is set", self.w.line, self.w.function)


class Either:
    """Two arrays under one name, one for the lanes of `mask` and one for the others; see `settle`."""

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
            raise Unsupported("one name for two arrays among the threads of a warp", w.line, w.function)
        value = value.new if inside else value.old
    return value


def split(w, test):
    """(mask where the test holds, mask where it does not); an empty side is None. Recorded as a branch."""
    mask, test = w.mask, truth(test)
    if not isinstance(test, np.ndarray):
        w.log.branch(w, mask.warps, 0)
        return (mask, None) if test else (None, mask)
    yes = mask & test
    if yes is mask or not yes:
        w.log.branch(w, mask.warps, 0)
        return (mask, None) if yes else (None, mask)
    no = mask - yes
    w.log.branch(w, mask.warps, int(np.count_nonzero(yes.rows & no.rows)))
    return yes, no


class Fork:
    """An `if`: take one side, then the other, then go on with the lanes that are left."""

    def __init__(self, w, test):
        self.w, self.before = w, w.mask
        self.sides = split(w, test)
        self.left = [side or w.nobody for side in self.sides]

    def take(self, side: int) -> bool:
        mask = self.sides[side]
        self.w.mask = mask or self.w.nobody
        return bool(mask)

    def end(self, side: int):
        self.left[side] = self.w.mask

    def join(self):
        self.w.mask = union(self.left, self.w, self.before)


class Loop:
    """A loop: lanes leave one by one, and all meet again behind it."""

    def __init__(self, w):
        self.w, self.before, self.line = w, w.mask, w.line
        self.out: list[Mask] = []
        self.skipped: list[Mask] = []
        self.turns = 0

    def test(self, condition) -> bool:
        """Another turn for the lanes where the condition holds."""
        w = self.w
        if not w.mask:
            return False
        yes, no = split(w, condition)
        if no:
            self.out.append(no)
        w.mask = yes or w.nobody
        if yes:
            self.turns += 1
            if self.turns > (PATIENCE_WITH_LOCKS if w.launch.locks else PATIENCE):
                text = f"the loop at line {self.line} turned {self.turns - 1:,} times and did not end"
                raise NoProgress(text + " (threads of one block cannot wait for each other here)", self.line)
        return bool(yes)

    def leave(self):
        """break"""
        self.out.append(self.w.mask)
        self.w.mask = self.w.nobody

    def skip(self):
        """continue"""
        self.skipped.append(self.w.mask)
        self.w.mask = self.w.nobody

    def turn(self):
        """The end of a turn: those who said `continue` are back."""
        if self.skipped:
            self.w.mask = union([self.w.mask, *self.skipped], self.w, self.before)
            self.skipped = []

    def end(self):
        self.w.mask = union(self.out, self.w, self.before)

    def span(self, start, stop=None, step=1):
        """`for i in range(…)`: plain ints while all threads agree on the bounds, vectors where not."""
        start, stop = (0, start) if stop is None else (start, stop)
        if all(isinstance(x, (int, np.integer)) for x in (start, stop, step)):
            return self.shared_span(range(int(start), int(stop), int(step)))
        return self.own_span(start, stop, step)

    def shared_span(self, values):
        w = self.w
        for value in values:
            if not w.mask:
                return
            w.line = self.line
            w.log.branch(w, w.mask.warps, 0)
            yield value
            self.turn()
        w.line = self.line
        if w.mask:
            w.log.branch(w, w.mask.warps, 0)
            self.out.append(w.mask)

    def own_span(self, start, stop, step):
        w = self.w
        start, stop, step = (np.asarray(x).astype(np.int64) for x in (start, stop, step))
        value = np.broadcast_to(start, w.mask.bits.shape)
        while self.test(np.where(step > 0, value < stop, value > stop) & (step != 0)):
            yield value
            self.turn()
            w.line = self.line
            value = value + step

    def each(self, values):
        """`for x in array` or in a tuple."""
        from .memory import View, load

        values = settle(self.w, values)
        if isinstance(values, tuple):
            for i in self.shared_span(range(len(values))):
                yield values[i]
        elif isinstance(values, View):
            for i in self.span(values.shape[0]):
                yield load(self.w, values, i)
        else:
            raise Unsupported(f"a loop over {type(values).__name__}", self.w.line, self.w.function)


    def enumerate(self, values, start=0):
        for i, value in enumerate(self.each(values)):
            yield start + i, value

    def zip(self, *values):
        from .memory import length, load

        values = [settle(self.w, v) for v in values]
        for i in self.span(FUNCTIONS[min](self.w, *[length(self.w, v) for v in values])):
            yield tuple(load(self.w, v, i) for v in values)


def union(masks, w, whole):
    """Disjoint masks together; `whole` itself when they make it up again."""
    masks = [mask for mask in masks if mask]
    if sum(mask.count for mask in masks) == whole.count:
        return whole
    return reduce(Mask.__or__, masks) if masks else w.nobody


class Call:
    """One call of a function: its `return`s gather a value, and its caller's lanes come back."""

    def __init__(self, w, name: str, kernel: bool):
        self.w, self.before, self.kernel = w, w.mask, kernel
        self.caller, self.line = w.function, w.line
        self.result = Variable(w)
        w.function = name

    def give(self, value=None):
        """return"""
        if self.kernel:
            self.w.alive = self.w.alive - self.w.mask
        else:
            self.result.set(value)
        self.w.mask = self.w.nobody

    def end(self):
        if self.w.mask:
            self.give()
        self.w.mask, self.w.function, self.w.line = self.before, self.caller, self.line
        return None if self.kernel else self.result.value


# `a and b`, `a or b`, `a if t else b`: the right side is evaluated for the lanes that need it.


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
