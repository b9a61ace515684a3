"""interleaved(): how long calls take, timed so that a busy machine treats them all alike.

Calls take their samples A B B A, in random order: a busy minute then hits all of them, and none has
the better place. Short calls are batched until the clock's own cost vanishes. Whoever comes back
waits until others' threads have left the cores, and finds others' numbers in the caches, so that
its first batch does not count. One thread or every core computes, whichever is quicker.

A Sampler is what takes part: here a plain call; in `measure.rounds` a version of an op, which is
checked as well; what else wants to be timed in turn subclasses it and is given to `interleave`.
"""

import gc
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any

from gpulessons import units

from .budget import capped, repeated
from .pools import rest, thread_choices, threads

SAMPLE = 2e-3  # seconds: calls shorter than this are batched, so the timer's 0.1 µs vanishes
LONG = 0.05  # seconds: beside this, waking threads up is nothing
Advance = Callable[[int, int, str], object]  # advance(done, total, words), as progress_bar gives it


@dataclass(kw_only=True, eq=False)
class Sampler:
    """One call, its samples so far, and how it is quickest."""

    call: Callable[[], Any] | None = None
    calls: int = 1  # in each sample
    threads: int = 1
    flush: Callable[[], Any] | None = None  # empties the caches before every call
    samples: list[float] = field(default_factory=list)  # seconds of one call
    spent: float = 0.0  # seconds of the caller's time, flushing included

    @property
    def on_cpu(self) -> bool:
        return True

    def sample(self, keep: bool = True) -> float:
        """Seconds for one call, the mean over a batch of them."""
        assert self.call
        with threads(self.threads):
            began = time.perf_counter()
            for _ in range(self.calls):
                self.call()
            seconds = (time.perf_counter() - began) / self.calls
        if keep:
            self.samples.append(seconds)
        return seconds

    def warm_up(self) -> None:
        """The first call, which may compile; then the threads, and how many calls fill a sample."""
        self.sample(keep=False)
        self.choose_calls(self.sample(keep=False))
        self.threads = self.best_threads()

    def best_threads(self) -> int:
        """One thread or all, whichever is faster by more than noise; one where they tie.

        In turn here too, and by medians: where cores are shared with others, two threads are quick
        once and wait for each other the next time.
        """
        took: dict[int, list[float]] = {n: [] for n in (thread_choices() if self.on_cpu else (1,))}
        for repeat in range(repeated(5)):
            for self.threads, samples in took.items():
                if repeat == 0 or samples[0] < LONG:
                    samples.append(self.sample(keep=False))
        typical = {n: median(samples) for n, samples in took.items()}
        best = min(typical, key=lambda n: typical[n] * (1 if n == 1 else 1.05))
        self.choose_calls(typical[best])
        return best

    def choose_calls(self, took: float) -> None:
        self.calls = 1 if self.flush else max(1, math.ceil(SAMPLE / max(took, 1e-9)))

    def take(self, again: bool) -> None:
        """A sample that counts. again: it had the one before, so caches and cores are its own."""
        began = time.perf_counter()
        if self.on_cpu and not again:
            rest()
        short = self.samples and self.calls * min(self.samples) < LONG
        if short and self.on_cpu and not again:
            self.sample(keep=False)
        if self.flush:
            self.flush()
        self.sample()
        self.spent += time.perf_counter() - began

    def ended(self, limit: float) -> bool:
        """Whether it is known well enough; asked after each round."""
        return self.spent >= limit


def interleave(
    samplers: Sequence[Any], limit: float, done: Callable[[Any], object] = lambda sampler: None
) -> None:
    """Rounds of A B B A in random order, until every sampler has ended or spent so many seconds.

    done(sampler): called as each ends.
    """
    active, order = list(samplers), random.Random(0)
    collecting = gc.isenabled()
    gc.disable()
    try:
        while active:
            order.shuffle(active)
            before = None
            for each in active + active[::-1]:
                if not each.samples or each.spent < limit:
                    each.take(again=each is before)
                    before = each
            for each in [each for each in active if each.ended(limit) or each.spent >= limit]:
                active.remove(each)
                done(each)
    finally:
        if collecting:
            gc.enable()


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

    def __repr__(self) -> str:
        low, high = map(units.seconds, self.quartiles)
        return f"{units.seconds(self.median)} (middle half {low} to {high})"


def interleaved(
    calls: Mapping[str, Callable[[], Any]], seconds: float = 0.5,
    advance: Advance | None = None,
) -> Iterator[tuple[str, Spread]]:  # fmt: skip
    """Yield (name, Spread) of each call, in the order given: dict(interleaved(calls)).

    For calls that are no versions of an op, such as a training step, which changes what it is given
    and has no one right answer. seconds: for each, at most GPULESSONS_BUDGET; a call that takes
    longer has one sample. advance(done, total, name): called as each is warm, and as each is known.
    On Ctrl-C what has samples is yielded, then KeyboardInterrupt goes on its way.
    """
    limit = capped(seconds)
    if not 0 < limit < math.inf:
        raise ValueError(f"Calls are timed for a number of seconds above 0, not {seconds}.")
    samplers = {name: Sampler(call=call) for name, call in calls.items()}
    names = {id(sampler): name for name, sampler in samplers.items()}
    done = 0

    def step(sampler: Sampler) -> None:
        nonlocal done
        done += 1
        if advance:
            advance(done, 2 * len(samplers), names[id(sampler)])

    try:
        for sampler in samplers.values():
            sampler.warm_up()
            step(sampler)
        interleave(list(samplers.values()), limit, step)
    except KeyboardInterrupt:
        yield from spreads(samplers)
        raise
    yield from spreads(samplers)


def spreads(samplers: Mapping[str, Sampler]) -> Iterator[tuple[str, Spread]]:
    """Those that have any samples."""
    for name, sampler in samplers.items():
        if sampler.samples:
            yield name, Spread(tuple(sampler.samples), sampler.threads)


def passes(sample: Callable[[], float], seconds: float) -> list[float]:
    """What one sample after the other says: three, and more until so many seconds are spent."""
    found: list[float] = []
    end = time.perf_counter() + capped(seconds)
    while len(found) < 3 or time.perf_counter() < end:
        found.append(sample())
    return found


def quartiles(samples: Sequence[float]) -> tuple[float, float]:
    """First and third quartile; of a single sample, the sample itself."""
    if len(samples) < 2:
        return samples[0], samples[0]
    low, _, high = quantiles(samples, n=4, method="inclusive")
    return low, high
