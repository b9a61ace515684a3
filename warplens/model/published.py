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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .value import Modelled

MODELLED = Path(__file__).with_name("published_modelled.csv")
PARTS = (
    "issue slots", "FP32", "integer", "FP64", "SFU", "load/store path", "L2", "DRAM", "latency",
    "block starts", "launch",
)  # fmt: skip


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
    def name(self) -> str:
        return f"{self.published.kernel} ({self.published.gpu})"

    @property
    def ratio(self) -> float:
        """Modelled over published: below 1 the model is too fast, or knows the lower end alone."""
        return self.modelled.known / self.published.seconds

    @property
    def holds(self) -> bool:
        """Does the published time lie in the modelled interval?"""
        return self.modelled.holds(self.published.seconds)


def judged(counted_from: str = "machine code") -> tuple[Judgment, ...]:
    """What the model said of every published time; counted_from: or "source", without compiler."""
    with MODELLED.open(encoding="utf-8", newline="") as lines:
        next(lines)  # when, with which commit
        rows = [row for row in csv.DictReader(lines) if row["counted_from"] == counted_from]
    found = {(row["kernel"], row["gpu"]): modelled_from(row) for row in rows}
    return tuple(Judgment(one, found[one.kernel, one.gpu]) for one in TIMES)


def modelled_from(row: dict[str, str]) -> Modelled:
    """A Modelled from a row of the file; an interval without an upper end has none there."""
    fields: dict[str, Any] = {each: text for each, text in row.items() if each not in PARTS}
    for each in ("seconds", "low", "high", "occupancy", "waves"):
        fields[each] = float(row[each]) if row[each] else None
    return Modelled(**fields, bounds={part: float(row[part]) for part in PARTS})
