"""Timings as values: what was measured, how sure it is, and what may be said of it.

A Timing is one version at one size. A Comparison is timings together, taken in the same minutes on
the same machine. Both keep every sample and read well as text and as HTML. A ModelledTiming is no
measurement: what a named GPU would need, in a Comparison of its own kind.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from gpulessons import units
from gpulessons.hardware.timer import quartiles
from warplens.model.value import LAUNCH
from warplens.tables import Table

NOISY, TOO_NOISY = 0.10, 0.25  # of the median: marked; no speed-up is claimed
INTERRUPTED = "interrupted: what was measured until then is here"  # a Comparison's note


@dataclass(frozen=True, repr=False)
class Timing:
    """One version at one size. All times in seconds for one call."""

    op: str
    version: str
    backend: str
    size: int
    samples: tuple[float, ...]  # one per round: on a GPU by its own clock
    waits: tuple[float, ...]  # what the caller waited, launch and sync included; () on a CPU
    calls: int  # calls in each sample
    threads: int | None  # None: it computes in one, whatever it may use
    first: float  # the very first call, compilation included
    h2d: float  # inputs, host to device
    d2h: float  # result, device to host
    flops: int
    bytes: int
    error: float  # the largest, against float64
    cold: bool  # were the caches flushed before each call?
    stop: str  # "settled", "time budget" or "interrupted"
    arithmetic: str = ""  # "TF32", "fp16" …: it rounds more than its op, and is ranked apart

    @property
    def median(self) -> float:
        return median(self.samples)

    @property
    def quartiles(self) -> tuple[float, float]:
        return quartiles(self.samples)

    @property
    def wait(self) -> float:
        """What the caller waits for one call: on a GPU more than the kernel's own time."""
        return median(self.waits or self.samples)

    @property
    def with_transfers(self) -> float:
        """There, compute, back: what one use costs when the data start and end on the host."""
        return self.h2d + self.wait + self.d2h

    @property
    def spread(self) -> float:
        """The middle half of the samples, as a fraction of the median."""
        low, high = self.quartiles
        return (high - low) / self.median

    @property
    def noise(self) -> str:
        """ "" when the samples agree, else a word of warning."""
        if self.spread > TOO_NOISY:
            return "too noisy"
        return "noisy" if self.spread > NOISY else ""

    @property
    def bandwidth(self) -> float:
        """Bytes per second, counting each input and output once."""
        return self.bytes / self.median

    @property
    def flop_rate(self) -> float:
        return self.flops / self.median

    @property
    def about(self) -> list[str]:
        """The threads that computed and its rates, where they are known: as a table has them."""
        flops = units.rate(self.flop_rate, "FLOP/s") if self.flops else ""
        return [str(self.threads or ""), units.rate(self.bandwidth, "B/s"), flops]

    def doubt(self, ceiling: float | None) -> str:
        """What is wrong with a cold figure that beats the memory's measured ceiling (bytes/s).

        Not by a little: the ceiling itself may have been measured in a busy minute.
        """
        if ceiling and self.cold and self.bandwidth > (1 + NOISY) * ceiling:
            reached, most = (units.rate(rate, "B/s") for rate in (self.bandwidth, ceiling))
            return (
                f"its {self.words} would be {reached}, and this memory's best is {most}: a cache "
                "still held some of it, or the best was measured in a busy minute "
                "(machine(again=True) measures it again)"
            )
        return ""

    def __repr__(self) -> str:
        noise = f" ({self.noise})" if self.noise else ""
        return f"{self.op} at {units.count(self.size)}, {self.version}: {self.words}{noise}"

    @property
    def words(self) -> str:
        return units.seconds(self.median)


@dataclass(frozen=True)
class Absent:
    """A version that could not be timed at one size, and why: a row of the table like any other."""

    op: str
    version: str
    backend: str
    size: int
    why: str
    arithmetic: str = ""
    wrong: bool = False  # it was checked, and computes something else

    words, noise = "–", ""
    about = ("", "", "")

    def doubt(self, ceiling: float | None) -> str:
        """Why there is no figure: asked of timings, this answers too."""
        return self.why


@dataclass(frozen=True, repr=False)
class ModelledTiming:
    """One version at one size on a GPU that is not here: modelled, never measured. Seconds."""

    op: str
    version: str
    backend: str
    size: int
    gpu: str  # its name
    seconds: float | None  # None where only the lower end is known
    low: float  # a measured time should lie between these two
    high: float | None  # None where only the lower end is known: "at least"
    limiter: str  # what it would wait for: the largest of its bounds
    runner_up: str
    counted_from: str  # "machine code" or "source"
    flops: int
    bytes: int
    peak: float  # of this GPU, by its data sheet: float32 FLOP/s
    memory: float  # and bytes/s
    arithmetic: str = ""

    noise = ""  # nothing was sampled

    @property
    def at_least(self) -> bool:
        return self.high is None

    @property
    def median(self) -> float:
        """What a table or a picture takes: the time, or the least that it can be."""
        return self.low if self.seconds is None else self.seconds

    @property
    def quartiles(self) -> tuple[float, float]:
        """The interval, where a Timing has the middle half of its samples."""
        return self.low, self.low if self.high is None else self.high

    @property
    def bandwidth(self) -> float:
        """Bytes per second, counting each input and output once."""
        return self.bytes / self.median

    @property
    def flop_rate(self) -> float:
        return self.flops / self.median

    @property
    def words(self) -> str:
        if self.seconds is None or self.high is None:
            return f"at least {units.seconds(float(f'{self.low:.2g}'))}"
        return f"≈ {units.between(self.seconds, self.low, self.high)}"

    @property
    def briefly(self) -> str:
        """Its time without the interval, for pictures that draw that."""
        return self.words.partition(" (")[0]

    @property
    def why(self) -> str:
        """Why it is no Timing."""
        return f"modelled for {self.gpu}, not measured"

    @property
    def waits_for(self) -> str:
        return f"{self.limiter}, then {self.runner_up}"

    @property
    def about(self) -> list[str]:
        """What it waits for and its rates, as a table has them: of "at least" there are none."""
        if self.at_least:
            return [self.waits_for, "", ""]
        moved, computed = (float(f"{each:.2g}") for each in (self.bandwidth, self.flop_rate))
        flops = f"≈ {units.rate(computed, 'FLOP/s')}" if self.flops else ""
        return [self.waits_for, f"≈ {units.rate(moved, 'B/s')}", flops]

    def __repr__(self) -> str:
        what = f"{self.op} at {units.count(self.size)}, {self.version}: {self.words}"
        return f"{what}, modelled for {self.gpu}; it would wait for {self.waits_for}"


Entry = Timing | Absent | ModelledTiming


@dataclass(frozen=True, repr=False)
class Ratio:
    """How many times faster, paired round by round; refused where the machine was too noisy."""

    median: float
    low: float
    high: float
    refused: str = ""

    def __repr__(self) -> str:
        if self.refused:
            return f"no claim: {self.refused}"
        low, high = units.ratio(self.low), units.ratio(self.high)
        return f"{units.ratio(self.median)} (middle half {low} to {high})"


def ratio(slow: Entry, fast: Entry) -> Ratio:
    """How many times faster `fast` is than `slow`: the median over the rounds both took part in."""
    for timing in (slow, fast):
        if not isinstance(timing, Timing):
            return Ratio(math.nan, math.nan, math.nan, f"{timing.version}: {timing.why}")
    assert isinstance(slow, Timing) and isinstance(fast, Timing)
    factors = [a / b for a, b in zip(slow.samples, fast.samples, strict=False)]
    low, high = quartiles(factors)
    noisy = [t.version for t in (slow, fast) if t.noise == "too noisy"]
    refused = f"{' and '.join(noisy)}: the machine was too noisy" if noisy else ""
    return Ratio(median(factors), low, high, refused)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Versions of one op, timed in turn. Rows are versions, columns sizes."""

    op: str
    entries: tuple[Entry, ...]
    machine: str  # its name, for labels
    date: str
    tier: str = "live"  # or "recorded", or "modelled"
    notes: tuple[str, ...] = ()
    unit: str = "elements"  # what a size counts
    beside: tuple["Comparison", ...] = ()  # recordings of the same op from other machines
    modelled: tuple["Comparison", ...] = ()  # the same op on GPUs that are not here: one for each

    @property
    def timings(self) -> tuple[Timing, ...]:
        """What was measured: nothing modelled is among it."""
        return tuple(entry for entry in self.entries if isinstance(entry, Timing))

    @property
    def estimates(self) -> tuple[ModelledTiming, ...]:
        """The modelled times of this comparison itself, where its tier is "modelled"."""
        return tuple(entry for entry in self.entries if isinstance(entry, ModelledTiming))

    @property
    def gpus(self) -> list[str]:
        """The GPUs that versions without a measured time were modelled for."""
        return [each.machine for each in self.modelled]

    def on_paper(self, gpu: str = "") -> "Comparison":
        """What is modelled for a GPU, the first unless named: empty where nothing is modelled."""
        for each in self.modelled:
            if gpu in ("", each.machine):
                return each
        if self.modelled:
            there = ", ".join(self.gpus)
            raise ValueError(f"{self.op} is not modelled for {gpu!r} here; it is for {there}.")
        return Comparison(self.op, (), gpu, self.date, "modelled", unit=self.unit)

    @property
    def absent(self) -> tuple[Absent, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Absent))

    @property
    def interrupted(self) -> bool:
        return INTERRUPTED in self.notes

    @property
    def sizes(self) -> list[int]:
        return sorted({entry.size for entry in self.entries})

    @property
    def versions(self) -> list[str]:
        return list(dict.fromkeys(entry.version for entry in self.entries))

    def at(self, version: str, size: int | None = None) -> Entry:
        """The entry of one version, at the largest size unless told."""
        size = max(self.sizes, default=0) if size is None else size
        for entry in self.entries:
            if (entry.version, entry.size) == (version, size):
                return entry
        raise KeyError(
            f"{version!r} at {size} is not in this comparison. "
            f"Versions: {', '.join(map(repr, self.versions)) or 'none'}; "
            f"sizes: {', '.join(map(str, self.sizes)) or 'none'}."
        )

    def best(self, *backends: str, size: int | None = None) -> Timing | None:
        """The fastest timing at a size, on these backends (all, when none is named), or None.

        Of those in the op's own arithmetic: one in TF32 does other work, and is no better for it.
        """
        size = max(self.sizes, default=0) if size is None else size
        here = [t for t in self.timings if t.size == size and not t.arithmetic]
        fits = [t for t in here if t.backend in (backends or t.backend)]
        return min(fits, key=lambda timing: timing.median, default=None)

    def speedup(self, slow: str, fast: str, size: int | None = None) -> Ratio:
        """How many times faster one version is than another: a Ratio, or the refusal to say."""
        return ratio(self.at(slow, size), self.at(fast, size))

    @property
    def by_arithmetic(self) -> dict[str, list[str]]:
        """The versions by what they compute in, first ("") what the op does: ranked apart."""
        groups: dict[str, list[str]] = {"": []}
        for entry in self.entries:
            group = groups.setdefault(entry.arithmetic, [])
            group += [entry.version] * (entry.version not in group)
        return groups

    @property
    def what(self) -> str:
        """What its times are times of."""
        if self.tier == "modelled":
            launch = units.seconds(LAUNCH)
            return f"kernels + {launch} for each launch, without Python's share"
        return "time of one call"

    def label(self) -> str:
        if self.tier == "modelled":
            return f"modelled for {self.machine}, not measured"
        return f"{self.tier}: {self.machine}, {self.date}"

    def shown(self) -> Table:
        """This comparison alone: versions in rows, sizes in columns; then what the largest did."""
        sizes = list(map(units.count, self.sizes)) or [""]
        at = f" at {sizes[-1]}" if len(sizes) > 1 else ""
        about = f"{at} waits for".strip() if self.tier == "modelled" else "threads"
        head = ["version", *self.sized(sizes), about, f"bytes/s{at}", f"FLOP/s{at}"]
        rows = []
        for arithmetic, versions in self.by_arithmetic.items():
            if arithmetic:
                rows.append([f"in {arithmetic}, ranked apart:", *[""] * (len(sizes) + 3)])
            for version in versions:
                row = {entry.size: entry for entry in self.entries if entry.version == version}
                times = [cell(row[size]) if size in row else "" for size in self.sizes]
                rows.append([version, *times, *row[max(row)].about])
        return Table(f"{self.op}, {self.what} ({self.label()})", head, rows, [*self.reasons()])

    def __repr__(self) -> str:
        return "\n".join(map(repr, (self.shown(), *self.beside, *self.modelled[:1])))

    def _repr_html_(self) -> str:
        others: tuple[Any, ...] = (self.shown(), *self.beside, *self.modelled[:1])
        return "".join(other._repr_html_() for other in others)

    def sized(self, sizes: list[str]) -> list[str]:
        """Sizes as heads of columns: the first says what is counted, "1 element", "100 classes"."""
        one = re.sub(r"(?<=ss)es\b|s\b", "", self.unit)
        unit = one if sizes[0] == "1" else self.unit
        return [f"{sizes[0]} {unit}", *sizes[1:]] if self.sizes else []

    def reasons(self) -> Iterator[str]:
        """Why something is missing, each reason once, and what the marks mean."""
        reasons: dict[str, dict[str, list[str]]] = {}
        for entry in self.absent:
            sizes = reasons.setdefault(entry.why, {})
            sizes.setdefault(entry.version, []).append(units.count(entry.size))
        for why, sizes in reasons.items():
            where = (v if len(at) == len(self.sizes) else f"{v} at {', '.join(at)}"
                     for v, at in sizes.items())  # fmt: skip
            yield f"– {'; '.join(where)}: {why}"
        if any(entry.noise for entry in self.entries):
            limit = units.percent(NOISY)
            yield f"~ noisy: the middle half of the samples spreads over {limit} of the median"
        shown = (t for one in (self, *self.beside) for t in one.timings)
        missed = any("gpu" in entry.backend for entry in self.absent)
        if self.tier == "live" and missed and not any("gpu" in t.backend for t in shown):
            yield self.instead()
        yield from self.notes

    def instead(self) -> str:
        """What stands in where no GPU was measured, here or elsewhere."""
        if not self.modelled:
            return f"no GPU figure: none could be measured, and none of {self.op} is recorded"
        first, *others = self.gpus
        more = ", ".join(f'`.on_paper("{gpu}")`' for gpu in others)
        others_by = f"; for others {more}" if more else ""
        return f"no GPU was measured: modelled for {first} instead, see below{others_by}"


def cell(entry: Entry) -> str:
    """One cell of the table; a tilde marks a noisy one."""
    return f"{entry.words}{' ~' * bool(entry.noise)}"


def entry_from(values: dict[str, Any]) -> Timing | Absent:
    """A Timing or an Absent from its JSON object; TypeError when it is neither."""
    kind: Any = Timing if "samples" in values else Absent
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})
