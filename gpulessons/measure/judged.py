"""How far the model is from every published time at hand, beside two rules for a napkin.

    judgments()                     all of them, as a table: each kind of kernel, each limiter
    judgments("checked")            those that no parameter of the model comes from
    judgments().worst()             where it fails: the ladders of kernels that it misses by most

`make judge` models them and writes judged.csv. An answer "at least …" has no error and no interval:
it is right where the published time is no shorter.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from itertools import combinations, groupby
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

from gpulessons import units
from warplens.tables import Table, Tabled

FILE = Path(__file__).with_name("judged.csv")
NUMBERS = ("published", "within", "seconds", "low", "high", "roofline", "napkin")
HEAD = ("", "times", "median error", "≤ 25 %", "≤ 35 %", "interval held", "width", "order, τ",
        "at least", "roofline's error", "its τ", "80 % rule's error")  # fmt: skip
NOTES = (
    "Error: |modelled / published − 1|. Width: the interval's upper end over its lower, the "
    "median. τ: Kendall's, of kernels of one source on one GPU, the mean of all such ladders: 1 "
    "where each pair comes in the right order, −1 where none does.",
    "At least: answers without an upper end, and how many are right; they count nowhere else.",
    "Roofline: the larger of bytes over the sheet's bandwidth and FLOPs over its peak; a launch. "
    "80 % rule: both rates at 80 % of the sheet's. Neither says anything of loads that hit L1.",
    "Shaped it: a parameter comes from these times, or a rule was changed for them.",
)


class Judgment(NamedTuple):
    """One published time, and what the model and two rules say of the launch; in seconds."""

    kind: str
    kernel: str
    gpu: str
    ladder: str
    fitted: str
    limiter: str
    published: float
    within: float  # how far off the published time itself may be, as a share
    seconds: float
    low: float
    high: float | None
    roofline: float | None
    napkin: float | None

    @property
    def role(self) -> str:
        return "shaped" if self.fitted == "yes" else "only checked"

    @property
    def source(self) -> str:
        """Whose kernels; of microbenchmarks, which."""
        return self.ladder.partition(",")[0]

    @property
    def ratio(self) -> float:
        return self.seconds / self.published

    @property
    def holds(self) -> bool:
        return self.low <= self.published <= (self.high or self.published)


class Judgments(Tabled, tuple[Judgment, ...]):
    """Published times, and what the model says of each; shows itself as a table of groups."""

    def table(self) -> Table:
        groups: list[tuple[str, Iterable[Judgment]]] = [("all", self)]
        for words, by in (("{}", "kind"), ("limited by {}", "limiter"), ("{} it", "role")):
            names = dict.fromkeys(getattr(row, by) for row in self)
            groups += [(words.format(name), [row for row in self if getattr(row, by) == name])
                       for name in names if len(names) > 1]  # fmt: skip
        cards = len({row.gpu for row in self})
        title = f"Modelled, and published by others: {len(self)} times on {cards} GPUs"
        return Table(title, HEAD, [[name, *numbers(list(group))] for name, group in groups], NOTES)

    def worst(self, most: int = 10) -> Table:
        """The ladders whose times are missed by most, with the range of modelled over published."""
        ladders = {name: [row.ratio for row in rows if row.high] for name, rows in by_ladder(self)}
        ranked = sorted((ratios for ratios in ladders.items() if ratios[1]), reverse=True,
                        key=lambda item: median(abs(ratio - 1) for ratio in item[1]))  # fmt: skip
        rows = [[name, f"{len(ratios)}", *(f"{end(ratios):.2f}" for end in (min, median, max))]
                for name, ratios in ranked[:most]]  # fmt: skip
        head = ("kernels of one source on one GPU", "times", "least", "median", "most")
        return Table("Modelled over published, where the model misses by most", head, rows)


def judgments(which: str = "all") -> Judgments:
    """All published times with what the model says of them; or those "fitted", or "checked"."""
    with FILE.open(encoding="utf-8", newline="") as lines:
        next(lines)  # when, with which commit
        rows = [*map(judgment, csv.DictReader(lines))]
    kept = {"all": ("yes", "no"), "fitted": ("yes",), "checked": ("no",)}[which]
    return Judgments(row for row in rows if row.fitted in kept)


def judgment(row: dict[str, Any]) -> Judgment:
    return Judgment(**row | {name: float(row[name]) if row[name] else None for name in NUMBERS})


def numbers(rows: list[Judgment]) -> list[str]:
    """The cells of a group: how many, how far off, how well ordered; "–" where nothing is known."""
    closed = [row for row in rows if row.high]
    errors = [abs(row.ratio - 1) for row in closed]
    right = sum(row.holds for row in rows if not row.high)
    return [
        f"{len(closed):,}", told(median, errors),
        *(told(mean, [error <= most for error in errors]) for most in (0.25, 0.35)),
        told(mean, [row.holds for row in closed]),
        told(median, [row.high / row.low for row in closed if row.high], "{:.2f}×".format),
        told(mean, taus(rows, "seconds"), "{:.2f}".format),
        f"{right} of {len(rows) - len(closed)}" if len(rows) > len(closed) else "–",
        told(median, [abs(row.roofline / row.published - 1) for row in closed if row.roofline]),
        told(mean, taus(rows, "roofline"), "{:.2f}".format),
        told(median, [abs(row.napkin / row.published - 1) for row in closed if row.napkin]),
    ]  # fmt: skip


def by_ladder(rows: Iterable[Judgment]) -> list[tuple[str, list[Judgment]]]:
    ordered = sorted(rows, key=lambda row: row.ladder)
    return [(name, [*ladder]) for name, ladder in groupby(ordered, key=lambda row: row.ladder)]


def taus(rows: Iterable[Judgment], rule: str) -> list[float]:
    """Kendall's τ of each ladder that has pairs to tell apart, by the model or by a rule."""
    each = (kendall([(row.published, row.within, getattr(row, rule)) for row in ladder
                     if getattr(row, rule)]) for _, ladder in by_ladder(rows))  # fmt: skip
    return [tau for tau in each if tau is not None]


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


def told(average: Callable, values: list[float], write: Callable = units.percent) -> str:
    return write(average(values)) if values else "–"
