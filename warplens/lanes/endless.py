"""Does a loop ever end? It is looked at ever more rarely, a few turns at a time.

It does not where a turn finds all that decides about its end as an earlier turn left it. It does
where two sides that are compared come steadily closer. Where neither is seen it is given
`FEWEST` turns and `PATIENCE`; a kernel that swaps values to wait for other threads, where a loop
that does not end is the likely mistake, `SPIN_LIMIT` turns.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..faults import NoProgress, Unsupported
from .masks import Variable
from .memory import View

if TYPE_CHECKING:
    from .warps import Warps

FIRST_LOOK = 64  # turns; the next look is after twice as many
WINDOW = 4  # turns of one look: so long may a circle be that is found
FEWEST = 10_000  # turns of a loop that is called endless without a proof
PATIENCE = 10.0  # seconds of the processor's time
SPIN_LIMIT = 100_000  # turns
LONGEST = 10**9  # turns: hours, even of an empty loop

Sides = Callable[[], Sequence[tuple[Any, Any]]]


class Progress:
    """Watches one loop. `state`: the variables that decide about its end; `memory`: does what
    arrays hold decide, too? `sides`: what is compared before each turn, or to leave the loop."""

    def __init__(
        self, w: Warps, line: int, state: Sequence[Variable], memory: bool, sides: Sides
    ) -> None:
        self.w, self.line, self.state, self.memory, self.sides = w, line, state, memory, sides
        self.due, self.began = FIRST_LOOK, 0
        self.start = time.process_time()

    def look(self, turns: int) -> None:
        """Called with the number of turns when a look is due; raises NoProgress."""
        launch = self.w.launch
        if not self.began:
            self.began, self.due = turns, turns + 1
            launch.watched += 1
            self.before, self.gaps = self.snapshot(), [self.gap()]
            return
        if alike(self.before, self.snapshot()):
            self.refuse("can never end: a turn changes nothing that decides about it")
        self.gaps.append(self.gap())
        self.due += 1
        if turns == self.began + WINDOW:
            self.close()
            self.due = min(2 * turns, turns + SPIN_LIMIT)
            self.judge(turns)

    def close(self) -> None:
        """End the look, if one is under way."""
        self.w.launch.watched -= bool(self.began)
        self.began = 0

    def judge(self, turns: int) -> None:
        left = turns_left(self.gaps)
        if left is not None and left <= LONGEST:
            return
        if left is not None:
            self.refuse(f"would turn {left:,} times")
        spent = time.process_time() - self.start
        waited = turns >= FEWEST and spent > PATIENCE
        tired = turns >= SPIN_LIMIT if self.w.launch.locks else waited
        if tired:
            self.refuse(f"turned more than {turns:,} times and did not end")

    def refuse(self, what: str) -> None:
        waiting = " (threads of one block cannot wait for each other here)" * self.memory
        raise NoProgress(f"the loop at line {self.line} {what}{waiting}", self.line)

    def snapshot(self) -> tuple:
        """All that the next turn depends on."""
        w, lanes = self.w, self.w.mask.lanes
        values = [at(v.value, lanes) if v.assigned else None for v in self.state]
        around = (changes(w), w.moment.block_epoch) if self.memory else ()
        return len(lanes), *around, *values

    def gap(self) -> list[np.ndarray]:
        """For each pair of sides that is compared, how far they are apart, lane by lane."""
        w, flops = self.w, self.w.log.flops
        w.log.flops = Counter()  # what is reckoned here is no work of the kernel's
        try:
            return [distance(*pair, w.mask.lanes) for pair in self.sides()]
        except (Unsupported, TypeError):  # a variable that is not set yet, an array
            return []
        finally:
            w.log.flops = flops


def changes(w: Warps) -> int:
    """How many accesses have changed what an array holds, since the look began."""
    logged = (len(entries) for site, entries in w.log.sites.items() if site.access != "read")
    return sum(logged) - w.launch.idle


@contextmanager
def watching(w: Warps, view: View, place: Any) -> Iterator[None]:
    """Note where an access that writes leaves all as it was."""
    if not w.launch.watched:
        yield
        return
    before = view.flat[place].tobytes()
    yield
    w.launch.idle += before == view.flat[place].tobytes()


def limited(values: range, line: int) -> Iterator[int]:
    """The numbers of a range that nobody lives to see the end of, for a while."""
    start = time.process_time()
    for turn, value in enumerate(values):
        if turn % FEWEST == FEWEST - 1 and time.process_time() - start > PATIENCE:
            raise NoProgress(f"the loop at line {line} would turn {len(values):,} times", line)
        yield value


def at(value: Any, lanes: np.ndarray) -> Any:
    """A value, for these lanes only."""
    if isinstance(value, np.ndarray):
        return value[lanes] if value.ndim else value
    if isinstance(value, tuple):
        return tuple(at(part, lanes) for part in value)
    if type(value) is View:
        return value.array, at(value.start, lanes), at(value.shape, lanes), value.strides
    return value


def alike(one: Any, other: Any) -> bool:
    """The very same value, bit by bit?"""
    if isinstance(one, tuple):
        return isinstance(other, tuple) and len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, (np.ndarray, np.generic)):
        same_type = type(one) is type(other) and one.dtype == other.dtype
        return same_type and one.tobytes() == other.tobytes()
    if isinstance(one, (bool, int, float, complex)):
        return type(one) is type(other) and (one == other or (one != one and other != other))
    return one is other


def distance(left: Any, right: Any, lanes: np.ndarray) -> np.ndarray:
    left, right = (np.asarray(at(side, lanes)) for side in (left, right))
    kind = np.float64 if "f" in left.dtype.kind + right.dtype.kind else np.int64
    return np.atleast_1d(right.astype(kind) - left.astype(kind))


def turns_left(looks: Sequence[list[np.ndarray]]) -> int | None:
    """So many turns until two sides meet that come closer from look to look; None if none do."""
    last = looks[-3:]
    pairs: Iterable[tuple[np.ndarray, ...]] = zip(*last, strict=False) if len(last) == 3 else ()
    found = [n for before, between, now in pairs
             if (n := meeting(before, between, now)) is not None]  # fmt: skip
    return min(found, default=None)


def meeting(before: np.ndarray, between: np.ndarray, now: np.ndarray) -> int | None:
    if not len(before) == len(between) == len(now):
        return None
    first, step = between - before, now - between
    closer = (step != 0) & (np.sign(now) != np.sign(step)) & (abs(step) >= abs(first) * 0.999)
    if not closer.all():
        return None
    return int(np.max(abs(now) / abs(step))) + 1
