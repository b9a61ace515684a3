"""What stands in a row: one version on each machine, or the best of each, and the ratios.

On one machine versions take turns, and their ratio is paired round by round. Between machines
nothing is paired: a ratio is one of medians, and its range goes from quartile to quartile, the
slowest against the fastest and the other way round.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gpulessons.backends import BACKENDS

from ..results import TOO_NOISY, Absent, Ratio, Timing
from .sides import Side

Entry = Timing | Absent | None  # None: this machine has not tried it
# The best of what each machine has timed: it need not be the same version.
OF_ALL = "best of all"
BESTS = {f"best ({backend.label})": {name} for name, backend in BACKENDS.items()}
BESTS[OF_ALL] = set(BACKENDS)
# Why there is no ratio, in a cell's words and in a sentence's.
REFUSED = {
    "too noisy": f"the middle half of the samples spreads over {TOO_NOISY:.0%} of the median",
    "cold, warm": "of one the caches were flushed before every call, of the other they were not",
    "other work": "FLOPs or bytes of the op differ, so another version of it was measured",
}


@dataclass(frozen=True)
class Row:
    """One version of an op at one size, or the best of each machine."""

    op: str
    size: int
    unit: str
    name: str  # the version, or which best
    entries: tuple[Entry, ...]  # one a machine
    ratios: tuple[Ratio | None, ...]  # how many times as fast as the one chosen; None: no ratio


def rows_of(sides: Sequence[Side], chosen: int) -> Iterator[Row]:
    """Every row, op by op from the smallest size to the largest."""
    ops = dict.fromkeys(op for side in sides for op in side.sizes)
    for op in ops:
        unit = next(one.unit for side in sides for one in side.comparisons if one.op == op)
        for size in sorted({size for side in sides for size in side.sizes.get(op, ())}):
            for name, entries in shared_entries(sides, op, size).items():
                ratios = [unpaired(entries[chosen], entry) for entry in entries]
                ratios[chosen] = None
                yield Row(op, size, unit, name, entries, tuple(ratios))


def shared_entries(sides: Sequence[Side], op: str, size: int) -> dict[str, tuple[Entry, ...]]:
    """A version, or a best -> its entry on each machine; where at least two have a time."""
    timed = [side.timed(op, size) for side in sides]
    if sum(map(bool, timed)) < 2:
        return {}
    found: dict[str, tuple[Entry, ...]] = {}
    for version in dict.fromkeys(version for each in timed for version in each):
        if sum(version in each for each in timed) > 1:
            found[version] = tuple(s.entries.get((op, size), {}).get(version) for s in sides)
    several = len({version for each in timed for version in each}) > 1
    overall = tuple(best(each, BESTS[OF_ALL]) for each in timed)
    for name, backends in BESTS.items():
        entries = tuple(best(each, backends) for each in timed)
        # Once is enough: where one version is everybody's best, its own row says so.
        news = name == OF_ALL or entries not in [*found.values(), overall]
        if several and news and sum(map(bool, entries)) > 1:
            found[name] = entries
    return found


def best(timed: dict[str, Timing], backends: set[str]) -> Timing | None:
    """The fastest of the timings on these backends."""
    fits = (timing for timing in timed.values() if timing.backend in backends)
    return min(fits, key=lambda timing: timing.median, default=None)


def unpaired(there: Entry, here: Entry) -> Ratio | None:
    """How many times as fast as `there` a machine is `here`; None where one has no time.

    Refused where one was too noisy, where one was cold and one warm, and where the work differs.
    """
    if not (isinstance(there, Timing) and isinstance(here, Timing)):
        return None
    refused = ""
    if "too noisy" in (there.noise, here.noise):
        refused = "too noisy"
    elif there.cold != here.cold:
        refused = "cold, warm"
    elif (there.flops, there.bytes) != (here.flops, here.bytes):
        refused = "other work"
    if refused:
        return Ratio(math.nan, math.nan, math.nan, refused)
    (fast, slow), (quick, late) = there.quartiles, here.quartiles
    return Ratio(there.median / here.median, fast / late, slow / quick)
