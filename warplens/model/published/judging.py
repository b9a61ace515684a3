"""How far a model is from published times: errors, intervals that hold or do not, order."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import combinations
from statistics import median
from typing import Any

from gpulessons.progress import progress_bar
from warplens import units
from warplens.tables import Table

from ..devices import GPU, named
from ..value import Modelled
from .engine import by_what_is_here
from .pairs import Pair
from .times import Published

ORDER = "Kendall's τ: 1 where each pair of kernels comes in the right order, −1 where none does."


@dataclass(frozen=True)
class Judgment:
    """One published time, and what the model says of the same launch."""

    published: Published
    modelled: Modelled

    @property
    def ratio(self) -> float:
        """Modelled over published: below 1 the model is too fast."""
        return self.modelled.seconds / self.published.seconds

    @property
    def error(self) -> float:
        """How far off, as a share of the published time."""
        return abs(self.ratio - 1)

    @property
    def holds(self) -> bool:
        """Does the published time lie in the modelled interval?"""
        return self.modelled.holds(self.published.seconds)

    @property
    def width(self) -> float | None:
        """The interval's upper end over its lower; None of an "at least"."""
        high = self.modelled.high
        return None if high is None else high / self.modelled.low

    @property
    def name(self) -> str:
        return f"{self.published.kernel} ({self.published.gpu})"


@dataclass(frozen=True)
class Ladder:
    """All kernels of one source on one GPU, in order."""

    name: str
    rungs: int
    tau: float | None  # over all pairs of rungs
    tau_told_apart: float | None  # over those whose published times surely differ


@dataclass(frozen=True, repr=False)
class Judged:
    """A model, judged by every published time."""

    rows: tuple[Judgment, ...]

    @property
    def median_error(self) -> float:
        return median(row.error for row in self.rows)

    def within(self, share: float) -> float:
        """The share of times that are modelled within this share of the truth."""
        return sum(row.error <= share for row in self.rows) / len(self.rows)

    @property
    def held(self) -> float:
        """The share of published times that lie in their interval."""
        return sum(row.holds for row in self.rows) / len(self.rows)

    @property
    def width(self) -> float | None:
        """The median interval's upper end over its lower; None where all are "at least"."""
        closed = [row.width for row in self.rows if row.width is not None]
        return median(closed) if closed else None

    @property
    def failures(self) -> tuple[Judgment, ...]:
        """Those whose interval does not hold the published time, the worst first."""
        missed = [row for row in self.rows if not row.holds]
        return tuple(sorted(missed, key=lambda row: max(row.ratio, 1 / row.ratio), reverse=True))

    @property
    def by_limiter(self) -> dict[str, tuple[Judgment, ...]]:
        """The judgments, by what the model says each launch waits for."""
        names = sorted({row.modelled.limiter for row in self.rows})
        return {
            name: tuple(row for row in self.rows if row.modelled.limiter == name) for name in names
        }

    @cached_property
    def ladders(self) -> tuple[Ladder, ...]:
        names = dict.fromkeys(row.published.ladder for row in self.rows)
        return tuple(
            ladder(name, [row for row in self.rows if row.published.ladder == name])
            for name in names
        )

    @property
    def message(self) -> str:
        source = ", from the source alone," if self.counted_from == "source" else ""
        return (
            f"Of {len(self.rows)} published times, the model's median error{source} is "
            f"{self.median_error:.0%}; {self.within(0.25):.0%} are within 25%, "
            f"{self.within(0.35):.0%} within 35%; {self.intervals}."
        )

    @property
    def counted_from(self) -> str:
        """ "source" where nothing could read the machine code of some."""
        found = {row.modelled.counted_from for row in self.rows}
        return "source" if "source" in found else "machine code"

    @property
    def intervals(self) -> str:
        """How many hold, of those that have an upper end; how many have none."""
        closed = [row for row in self.rows if not row.modelled.at_least]
        rest = len(self.rows) - len(closed)
        more = f"; {rest} ha{'s' if rest == 1 else 've'} no upper end" if rest else ""
        if self.width is None:
            return f"no interval has two ends{more}"
        held = sum(row.holds for row in closed)
        return (
            f"of {len(closed)} intervals with two ends {held} hold the published time (in the "
            f"median {self.width:.2g}× wide){more}"
        )

    def table(self) -> Table:
        head = ("kernel", "GPU", "published", "modelled", "interval", "ratio", "holds", "limiter")
        return Table(self.message, head, [cells(row) for row in self.rows], self.notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """The order in each ladder, and the error behind each limiter."""
        return (
            ORDER,
            *(
                f"{one.name}: τ {said(one.tau)} over {one.rungs} kernels, "
                f"{said(one.tau_told_apart)} over the pairs that the figures tell apart."
                for one in self.ladders
            ),
            *(
                f"Limited by {name}: {len(rows)}, median error "
                f"{median(row.error for row in rows):.0%}."
                for name, rows in self.by_limiter.items()
            ),
        )

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        """The message, and the rows folded."""
        head = f"<summary>{escape(self.message)} All of them, one by one</summary>"
        return f"<details>{head}{self.table()._repr_html_()}</details>"


def judged(
    model: Callable[[Pair, GPU], Modelled] = by_what_is_here,
    times: Sequence[Published] | None = None,
    kernels: dict[str, Pair] | None = None,
) -> Judged:
    """Ask `model(pair, gpu)` for every published time. ValueError where there are none.

    Without a compiler or a disassembler the source alone is counted, and the message says so.

    times, kernels: others than `TIMES` and `KERNELS`. Ctrl-C keeps those that were judged.
    """
    from . import KERNELS, TIMES

    times = TIMES if times is None else times
    kernels = KERNELS if kernels is None else kernels
    if not times:
        raise ValueError("There are no published times to judge by: give at least one.")
    rows: list[Judgment] = []
    with progress_bar("published times") as tell, suppress(KeyboardInterrupt):
        for one in times:
            rows.append(Judgment(one, model(kernels[one.kernel], named(one.gpu))))
            if tell:
                tell(len(rows), len(times), one.kernel)
    if not rows:
        raise KeyboardInterrupt
    return Judged(tuple(rows))


def ladder(name: str, rows: Sequence[Judgment]) -> Ladder:
    truth = [row.published.seconds for row in rows]
    answers = [row.modelled.seconds for row in rows]
    doubts = [row.published.within for row in rows]
    return Ladder(name, len(rows), kendall(truth, answers), kendall(truth, answers, doubts))


def kendall(
    truth: Sequence[float], answers: Sequence[float], doubts: Sequence[float] | None = None
) -> float | None:
    """(pairs in the right order − pairs in the wrong one) / pairs; 1 where all order is right.

    doubts: how far off each truth may be, as a share; pairs that they do not tell apart are left
    out, like pairs whose truths are equal. Answers that are equal count as neither right nor wrong.
    None where no pair is left.
    """
    doubts = [0.0] * len(truth) if doubts is None else doubts
    score, pairs = 0, 0
    for a, b in combinations(range(len(truth)), 2):
        slow, quick = (a, b) if truth[a] > truth[b] else (b, a)
        if truth[slow] * (1 - doubts[slow]) <= truth[quick] * (1 + doubts[quick]):
            continue
        pairs += 1
        score += (answers[slow] > answers[quick]) - (answers[slow] < answers[quick])
    return score / pairs if pairs else None


def cells(row: Judgment) -> tuple[str, ...]:
    published, modelled = row.published, row.modelled
    known = published.kernel, published.gpu, units.seconds(published.seconds)
    low = units.seconds(modelled.low)
    if modelled.high is None:  # true as far as it goes, and no time that could be right or wrong
        below = "at least" if row.holds else "no"
        return *known, f"at least {low}", f"{low} – …", "", below, modelled.limiter
    interval = f"{low} – {units.seconds(modelled.high)}"
    holds = "yes" if row.holds else "no"
    return (
        *known,
        units.seconds(modelled.seconds),
        interval,
        f"{row.ratio:.2f}",
        holds,
        modelled.limiter,
    )


def said(value: Any) -> str:
    return "unknown" if value is None else f"{value:.2f}".replace("-", "−")
