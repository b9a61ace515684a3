"""alternate(): calls that are no versions of an op, timed in turn.

A training step changes what it is given and has no one right answer, so there is nothing that
`timings` could check. The clock is as careful: calls take turns, A B B A in random order, after a
call that is not counted, since whoever comes back finds others' numbers in the caches; short ones
are batched; one thread or every core, whichever is quicker.
"""

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from gpulessons import units
from gpulessons.hardware import thread_choices, threads
from gpulessons.hardware.budget import capped

from .results import quartiles
from .rounds import LONG, SAMPLE


@dataclass(frozen=True, repr=False)
class Spread:
    """What one call took, time after time, in seconds."""

    samples: tuple[float, ...]
    threads: int

    @property
    def median(self) -> float:
        return median(self.samples)

    @property
    def quartiles(self) -> tuple[float, float]:
        return quartiles(self.samples)

    def plus(self, seconds: float) -> "Spread":
        """The same with so much more for every call."""
        return Spread(tuple(sample + seconds for sample in self.samples), self.threads)

    def __repr__(self) -> str:
        low, high = map(units.seconds, self.quartiles)
        return f"{units.seconds(self.median)} (middle half {low} to {high})"


@dataclass
class Turn:
    """One call, its samples so far, and how it is quickest."""

    call: Callable[[], Any]
    calls: int = 1
    threads: int = 1
    samples: list[float] = field(default_factory=list)

    def sample(self) -> float:
        """Seconds for one call, the mean over a batch of them."""
        with threads(self.threads):
            began = time.perf_counter()
            for _ in range(self.calls):
                self.call()
            return (time.perf_counter() - began) / self.calls

    def warm_up(self) -> None:
        """The first call, which may compile; then the better number of threads, one where they tie.

        In turn here too: what the first calls wait for, memory that nobody has touched yet, would
        be held against whoever comes first. By medians: where cores are shared with others, two
        threads are quick once and wait for each other the next time.
        """
        self.sample()
        took: dict[int, list[float]] = {choice: [] for choice in thread_choices()}
        for turn in range(5):
            for self.threads, samples in took.items():
                if turn == 0 or samples[0] < LONG:
                    samples.append(self.sample())
        typical = {choice: median(samples) for choice, samples in took.items()}
        self.threads = min(typical, key=lambda n: typical[n] * (1 if n == 1 else 1.05))
        self.calls = max(1, math.ceil(SAMPLE / max(typical[self.threads], 1e-9)))

    def take(self, again: bool) -> None:
        """A sample that counts. again: it had the turn before, so the caches are its own."""
        if not again and self.samples and self.calls * self.samples[-1] < LONG:
            self.sample()
        self.samples.append(self.sample())

    @property
    def spent(self) -> float:
        return self.calls * sum(self.samples)


def alternate(
    calls: Mapping[str, Callable[[], Any]], seconds: float = 0.5,
    tell: Callable[[int, int, str], None] | None = None,
) -> Iterator[tuple[str, Spread]]:  # fmt: skip
    """Yield (name, Spread) of each call, in the order given: dict(alternate(calls)).

    seconds: for the samples of each, at most GPULESSONS_BUDGET; a call that takes longer has one.
    tell(done, total, name): called as each is warm, and as each is known. On Ctrl-C what has
    samples is yielded, then KeyboardInterrupt goes on its way.
    """
    limit = capped(seconds)
    if not 0 < limit < math.inf:
        raise ValueError(f"Calls are timed for a number of seconds above 0, not {seconds}.")
    turns, order, done = {n: Turn(call) for n, call in calls.items()}, random.Random(0), 0

    def step(name: str) -> None:
        nonlocal done
        done += 1
        if tell:
            tell(done, 2 * len(turns), name)

    try:
        for name, turn in turns.items():
            turn.warm_up()
            step(name)
        active, before = list(turns), ""
        while active:
            order.shuffle(active)
            for name in active + active[::-1]:
                if not turns[name].samples or turns[name].spent < limit:
                    turns[name].take(again=name == before)
                    before = name
            for name in [name for name in active if turns[name].spent >= limit]:
                active.remove(name)
                step(name)
    except KeyboardInterrupt:
        yield from spreads(turns)
        raise
    yield from spreads(turns)


def spreads(turns: Mapping[str, Turn]) -> Iterator[tuple[str, Spread]]:
    """Those that have any samples."""
    for name, turn in turns.items():
        if turn.samples:
            yield name, Spread(tuple(turn.samples), turn.threads)
