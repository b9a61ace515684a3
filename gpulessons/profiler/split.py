"""The split: every instant of a step belongs to one of four kinds, so their shares sum to 1.

For each instant the first of these that is true decides:
  a GPU kernel runs                                                → compute
  a GPU copies or fills memory                                     → memory
  a host thread is in an operator that computes on the CPU         → compute
  a host thread is in one that only allocates, fills or moves      → memory
  a host thread is in any other operator, or in a call of CUDA     → launch and Python
  the host waits for the GPU, which has nothing to do              → idle
  no operator runs: Python does                                    → launch and Python

Two corrections. (1) A CPU operator computes and is called in one span: the first `call` seconds of
its own time, as long as an operator takes that adds two numbers, are launching. So 500 tiny sums
are 500 calls. (2) A thread that sleeps or waits for a file looks to the profiler like Python. The
system's clocks (`pulse`) say for how long the thread did not want a processor; that much is taken
out of "launch and Python" and is idle. What another program's load takes away stays where it is.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

from .spans import COMPUTE, GPU, IDLE, KINDS, LAUNCH, MEMORY, OPERATORS, PYTHON, Span

# What decides at an instant, the first that is there: GPU, GPU copies, then what hosts are in.
LAYERS = (COMPUTE, MEMORY, COMPUTE, MEMORY, LAUNCH, IDLE)
OTHERS = len(LAYERS)  # threads beside the caller's: while they work, nobody is idle
UNSURE = 5e-5  # seconds: reading two clocks takes as long; what is shorter is no sleep
PAUSE = 1e-4  # seconds: a thread between two operators this close is still at work


class Part(NamedTuple):
    """A piece of the step's time, and what it went into."""

    start: float
    stop: float
    kind: str

    @property
    def seconds(self) -> float:
        return self.stop - self.start


Pulse = Sequence[tuple[float, float]]  # (seconds from the start, seconds awake until then)


def partition(
    spans: Sequence[Span], seconds: float, call: float = 0.0, pulse: Pulse = ()
) -> tuple[Part, ...]:
    """The step cut into parts without gap or overlap: 0 … seconds. The rules stand above."""
    layers: dict[int, list[Part]] = defaultdict(list)  # rank -> parts; the lowest rank wins
    others: list[Part] = []
    for lane, inside in by_thread(spans).items():
        if lane.startswith(GPU):
            layers[0] += [Part(s.start, s.stop, COMPUTE) for s in inside if s.kind == COMPUTE]
            layers[1] += [Part(s.start, s.stop, MEMORY) for s in inside if s.kind == MEMORY]
            continue
        parts = list(innermost(inside, call))
        for part in parts:
            layers[LAYERS.index(part.kind, 2)].append(part)
        if lane != OPERATORS:
            others += bridged(parts)
    pieces = list(overlaid(layers, others, seconds, [time for time, _ in pulse]))
    return tuple(joined(with_idle(pieces, pulse)))


def shares(parts: Sequence[Part]) -> dict[str, float]:
    """{kind: its share of the whole}; they sum to 1."""
    whole = sum(part.seconds for part in parts)
    return {
        kind: sum(part.seconds for part in parts if part.kind == kind) / whole for kind in KINDS
    }


def percents(shares: dict[str, float]) -> dict[str, int]:
    """Shares in whole percent that add up to 100: what rounding down leaves over goes to those that
    lost most by it."""
    whole = {kind: int(100 * share) for kind, share in shares.items()}
    lost = sorted(shares, key=lambda kind: whole[kind] - 100 * shares[kind])
    for kind in lost[: 100 - sum(whole.values())]:
        whole[kind] += 1
    return whole


def by_thread(spans: Sequence[Span]) -> dict[str, list[Span]]:
    """Spans by lane; what Python named runs in the thread of the operators."""
    lanes: dict[str, list[Span]] = defaultdict(list)
    for span in spans:
        lanes[OPERATORS if span.lane == PYTHON else span.lane].append(span)
    return lanes


def innermost(spans: Sequence[Span], call: float) -> Iterator[Part]:
    """What one thread is in at each instant: the span that no other stands in."""
    around: list[Span] = []
    left: list[float] = []  # of the seconds that each call costs
    now = 0.0

    def until(stop: float) -> Iterator[Part]:
        nonlocal now
        start, now = now, max(now, stop)
        if not around or start >= stop:
            return
        calling = min(left[-1], stop - start) if around[-1].kind == COMPUTE else 0.0
        left[-1] -= calling
        if calling:
            yield Part(start, start + calling, LAUNCH)
        if start + calling < stop:
            yield Part(start + calling, stop, around[-1].kind)

    # Of two alike, what Python named is outside.
    order = sorted(spans, key=lambda s: (s.start, -s.stop, s.lane != PYTHON, s.depth))
    for span in order:
        while around and around[-1].stop <= span.start:
            yield from until(around[-1].stop)
            around.pop(), left.pop()
        yield from until(span.start)
        now = max(now, span.start)
        around.append(span)
        left.append(call)
    while around:
        yield from until(around[-1].stop)
        around.pop(), left.pop()


def bridged(parts: Sequence[Part]) -> list[Part]:
    """Where a thread is at work: its operators, and the short pauses between them."""
    found: list[Part] = []
    for part in parts:
        near = found and part.start - found[-1].stop <= PAUSE
        start = found.pop().start if near else part.start
        found.append(Part(start, part.stop, LAUNCH))
    return found


def overlaid(
    layers: dict[int, list[Part]], others: Sequence[Part], seconds: float, cuts: Sequence[float]
) -> Iterator[tuple[Part, bool]]:
    """Each instant by its lowest layer, as (part, may it have been waiting?), cut at these times.

    A caller does not wait for nothing while another thread is at work.
    """
    changes = [(time, OTHERS, 0) for time in (*cuts, seconds) if 0 < time <= seconds]
    for layer, parts in [*layers.items(), (OTHERS, others)]:
        for part in parts:
            start, stop = max(0.0, part.start), min(seconds, part.stop)
            if start < stop:
                changes += [(start, layer, 1), (stop, layer, -1)]
    there = [0] * (OTHERS + 1)
    now = 0.0
    for time, layer, more in sorted(changes):
        if time > now:
            kind = next((LAYERS[n] for n in range(OTHERS) if there[n]), LAUNCH)
            yield Part(now, time, kind), kind == LAUNCH and not there[OTHERS]
            now = time
        there[layer] += more


def with_idle(pieces: Sequence[tuple[Part, bool]], pulse: Pulse) -> Iterator[Part]:
    """Between two samples of its clock the thread slept for so long: the longest pieces in which it
    may have waited are idle."""
    starts = [part.start for part, _ in pieces]
    asleep: dict[Part, float] = {}
    for (start, awake), (stop, later) in pairwise(pulse):
        slept = (stop - start) - (later - awake)
        between = pieces[bisect_left(starts, start) : bisect_left(starts, stop)]
        waiting = [part for part, may in between if may and part.seconds > UNSURE]
        for part in sorted(waiting, key=lambda part: -part.seconds) if slept > UNSURE else ():
            asleep[part] = min(slept, part.seconds)
            slept -= asleep[part]
    for part, _ in pieces:
        middle = min(part.start + asleep.get(part, 0.0), part.stop)
        if middle > part.start:
            yield Part(part.start, middle, IDLE)
        if middle < part.stop:
            yield Part(middle, part.stop, part.kind)


def joined(parts: Iterator[Part]) -> Iterator[Part]:
    """Neighbors of one kind become one part."""
    for kind, alike in groupby(parts, key=lambda part: part.kind):
        same = list(alike)
        yield Part(same[0].start, same[-1].stop, kind)
