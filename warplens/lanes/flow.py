"""Control flow of warps in lock-step: which lanes are active, and when they come together again.

A mask says which lanes run. `if`, loops and `return` narrow it and widen it again at the point
where the source does, which is how SIMT hardware reconverges.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..faults import NoProgress, Unsupported
from .access import describe, load
from .masks import Mask, Variable, union
from .memory import View
from .values import truth
from .warps import Warps

TURN_LIMIT = 10_000  # of a `while`: what turns on where threads wait for others waits for ever,
PATIENCE = 10.0  # and elsewhere if it has taken so many seconds of the processor's time


def split(w: Warps, test: Any) -> tuple[Mask | None, Mask | None]:
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


class Branch:
    """An `if`: take one side, then the other, then go on with the lanes that are left."""

    def __init__(self, w: Warps, test: Any) -> None:
        self.w, self.before = w, w.mask
        self.sides = [side or w.no_lanes for side in split(w, test)]

    def take(self, side: int) -> bool:
        self.w.mask = self.sides[side]
        return bool(self.w.mask)

    def end(self, side: int) -> None:
        self.sides[side] = self.w.mask

    def join(self) -> None:
        self.w.mask = union(self.sides, self.w, self.before)


class Loop:
    """A loop: lanes leave one by one, and all meet again behind it.

    `leaves`: may its body leave it early? `outer`: are there loops in its body?
    """

    def __init__(self, w: Warps, leaves: bool, outer: bool) -> None:
        self.w, self.before, self.line = w, w.mask, w.line
        self.leaves, self.outer, self.weight = leaves, outer, w.weight
        self.leaps: dict[int, int] = {}  # of a counter's values, those that are not left out
        self.left: list[Mask] = []  # at the loop's end
        self.broken: list[Mask] = []
        self.continued: list[Mask] = []
        self.iterations, self.start = 0, time.process_time()

    def test(self, condition: Any) -> bool:
        """Another iteration for the lanes where the condition holds."""
        w = self.w
        if not w.mask:
            return False
        yes, no = split(w, condition)
        if no:
            self.left.append(no)
        w.mask = yes or w.no_lanes
        if yes:
            self.iterations += 1
            if self.iterations % TURN_LIMIT == 0:
                self.check_time()
        return bool(yes)

    def check_time(self) -> None:
        locks = self.w.launch.locks
        if locks or time.process_time() - self.start > PATIENCE:
            text = f"the loop at line {self.line} turned {self.iterations:,} times and did not end"
            waiting = " (threads of one block cannot wait for each other here)"
            raise NoProgress(text + waiting * locks, self.line)

    def break_(self) -> None:
        self.broken.append(self.w.mask)
        self.w.mask = self.w.no_lanes

    def continue_(self) -> None:
        self.continued.append(self.w.mask)
        self.w.mask = self.w.no_lanes

    def end_iteration(self) -> None:
        """Those who said `continue` are back."""
        if self.continued:
            self.w.mask = union([self.w.mask, *self.continued], self.w, self.before)
            self.continued = []

    def end(self) -> None:
        self.w.mask = union([*self.left, *self.broken], self.w, self.before)

    def range_(self, start: Any, stop: Any = None, step: Any = 1) -> Iterator[Any]:
        """`for i in range(…)`: plain ints if all threads agree on the bounds, else vectors."""
        start, stop = (0, start) if stop is None else (start, stop)
        if all(isinstance(x, (int, np.integer)) for x in (start, stop, step)):
            return self.uniform_range(range(int(start), int(stop), int(step)))
        return self.varying_range(start, stop, step)

    def uniform_range(self, values: range) -> Iterator[int]:
        w, weight = self.w, self.w.weight
        for value, times in self.schedule(values).items() or zip(values, itertools.repeat(1)):
            if not w.mask:
                return
            w.line, w.weight = self.line, weight * times
            w.log.branch(w, w.mask.warps, 0)
            yield value
            self.end_iteration()
            w.weight = weight
        w.line = self.line
        if w.mask:
            w.log.branch(w, w.mask.warps, 0)
            self.left.append(w.mask)

    def schedule(self, values: range) -> dict[int, int]:
        """{value: the iterations that it stands for} of a loop to be sampled; {} where all are run.

        The first stand for all but the last, which may be cut short. Of a loop around others a few
        stand for them that lie far apart: inner loops may grow longer from turn to turn.
        """
        few, count = self.w.launch.iterations or 0, len(values)
        few = -(-few // 8) if self.outer else few
        if not few or self.leaves or count < 3 * few:
            return {}
        times, more = divmod(count - 1, few)
        apart = [(2 * n + 1) * (count - 1) // (2 * few) for n in range(few)]
        places = apart if self.outer else range(few)
        some = {values[place]: times + (n < more) for n, place in enumerate(places)}
        return {**some, values[-1]: 1}

    def plan(self, start: Any, stop: Any, step: Any) -> Any:
        """The same for `while k < stop` with `k += step` as its last line: where k begins."""
        if all(isinstance(x, (int, np.integer)) for x in (start, stop, step)) and step > 0:
            self.leaps = self.schedule(range(int(start), int(stop), int(step)))
        return self.leap(start) if self.leaps else start

    def leap(self, value: Any) -> Any:
        """The next value of such a counter that is not left out."""
        lands = next((v for v in self.leaps if v >= value), int(value))
        self.w.weight = self.weight * self.leaps.get(lands, 1)
        return type(value)(lands)

    def varying_range(self, start: Any, stop: Any, step: Any) -> Iterator[np.ndarray]:
        w, weight = self.w, self.w.weight
        start, stop, step = (np.asarray(x).astype(np.int64) for x in (start, stop, step))
        counts = np.broadcast_to(-((start - stop) // step), w.mask.bits.shape)  # none if step is 0
        for turn, times in self.stretches(counts):
            w.weight = weight * times
            if not self.test(turn < counts):
                break
            yield np.broadcast_to(start + turn * step, counts.shape)
            self.end_iteration()
            w.line = self.line
        w.weight = weight

    def stretches(self, counts: np.ndarray) -> Iterable[tuple[int, int]]:
        """The same for lanes that turn so many times each: sampled from one's end to the next's."""
        if self.leaves or not self.w.launch.iterations:
            return zip(itertools.count(), itertools.repeat(1))
        ends = np.unique(np.maximum(counts[self.w.mask.lanes], 0)).tolist()
        plan: dict[int, int] = {}
        for turns in itertools.starmap(range, itertools.pairwise([0, *ends])):
            rest = turns[1:]  # lanes may leave before the first
            plan |= dict.fromkeys(turns[:1], 1) | (self.schedule(rest) or dict.fromkeys(rest, 1))
        return [*plan.items(), (ends[-1], 1)]

    def each(self, values: Any) -> Iterator[Any]:
        """`for x in array`, in a tuple."""
        if isinstance(values, tuple):
            for i in self.uniform_range(range(len(values))):
                yield values[i]
        elif isinstance(values, View):
            for i in self.range_(values.shape[0]):
                yield load(self.w, values, i)
        else:
            raise Unsupported(f"a loop over {describe(values)}", self.w.line, self.w.function)


class Call:
    """One call of a function: its `return`s gather a value, and its caller's lanes come back."""

    def __init__(self, w: Warps, name: str, kernel: bool) -> None:
        self.w, self.before, self.kernel = w, w.mask, kernel
        self.caller, self.line, self.kernel_line = w.function, w.line, w.kernel_line
        if not kernel and w.kernel_line is None:
            w.kernel_line = w.line
        self.result = Variable(w)
        w.function = name

    def return_(self, value: Any = None) -> None:
        if self.kernel:
            self.w.alive = self.w.alive - self.w.mask
        else:
            self.result.set(value)
        self.w.mask = self.w.no_lanes

    def end(self) -> Any:
        if self.w.mask:
            self.return_()
        self.w.mask, self.w.function = self.before, self.caller
        self.w.line = self.line
        self.w.kernel_line = self.kernel_line
        return None if self.kernel else self.result.value
