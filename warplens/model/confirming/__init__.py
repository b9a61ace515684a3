"""How wrong the model was where a GPU could be asked: modelled beside measured, kernel by kernel.

    confirmed()     what the GPUs that shipped files tell of said; or that none has said anything

`make gpu` measures every kernel, models it for the GPU that is there, and writes a file for each
GPU. Those in this folder ship with the course:

    {"format": 1, "gpulessons": "…", "date": "…", "machine": {…}, "gpu": "…", "rows": [{…}], …}

None is made up: without a file the answer is a sentence that says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any

from warplens import units
from warplens.tables import Table, sentence

from ..bounds import TURNOVER
from ..value import Modelled, between

FORMAT = 1
SHIPPED = Path(__file__).parent
NOT_YET = "No GPU has confirmed it for Numba's own kernels yet."
HIDDEN = 2.0  # what takes less than this many times its launches' own time may have waited for them


@dataclass(frozen=True)
class Row:
    """One version at one size, measured and modelled. Times in seconds for one call."""

    op: str
    version: str
    size: int
    measured: float  # the median, by the GPU's own clock
    quartiles: tuple[float, float]
    launching: float  # what its launches take their caller: the GPU may have waited for those
    modelled: float
    low: float
    high: float | None  # None: "at least"
    limiter: str
    runner_up: str
    counted_from: str  # "machine code" or "source"
    bounds: dict[str, float]

    @property
    def hidden(self) -> bool:
        """May its launches be all that was measured?"""
        return self.measured < HIDDEN * self.launching

    @property
    def error(self) -> float | None:
        """How far off, of the measured time; None where only a lower end was modelled."""
        return None if self.high is None else abs(self.modelled / self.measured - 1)

    @property
    def holds(self) -> bool:
        """Does the measured time lie in the modelled interval?"""
        return between(self.low, self.measured, self.high)

    def cells(self) -> list[str]:
        error = "at least" if self.error is None else f"{self.modelled / self.measured - 1:+.0%}"
        where = "launches" if self.hidden else self.limiter
        times = map(units.seconds, (self.measured, self.modelled))
        return [self.op, self.version, units.count(self.size), *times, error, where]


@dataclass(frozen=True)
class Unjudged:
    """One version at one size of which one of the two times is missing, and why."""

    op: str
    version: str
    size: int
    why: str
    fault: bool = False  # was it an error, rather than something that cannot be had?

    def cells(self) -> list[str]:
        return [self.op, self.version, units.count(self.size), "–", "–", "", self.why]


@dataclass(frozen=True)
class Turnover:
    """Clocks from one wave of blocks to the next when blocks have next to nothing to do."""

    work: str  # "nothing" or "one load"
    threads: int  # of a block
    blocks: int  # of a wave: as many as the whole GPU holds
    clocks: float  # the median, at the clock that the model reckons with
    quartiles: tuple[float, float]

    @property
    def words(self) -> str:
        low, high = self.quartiles
        return f"{self.clocks:.0f} clocks ({low:.0f} to {high:.0f})"


@dataclass(frozen=True)
class Summary:
    """The kernels that, by the model, wait for one part of the GPU."""

    limiter: str
    number: int
    error: float | None  # the median; None where "at least" was all that was said
    held: float  # the share whose measured time lies in the interval


@dataclass(frozen=True, repr=False)
class Confirmation:
    """What one GPU had to say about the model, on one day."""

    machine: dict[str, Any]  # its card: name of the GPU, driver, libraries, commit
    date: str
    gpulessons: str  # the version that modelled and measured
    gpu: str  # of `devices`, or one made of what the driver tells
    taken_for: str  # a sentence: which GPU the times were modelled for, and what was changed
    rows: tuple[Row | Unjudged, ...] = ()
    turnover: tuple[Turnover, ...] | None = None  # None: not measured
    notes: tuple[str, ...] = ()

    @property
    def card(self) -> str:
        """The GPU, as its driver calls it."""
        return (self.machine.get("gpu") or {}).get("name", "a GPU")

    @property
    def telling(self) -> list[Row]:
        """The rows that say something of the model."""
        return [row for row in self.rows if isinstance(row, Row) and not row.hidden]

    @property
    def summaries(self) -> list[Summary]:
        """A Summary for each limiter, the one of most kernels first; then one of all."""
        groups: dict[str, list[Row]] = {}
        for row in self.telling:
            groups.setdefault(row.limiter, []).append(row)
        ranked = sorted(groups.items(), key=lambda group: -len(group[1]))
        return [summary(*group) for group in [*ranked, ("all of them", self.telling)] if group[1]]

    def words(self, limiter: str = "all of them") -> str:
        """One sentence for a page: how far off it was for the kernels that wait for this."""
        when = f"recorded {self.date}"
        which = "all kernels" if limiter == "all of them" else f"kernels that wait for {limiter}"
        for found in self.summaries:
            if found.limiter == limiter and found.error is not None:
                return (f"On {self.card} the model was off by {found.error:.0%} for {which} "
                        f"(the median of {found.number}; {when}).")  # fmt: skip
        return f"On {self.card} nothing was found out about {which} ({when})."

    def table(self) -> Table:
        """The errors, limiter by limiter."""
        rows = [
            [each.limiter, str(each.number), "–" if each.error is None else f"{each.error:.0%}",
             f"{each.held:.0%}"]
            for each in self.summaries
        ]  # fmt: skip
        caption = f"{self.card}, {self.date}: modelled against measured"
        head = ["kernels that wait for", "number", "off by (median)", "in the interval"]
        return Table(caption, head, rows, list(self.remarks()))

    def remarks(self) -> Iterable[str]:
        yield self.taken_for
        yield from self.notes
        source = [row for row in self.telling if row.counted_from == "source"]
        if source:
            yield f"{len(source)} of them were counted from their source alone, not machine code."
        hidden = [row for row in self.rows if isinstance(row, Row) and row.hidden]
        if hidden:
            yield (f"{len(hidden)} more took hardly longer than their launches take the caller: "
                   "they say nothing of the model.")  # fmt: skip
        missing = [row for row in self.rows if isinstance(row, Unjudged)]
        if missing:
            yield f"{len(missing)} more have no measured or no modelled time."
        for each in self.turnover or ():
            yield (f"From one wave of blocks to the next, {each.threads} threads a block and "
                   f"{each.work} to do: {each.words}; the model has {TURNOVER:.0f}.")  # fmt: skip

    def details(self) -> Table:
        """Every kernel, in a row of its own."""
        head = ["op", "version", "size", "measured", "modelled", "off by", "waits for"]
        return Table(self.table().caption, head, [row.cells() for row in self.rows])

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1)


def summary(limiter: str, rows: list[Row]) -> Summary:
    errors = [row.error for row in rows if row.error is not None]
    held = sum(row.holds for row in rows) / len(rows)
    return Summary(limiter, len(rows), median(errors) if errors else None, held)


def row_of(
    op: str, version: str, size: int, measured: float, quartiles: tuple[float, float],
    launch: float, found: Modelled,
) -> Row:  # fmt: skip
    """The row of a measured time and a modelled one; launch: seconds of one, for its caller."""
    launches = max(1, len(found.launches))
    return Row(
        *(op, version, size, measured, quartiles, launches * launch),
        *(found.seconds, found.low, found.high, found.limiter, found.runner_up),
        *(found.counted_from, found.bounds),
    )


# -- Files.


def load(path: str | Path) -> Confirmation:
    """The Confirmation in a file; ValueError, in a sentence, when it holds none."""
    try:
        told = json.loads(Path(path).read_text(encoding="utf-8"))
        if told.pop("format") > FORMAT:
            raise ValueError("a newer gpulessons wrote it; upgrade to read it")
        rows = tuple(made(Row if "measured" in row else Unjudged, row) for row in told["rows"])
        turnover = told["turnover"]
        if turnover is not None:
            turnover = tuple(made(Turnover, each) for each in turnover)
        whole = {**told, "rows": rows, "turnover": turnover, "notes": tuple(told["notes"])}
        return made(Confirmation, whole)
    except KeyError as missing:
        raise ValueError(f"{path} is no comparison of modelled times: no {missing}.") from missing
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as trouble:
        raise ValueError(f"{path} is no comparison of modelled times: {trouble}.") from trouble


def made(kind: Any, told: dict[str, Any]) -> Any:
    """An object from its JSON, in which a pair is a list; TypeError unless the fields are its."""
    names = {each.name for each in fields(kind)}
    if not isinstance(told, dict) or set(told) != names:
        raise TypeError(f"{told!r:.60} is no {kind.__name__}")
    pair = {"quartiles": tuple(told["quartiles"])} if "quartiles" in names else {}
    return kind(**{**told, **pair})


@dataclass(frozen=True, repr=False)
class Confirmed:
    """What GPUs have confirmed so far, as text and as HTML; the sentence where none has."""

    found: tuple[Confirmation, ...]

    def __bool__(self) -> bool:
        return bool(self.found)

    def words(self, limiter: str = "all of them") -> str:
        """Sentences for a page: how far off the model was for the kernels that wait for this."""
        return " ".join(each.words(limiter) for each in self.found) or NOT_YET

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self.found)) or NOT_YET

    def _repr_html_(self) -> str:
        return "".join(each._repr_html_() for each in self.found) or sentence(NOT_YET)


def confirmed() -> Confirmed:
    """What the GPUs whose files ship with the course said about modelled times."""
    return Confirmed(tuple(load(path) for path in sorted(SHIPPED.glob("*.json"))))
