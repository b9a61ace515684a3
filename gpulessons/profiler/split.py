"""The split: every instant of a step belongs to one of four kinds, so their shares sum to 1.

For each instant the first of these that is true decides:
  a GPU kernel runs                                                → compute
  a GPU copies or fills memory                                     → memory
  a host thread is in an operator that computes on the CPU         → compute
  a host thread is in one that only allocates, fills or moves      → memory
  a host thread is in any other operator, or in a call of CUDA     → launch and Python
  the host waits for the GPU, which has nothing to do              → idle
  no operator runs: Python does                                    → launch and Python

A CPU operator computes and is called in one span: the first `call` seconds of its own time, as long
as an operator takes that adds two numbers, are launching. So 500 tiny sums are 500 calls. A thread
that sleeps or waits for a file looks to the profiler like Python, and is counted there.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from .spans import COMPUTE, GPU, IDLE, KINDS, LAUNCH, MEMORY, OPERATORS, PYTHON, Span

# What decides at an instant, the first that is there: GPU, GPU copies, then what hosts are in.
LAYERS = (COMPUTE, MEMORY, COMPUTE, MEMORY, LAUNCH, IDLE)


class Part(NamedTuple):
    """A piece of the step's time, and what it went into."""

    start: float
    stop: float
    kind: str

    @property
    def seconds(self) -> float:
        return self.stop - self.start


def partition(spans: Sequence[Span], seconds: float, call: float = 0.0) -> tuple[Part, ...]:
    """The step cut into parts without gap or overlap: 0 … seconds. The rules stand above."""
    layers: dict[int, list[Part]] = defaultdict(list)  # rank -> parts; the lowest rank wins
    for lane, inside in by_thread(spans).items():
        if lane.startswith(GPU):
            layers[0] += [Part(s.start, s.stop, COMPUTE) for s in inside if s.kind == COMPUTE]
            layers[1] += [Part(s.start, s.stop, MEMORY) for s in inside if s.kind == MEMORY]
            continue
        for part in innermost(inside, call):
            layers[LAYERS.index(part.kind, 2)].append(part)
    return tuple(joined(overlaid(layers, seconds)))


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


def overlaid(layers: dict[int, list[Part]], seconds: float) -> Iterator[Part]:
    """Each instant by its lowest layer; where there is none, Python runs."""
    changes = [(seconds, 0, 0)]
    for layer, parts in layers.items():
        for part in parts:
            start, stop = max(0.0, part.start), min(seconds, part.stop)
            if start < stop:
                changes += [(start, layer, 1), (stop, layer, -1)]
    there = [0] * len(LAYERS)
    now = 0.0
    for time, layer, more in sorted(changes):
        if time > now:
            kind = next((kind for kind, count in zip(LAYERS, there, strict=True) if count), LAUNCH)
            yield Part(now, time, kind)
            now = time
        there[layer] += more


def joined(parts: Iterator[Part]) -> Iterator[Part]:
    """Neighbors of one kind become one part."""
    for kind, alike in groupby(parts, key=lambda part: part.kind):
        same = list(alike)
        yield Part(same[0].start, same[-1].stop, kind)
