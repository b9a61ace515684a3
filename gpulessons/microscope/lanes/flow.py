"""Control flow of warps in lock-step: which lanes are active, and when they come together again.

A mask says which lanes run. `if`, loops and `return` narrow it and widen it again at the point
where the source does, which is how SIMT hardware reconverges.
"""

from __future__ import annotations

import numpy as np

from ..faults import NoProgress, Unsupported
from .access import length, load
from .functions import FUNCTIONS
from .masks import Mask, Variable, settle, union
from .memory import View
from .values import truth

PATIENCE = 10_000_000  # turns of a loop before it is called endless
PATIENCE_WITH_LOCKS = 100_000  # the same in a kernel that swaps values to wait for other threads


def split(w, test):
    """A branch: (mask where the test holds, mask where it does not); None for an empty side."""
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
                text = (
                    f"the loop at line {self.line} turned {self.turns - 1:,} times and did not end"
                )
                raise NoProgress(
                    text + " (threads of one block cannot wait for each other here)", self.line
                )
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
        """`for i in range(…)`: plain ints if all threads agree on the bounds, else vectors."""
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
        values = [settle(self.w, v) for v in values]
        for i in self.span(FUNCTIONS[min](self.w, *[length(self.w, v) for v in values])):
            yield tuple(load(self.w, v, i) for v in values)


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
