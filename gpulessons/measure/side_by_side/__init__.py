"""Several machines beside each other: the same op, size and version, timed on each.

Read `sides` (whose times), `rows` (which times, and their ratios), `conditions` (in what else the
machines differ); here they become one value that reads as text, as HTML and as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING

from gpulessons import units

from ..results import NOISY, Absent, Comparison, Ratio, Timing, html_row, with_whole_dates
from .conditions import differences, listed
from .rows import BESTS, REFUSED, Entry, Row, rows_of
from .sides import Side, chosen_from, sides_of, unshared

if TYPE_CHECKING:
    from ..recordings import Recording

ABREAST = 4  # machines in one table of text; the others follow below
RANGED = 3  # machines for which a table has room to say the range of each ratio


def side_by_side(
    *measured: Recording | Comparison, against: str = "", names: Mapping[str, str] | None = None
) -> SideBySide:
    """Recordings of several machines beside each other, and this machine's live comparisons.

    against: the machine that the ratios refer to, by its letter or its file; the first unless
    told. names: {a recording's file: what it is called instead of a letter}, all different. Live
    comparisons are one column. ValueError, in a sentence, where nothing is shared.
    """
    sides, left_out = sides_of(measured, names or {})
    chosen = chosen_from(sides, against)
    rows = tuple(rows_of(sides, chosen))
    compared = [
        [timing for row in rows if isinstance(timing := row.entries[n], Timing)]
        for n in range(len(sides))
    ]
    said = tuple(differences(sides, compared))
    left_out += unshared(sides)
    return SideBySide(tuple(sides), sides[chosen].letter, rows, said, tuple(left_out))


@dataclass(frozen=True, repr=False)
class SideBySide:
    """Machines in columns, the versions of the ops that they share in rows."""

    sides: tuple[Side, ...]
    against: str  # the letter of the machine that the ratios refer to
    rows: tuple[Row, ...]
    differences: tuple[str, ...]  # of the machines' conditions, in sentences
    left_out: tuple[str, ...]  # what was not compared, in sentences

    @property
    def shared(self) -> list[tuple[str, int]]:
        """The (op, size) pairs that at least two machines have timed."""
        return list(dict.fromkeys((row.op, row.size) for row in self.rows))

    def of(self, op: str, size: int) -> list[Row]:
        return [row for row in self.rows if (row.op, row.size) == (op, size)]

    def ratio(self, op: str, size: int, name: str, letter: str) -> Ratio | None:
        """How many times as fast a machine is, by its letter; None where one has no time."""
        where = [side.letter for side in self.sides].index(letter)
        (row,) = (row for row in self.of(op, size) if row.name == name)
        return row.ratios[where]

    def to_json(self) -> str:
        """Every figure shown, and the card of every machine; the samples are in the recordings."""
        letters = [side.letter for side in self.sides]
        return json.dumps(
            {
                "against": self.against,
                "machines": [
                    {"letter": side.letter, "label": side.label(), "gpulessons": side.gpulessons,
                     "file": side.file, "machine": asdict(side.machine)}
                    for side in self.sides
                ],
                "differences": self.differences,
                "left_out": self.left_out,
                "rows": [
                    {"op": row.op, "size": row.size, "unit": row.unit, "name": row.name,
                     "machines": {
                         letter: plain(entry, ratio)
                         for letter, entry, ratio
                         in zip(letters, row.entries, row.ratios, strict=True) if entry
                     }}
                    for row in self.rows
                ],
            },
            indent=1,
        )  # fmt: skip

    @property
    def title(self) -> str:
        return (
            f"{len(self.sides)} machines side by side. "
            f"vs {self.against}: how many times as fast as {self.against}"
        )

    @property
    def legend(self) -> list[str]:
        return [f"{side.letter}  {side.label()}" for side in self.sides]

    def __repr__(self) -> str:
        parts = [self.title, *self.legend, "", *self.differences]
        for op, size in self.shared:
            parts += ["", self.caption(op, size)]
            there = self.there(op, size)
            for start in range(0, len(there), ABREAST):
                parts += aligned(self.table(op, size, there[start : start + ABREAST]))
            parts += self.bests(op, size)
        return "\n".join([*parts, "", *self.notes()])

    def _repr_html_(self) -> str:
        legend, said, notes = (
            "<br>".join(with_whole_dates(line) for line in lines)
            for lines in (self.legend, self.differences, self.notes())
        )
        tables = "".join(self.html_table(op, size) for op, size in self.shared)
        return f"<p>{escape(self.title)}<br>{legend}</p><p>{said}</p>{tables}<p>{notes}</p>"

    def html_table(self, op: str, size: int) -> str:
        head, *rows = self.table(op, size, self.there(op, size))
        cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
        bests = "<br>".join(map(escape, self.bests(op, size)))
        return (
            '<div style="overflow-x: auto"><table>'  # wider than a small screen, it scrolls here
            f"<caption>{escape(self.caption(op, size))}</caption><thead><tr>{cells}</tr></thead>"
            f"<tbody>{''.join(map(html_row, rows))}</tbody></table></div><p>{bests}</p>"
        )

    def caption(self, op: str, size: int) -> str:
        there = self.there(op, size)
        missing = [side.letter for n, side in enumerate(self.sides) if n not in there]
        but = f" (not measured on {listed(missing)})" if missing else ""
        return f"{op}, {units.count(size)} {self.of(op, size)[0].unit}: time of one call{but}"

    def there(self, op: str, size: int) -> list[int]:
        """The places of the machines that have anything of it."""
        rows = self.of(op, size)
        return [n for n in range(len(self.sides)) if any(row.entries[n] for row in rows)]

    def table(self, op: str, size: int, shown: Sequence[int]) -> Iterator[list[str]]:
        """Head and rows of plain strings, of the machines that stand at these places.

        Each has a time and a ratio; the chosen one has no ratio to itself.
        """
        ranged = len(self.sides) <= RANGED
        letters = [side.letter for side in self.sides]
        columns = [
            (n, is_ratio) for n in shown for is_ratio in (False, True)
            if not (is_ratio and letters[n] == self.against)
        ]  # fmt: skip
        heads = (f"vs {self.against}" if is_ratio else letters[n] for n, is_ratio in columns)
        yield ["version", *heads]
        for row in self.of(op, size):
            cells = (
                told(row.ratios[n], ranged) if is_ratio else cell(row.entries[n])
                for n, is_ratio in columns
            )
            yield [row.name, *cells]

    def bests(self, op: str, size: int) -> Iterator[str]:
        """Which version is meant by each best."""
        for row in self.of(op, size):
            if row.name in BESTS:
                of: dict[str, list[str]] = {}
                for side, entry in zip(self.sides, row.entries, strict=True):
                    if entry:
                        of.setdefault(entry.version, []).append(side.letter)
                who = (f"{version} ({listed(those)})" for version, those in of.items())
                yield f"{row.name}: {'; '.join(who)}"

    def notes(self) -> list[str]:
        """What the marks mean, why a ratio is missing, and what was left out."""
        ranged = len(self.sides) <= RANGED
        notes = [
            f"vs {self.against}: its median over a machine's own. Samples of two machines are not "
            f"paired: the range, {'in brackets' if ranged else 'in the JSON'}, goes from quartile "
            "to quartile."
        ]
        chosen = [side.letter for side in self.sides].index(self.against)
        if any(not isinstance(row.entries[chosen], Timing) for row in self.rows):
            notes.append(f"There is no ratio where {self.against} has no time.")
        timed = [entry for row in self.rows for entry in row.entries if entry]
        if any(entry.noise for entry in timed):
            notes.append(
                f"~ noisy: the middle half of the samples spreads over {NOISY:.0%} of the median"
            )
        notes += self.reasons()
        refused = {ratio.refused for row in self.rows for ratio in row.ratios if ratio}
        notes += [f"{short}: {why}" for short, why in REFUSED.items() if short in refused]
        if any("gpu" in entry.backend for entry in timed if isinstance(entry, Timing)):
            notes.append("A GPU's time is that of its own clock, without launch and transfers.")
        return [*notes, *self.left_out]

    def reasons(self) -> Iterator[str]:
        """Why a time is missing on a machine, each reason once."""
        reasons: dict[str, dict[str, None]] = {}
        for row in self.rows:
            for side, entry in zip(self.sides, row.entries, strict=True):
                if isinstance(entry, Absent):
                    reasons.setdefault(entry.why, {})[f"{row.name} ({side.letter})"] = None
        yield from (f"– {'; '.join(where)}: {why}" for why, where in reasons.items())


def plain(entry: Entry, ratio: Ratio | None) -> dict[str, object]:
    """One cell, as JSON has it."""
    if not isinstance(entry, Timing):
        return {"absent": entry.why} if entry else {}
    values: dict[str, object] = {
        "version": entry.version, "median": entry.median, "quartiles": entry.quartiles,
        "noise": entry.noise, "threads": entry.threads, "cold": entry.cold,
    }  # fmt: skip
    if ratio and ratio.refused:
        return {**values, "no ratio": ratio.refused}
    return {**values, "ratio": [ratio.low, ratio.median, ratio.high]} if ratio else values


def cell(entry: Entry) -> str:
    """One time; a tilde marks a noisy one, a dash one that could not be taken there."""
    return f"{entry.words}{' ~' * bool(entry.noise)}" if entry else ""


def told(ratio: Ratio | None, ranged: bool) -> str:
    if not ratio:
        return ""
    if ratio.refused:
        return ratio.refused
    between = f" ({units.ratio(ratio.low)} to {units.ratio(ratio.high)})" if ranged else ""
    return f"{units.ratio(ratio.median)}{between}"


def aligned(table: Iterable[list[str]]) -> Iterator[str]:
    """The lines of a table as text."""
    rows = list(table)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = zip(row, widths, strict=True)
        yield "  ".join(f"{cell:<{width}}" for cell, width in cells).rstrip()
