"""Timings as values: what was measured, how sure it is, and what may be said of it.

A Timing is one version at one size. A Comparison is timings together, taken in the same minutes on
the same machine. Both keep every sample and read well as text and as HTML.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from html import escape
from statistics import median, quantiles
from typing import Any

from gpulessons import units

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

    def doubt(self, ceiling: float | None) -> str:
        """What is wrong with this figure, if it beats the memory's measured ceiling (bytes/s)."""
        if ceiling and self.cold and self.bandwidth > 1.02 * ceiling:
            return f"faster than this memory can be ({units.rate(ceiling, 'B/s')}): not cold at all"
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

    words, noise = "–", ""


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


def ratio(slow: Timing | Absent, fast: Timing | Absent) -> Ratio:
    """How many times faster `fast` is than `slow`: the median over the rounds both took part in."""
    for timing in (slow, fast):
        if isinstance(timing, Absent):
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
    entries: tuple[Timing | Absent, ...]
    machine: str  # its name, for labels
    date: str
    tier: str = "live"  # or "recorded"
    notes: tuple[str, ...] = ()
    unit: str = "elements"  # what a size counts
    beside: tuple["Comparison", ...] = ()  # recordings of the same op from other machines

    @property
    def timings(self) -> tuple[Timing, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Timing))

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

    def at(self, version: str, size: int | None = None) -> Timing | Absent:
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
        """The fastest timing at a size, on these backends (all, when none is named), or None."""
        size = max(self.sizes, default=0) if size is None else size
        fits = [t for t in self.timings if t.size == size and t.backend in (backends or t.backend)]
        return min(fits, key=lambda timing: timing.median, default=None)

    def speedup(self, slow: str, fast: str, size: int | None = None) -> Ratio:
        """How many times faster one version is than another: a Ratio, or the refusal to say."""
        return ratio(self.at(slow, size), self.at(fast, size))

    def label(self) -> str:
        return f"{self.tier}: {self.machine}, {self.date}"

    def __repr__(self) -> str:
        head, *rows = self.table()
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        title = f"{self.op}, time of one call ({self.label()})"
        table = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (head, *rows)
        ]
        return "\n".join([title, *table, *self.reasons(), *map(repr, self.beside)])

    def _repr_html_(self) -> str:
        head, *rows = self.table()
        cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        body = "".join(html_row(row) for row in rows)
        reasons = "".join(f"<br>{escape(reason)}" for reason in self.reasons())
        return (
            '<div style="overflow-x: auto"><table>'  # wider than a small screen, it scrolls here
            f"<caption>{escape(self.op)}, time of one call. {with_whole_dates(self.label())}"
            f"</caption><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>"
            f"<p>{reasons}</p>"
            + "".join(other._repr_html_() for other in self.beside)
        )

    def table(self) -> Iterator[list[str]]:
        """Head and rows of plain strings."""
        yield ["version", *map(units.count, self.sizes), "threads", "bytes/s", "FLOP/s"]
        for version in self.versions:
            row = {entry.size: entry for entry in self.entries if entry.version == version}
            times = [cell(row[size]) if size in row else "" for size in self.sizes]
            yield [version, *times, *self.rates(row[max(row)])]

    def rates(self, entry: Timing | Absent) -> list[str]:
        """The threads and rates at the largest size, where they are known."""
        if isinstance(entry, Absent):
            return ["", "", ""]
        flops = units.rate(entry.flop_rate, "FLOP/s") if entry.flops else ""
        return [str(entry.threads or ""), units.rate(entry.bandwidth, "B/s"), flops]

    def reasons(self) -> Iterator[str]:
        """Why something is missing, each reason once, and what the marks mean."""
        reasons: dict[str, dict[str, list[str]]] = {}
        for entry in self.absent:
            sizes = reasons.setdefault(entry.why, {})
            sizes.setdefault(entry.version, []).append(units.count(entry.size))
        for why, sizes in reasons.items():
            all_sizes = len(self.sizes)
            where = (
                v if len(at) == all_sizes else f"{v} at {', '.join(at)}" for v, at in sizes.items()
            )
            yield f"– {'; '.join(where)}: {why}"
        if any(entry.noise for entry in self.entries):
            yield f"~ noisy: the middle half of the samples spreads over {NOISY:.0%} of the median"
        shown = (t for one in (self, *self.beside) for t in one.timings)
        missed = any("gpu" in entry.backend for entry in self.absent)
        if self.tier == "live" and missed and not any("gpu" in t.backend for t in shown):
            yield f"no GPU figure: none could be measured, and none of {self.op} is recorded"
        yield from self.notes


def cell(entry: Timing | Absent) -> str:
    """One cell of the table; a tilde marks a noisy one."""
    return f"{entry.words}{' ~' * bool(entry.noise)}"


def with_whole_dates(words: str) -> str:
    """Words as HTML in which no line breaks inside a date."""
    whole = r'<span style="white-space: nowrap">\g<0></span>'
    return re.sub(r"\d{4}-\d\d-\d\d", whole, escape(words))


def html_row(row: list[str]) -> str:
    version, *values = row
    cells = "".join(f"<td>{escape(value)}</td>" for value in values)
    return f'<tr><th scope="row">{escape(version)}</th>{cells}</tr>'


def quartiles(samples: Sequence[float]) -> tuple[float, float]:
    """First and third quartile; of a single sample, the sample itself."""
    if len(samples) < 2:
        return samples[0], samples[0]
    low, _, high = quantiles(samples, n=4, method="inclusive")
    return low, high


def entry_from(values: dict[str, Any]) -> Timing | Absent:
    """A Timing or an Absent from its JSON object; ValueError when it is neither."""
    kind: Any = Timing if "samples" in values else Absent
    if set(values) != {field.name for field in fields(kind)}:
        raise ValueError(f"neither timed nor absent: its fields are {', '.join(sorted(values))}")
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in values.items()})
