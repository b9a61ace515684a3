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

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .spans import COMPUTE, GPU, IDLE, KINDS, LAUNCH, MEMORY, Span

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
    changes = [(seconds, 0, 0)]  # (when, layer, one more or one less that is in it)
    for span in spans:
        for start, stop, layer in occupied(span, call):
            start, stop = max(0.0, start), min(seconds, stop)
            if start < stop:
                changes += [(start, layer, 1), (stop, layer, -1)]
    parts: list[Part] = []
    there, now = [0] * len(LAYERS), 0.0
    for time, layer, more in sorted(changes):
        if time > now:
            # Where no layer has anything, Python runs.
            kind = next((kind for kind, count in zip(LAYERS, there, strict=True) if count), LAUNCH)
            if parts and parts[-1].kind == kind:
                now = parts.pop().start
            parts.append(Part(now, time, kind))
            now = time
        there[layer] += more
    return tuple(parts)


def occupied(span: Span, call: float) -> Iterator[tuple[float, float, int]]:
    """(start, stop, layer) of each stretch in which nothing runs inside a span."""
    if span.lane.startswith(GPU):
        yield span.start, span.stop, LAYERS.index(span.kind)
        return
    left = call if span.kind == COMPUTE else 0.0  # of the seconds that its call costs
    for start, stop in span.alone:
        calling = min(left, stop - start)
        left -= calling
        yield start, start + calling, LAYERS.index(LAUNCH)
        yield start + calling, stop, LAYERS.index(span.kind, 2)


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
