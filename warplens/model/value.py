"""Modelled: the time that a named GPU would need, its interval, its bounds and what limits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from warplens import units
from warplens.tables import Table, Tabled

# Seconds of a launch that nothing hides, and from what to what they may be: beside the kernel's own
# 1.2 µs (L40), 1.5 (A40) and 2 (H200) in te42kyfo/gpu-benches' gpu-small-kernels, one by one: this
# is their mean. Others found 3.2 where a launch comes alone.
LAUNCH, LAUNCH_RANGE = 1.6e-6, (1.1e-6, 3.2e-6)
FEW = 10  # waves: with more, a tail no longer counts
CONSIDERABLE = 0.1  # of a modelled time: a launch that is more of it is mentioned


@dataclass(frozen=True, repr=False)
class Modelled(Tabled):
    """One launch, or all launches of one call, modelled and never measured. Times in seconds."""

    kernel: str
    gpu: str
    seconds: float | None  # None where only the lower end is known: that is no time to reckon with
    low: float  # of the interval, which is as wide as residuals of published times were
    high: float | None  # None where only the lower end is known: "at least"
    bounds: dict[str, float]  # part of the GPU → the seconds that it alone would need
    occupancy: float  # of the warp slots of a multiprocessor; of several launches, of the longest
    occupancy_limiter: str  # "registers", "shared memory", "warps", "blocks"; or the grid itself
    waves: float  # of blocks, one after the other
    counted_from: str  # "machine code", or "source" where nothing can read machine code
    why_at_least: str = ""
    launches: tuple[Modelled, ...] = ()  # where there are several
    idle: str = ""  # how many multiprocessors have nothing to do, where some do not
    again: float | None = None  # seconds where all arrays are in L2, if they fit and it is known

    @property
    def limiter(self) -> str:
        """What the kernel would wait for most."""
        return self.ranked[0]

    @property
    def runner_up(self) -> str:
        return self.ranked[1]

    @property
    def ranked(self) -> list[str]:
        """The bounds, the longest first."""
        return sorted(self.bounds, key=lambda part: -self.bounds[part])

    @property
    def at_least(self) -> bool:
        return self.high is None

    @property
    def known(self) -> float:
        """The time; where it is not known, the least that it can be."""
        return self.low if self.seconds is None else self.seconds

    @property
    def tail(self) -> float:
        """Of the block slots of the last wave, the share that stays empty."""
        return -self.waves % 1

    def share(self, part: str) -> float:
        """A bound as a part of the modelled time; where there is none, of the largest bound."""
        return self.bounds[part] / (self.seconds or max(self.bounds.values()))

    def holds(self, seconds: float) -> bool:
        """Does a measured time lie in the interval?"""
        return self.low <= seconds and (self.high is None or seconds <= self.high)

    @property
    def words(self) -> str:
        """The time, with its interval, for a cell or a label."""
        if self.seconds is None or self.high is None:
            return f"at least {units.seconds(self.low)}"
        low, high = units.seconds(self.low), units.seconds(self.high)
        return f"{units.seconds(self.seconds)} ({low} to {high})"

    @property
    def headline(self) -> str:
        source = ", counted from its source alone" if self.counted_from == "source" else ""
        return (
            f"{self.kernel} on {self.gpu}: {self.words}, MODELLED and not measured{source}. "
            f"It would wait for {self.limiter}, then for {self.runner_up}."
        )

    @property
    def notes(self) -> list[str]:
        waves = f"{self.waves:.3g} wave{'s' * (self.waves != 1)} of blocks"
        if self.tail and 1 < self.waves < FEW:
            waves += f"; in the last one {units.percent(self.tail)} of the places stay empty"
        share = units.percent(self.occupancy)
        found = [f"occupancy {share}, limited by {self.occupancy_limiter}; {waves}"]
        if self.bounds.get("launch", 0) > CONSIDERABLE * self.known:
            assumed = f"{units.seconds(LAUNCH)} of it are reckoned for each launch"
            found.append(f"{assumed}; Python's share of a call is not in it")
        if self.again and self.again < (1 - CONSIDERABLE) * self.known:
            found.append(
                "its arrays fit L2: launched again at once it may find them there, and take about "
                f"{units.seconds(self.again)}; the interval reaches down to that"
            )
        return [*found, *filter(None, (self.idle, self.why_at_least))]

    def table(self) -> Table:
        head = ["part of the GPU", "alone it takes", "share"]
        parts = [part for part in self.ranked if self.bounds[part]]
        rows = [[part, units.seconds(self.bounds[part]), units.percent(self.share(part))]
                for part in parts]  # fmt: skip
        return Table(self.headline, head, rows, self.notes)


def together(name: str, launches: Sequence[Modelled]) -> Modelled:
    """Launches one after the other, as one Modelled: their times and bounds add up."""
    if len(launches) == 1:
        return replace(launches[0], kernel=name)
    longest = max(launches, key=lambda each: each.known)
    seconds, highs = ([getattr(each, end) for each in launches] for end in ("seconds", "high"))
    again = [each.again or each.known for each in launches]
    parts = dict.fromkeys(part for each in launches for part in each.bounds)
    return replace(
        longest,
        kernel=name,
        seconds=None if None in seconds else sum(seconds),
        low=sum(each.low for each in launches),
        high=None if None in highs else sum(highs),
        bounds={part: sum(each.bounds.get(part, 0.0) for each in launches) for part in parts},
        counted_from=min((each.counted_from for each in launches), key="source machine code".find),
        why_at_least="; ".join(dict.fromkeys(e.why_at_least for e in launches if e.why_at_least)),
        launches=tuple(launches),
        again=sum(again) if None not in seconds and any(e.again for e in launches) else None,
    )
