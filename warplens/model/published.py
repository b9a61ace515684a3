"""How far the model is from times that others measured, of kernels in CUDA C++.

    TIMES                 what they measured: each with the figure as printed and where it stands
    judged()              what the model says of the same launches, by machine code
    judged("source")      and where nothing could be compiled or disassembled

Published truth is noisy: a figure read from a plot is good to about 3 %; clocks and drivers are
rarely named. Left out: kernels with asynchronous copies or tensor cores, which the model does not
know; other rows of the transposes' table, all between 2.9 and 3.6 ms, so that one table does not
outweigh the rest; the same author's reductions, for which rates are told but no size.

benchmarks/published_kernels has them, written anew; `make judge` models them.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

from warplens import units
from warplens.tables import Table, Tabled

from .value import Modelled

MODELLED = Path(__file__).with_name("published_modelled.csv")
PARTS = (
    "issue slots", "FP32", "integer", "FP64", "SFU", "load/store path", "L2", "DRAM", "latency",
    "block starts", "launch",
)  # fmt: skip
ORDER = "Kendall's τ: 1 where each pair of kernels comes in the right order, −1 where none does."


@dataclass(frozen=True)
class Published:
    """One time that somebody else measured."""

    kernel: str
    gpu: str  # a name in `devices`
    seconds: float
    figure: str  # as printed
    within: float  # how far off the figure itself may be, as a share
    source: str
    note: str

    @property
    def ladder(self) -> str:
        """All figures of one source on one GPU are a ladder."""
        return f"{self.source.partition(',')[0]}, {self.gpu}"


with Path(__file__).with_name("published.csv").open(encoding="utf-8", newline="") as lines:
    rows: Any = csv.DictReader(lines)
    numbers = "seconds", "within"
    TIMES = tuple(Published(**row | {x: float(row[x]) for x in numbers}) for row in rows)


@dataclass(frozen=True)
class Judgment:
    """One published time, and what the model says of the same launch."""

    published: Published
    modelled: Modelled

    @property
    def ratio(self) -> float:
        """Modelled over published: below 1 the model is too fast, or knows the lower end alone."""
        return self.modelled.known / self.published.seconds

    @property
    def error(self) -> float:
        return abs(self.ratio - 1)

    @property
    def holds(self) -> bool:
        """Does the published time lie in the modelled interval?"""
        return self.modelled.holds(self.published.seconds)

    @property
    def name(self) -> str:
        return f"{self.published.kernel} ({self.published.gpu})"


def kendall(times: Iterable[tuple[float, float, float]]) -> float | None:
    """How well a rule orders times: (pairs in order − pairs out of order) / pairs.

    times: what was published, how far off that may be, what the rule says. Pairs that the published
    figures do not tell apart, each as good as it is, are left out; None where no pair is left.
    """
    score = pairs = 0
    for (quick, near, first), (slow, off, second) in combinations(sorted(times), 2):
        if slow * (1 - off) > quick * (1 + near):
            pairs += 1
            score += (second > first) - (second < first)
    return score / pairs if pairs else None


@dataclass(frozen=True, repr=False)
class Judged(Tabled):
    """A model, judged by every published time."""

    rows: tuple[Judgment, ...]

    @property
    def closed(self) -> list[Judgment]:
        """Those whose interval has two ends."""
        return [row for row in self.rows if not row.modelled.at_least]

    @property
    def median_error(self) -> float:
        return median(row.error for row in self.closed)

    def within(self, share: float) -> float:
        """The share of times that are modelled within this share of the truth."""
        return sum(row.error <= share for row in self.closed) / len(self.closed)

    @property
    def width(self) -> float:
        """The median interval's upper end over its lower."""
        return median((row.modelled.high or 0) / row.modelled.low for row in self.closed)

    @property
    def ladders(self) -> dict[str, list[Judgment]]:
        """All kernels of one source on one GPU, in order."""
        found: dict[str, list[Judgment]] = {}
        for row in self.rows:
            found.setdefault(row.published.ladder, []).append(row)
        return found

    @property
    def message(self) -> str:
        source = ", from the source alone," * (self.rows[0].modelled.counted_from == "source")
        held, rest = sum(row.holds for row in self.closed), len(self.rows) - len(self.closed)
        more = f"; {rest} ha{'s' if rest == 1 else 've'} no upper end" if rest else ""
        return (
            f"Of {len(self.closed)} published times, the model's median error{source} is "
            f"{units.percent(self.median_error)}; {units.percent(self.within(0.25))} are within "
            f"25 %, {units.percent(self.within(0.35))} within 35 %; of {len(self.closed)} "
            f"intervals with two ends {held} hold the published time (in the median "
            f"{self.width:.2g}× wide){more}."
        )

    @property
    def notes(self) -> list[str]:
        """The order in each ladder."""
        return [ORDER, *(f"{name}: τ {tau(rows):.2f} over {len(rows)} kernels."
                         for name, rows in self.ladders.items())]  # fmt: skip

    def table(self) -> Table:
        head = ("kernel", "GPU", "published", "modelled", "ratio", "holds", "limiter")
        return Table(self.message, head, [cells(row) for row in self.rows], self.notes)

    def _repr_html_(self) -> str:
        """The message, and the rows folded."""
        head = f"<summary>{escape(self.message)} All of them, one by one</summary>"
        return f"<details>{head}{self.table()._repr_html_()}</details>"


def tau(rows: Iterable[Judgment]) -> float | None:
    """How well the model orders a ladder."""
    return kendall((row.published.seconds, row.published.within, row.modelled.known)
                   for row in rows)  # fmt: skip


def cells(row: Judgment) -> tuple[str, ...]:
    one, said = row.published, row.modelled
    ratio = "" if said.at_least else f"{row.ratio:.2f}"
    return (one.kernel, one.gpu, units.seconds(one.seconds), said.words, ratio,
            "yes" if row.holds else "no", said.limiter)  # fmt: skip


def judged(counted_from: str = "machine code") -> Judged:
    """What the model said of every published time; counted_from: or "source", without compiler."""
    with MODELLED.open(encoding="utf-8", newline="") as lines:
        next(lines)  # when, with which commit
        rows = [row for row in csv.DictReader(lines) if row["counted_from"] == counted_from]
    found = {(row["kernel"], row["gpu"]): modelled_from(row) for row in rows}
    return Judged(tuple(Judgment(one, found[one.kernel, one.gpu]) for one in TIMES))


def modelled_from(row: dict[str, str]) -> Modelled:
    """A Modelled from a row of the file; an interval without an upper end has none there."""
    fields: dict[str, Any] = {each: text for each, text in row.items() if each not in PARTS}
    for each in ("seconds", "low", "high", "occupancy", "waves"):
        fields[each] = float(row[each]) if row[each] else None
    return Modelled(**fields, bounds={part: float(row[part]) for part in PARTS})
