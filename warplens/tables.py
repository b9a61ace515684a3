"""Tables to show, as text and as HTML: a `Table` of columns under a head, names and words, or a
`Report`, which says of itself what stands in its table."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

Rows = Iterable[Sequence[str]]
LEFT = ' style="text-align:left"'  # words; numbers stand where the page wants them


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of plain strings under a head, and notes below: reads as text and as HTML.

    head: () for rows of (name, words). named: the column that says what a row is about.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    named: int = 0

    def __repr__(self) -> str:
        lines = [self.head, *self.rows] if self.head else self.rows
        return "\n".join([self.caption, *aligned(lines), *self.notes])

    def _repr_html_(self) -> str:
        table = html_table(self.caption, self.head, self.rows, self.named)
        return table + (f"<p>{'<br>'.join(map(escape, self.notes))}</p>" if self.notes else "")


class Tabled:
    """Text and HTML for a value that has a `table`."""

    def table(self) -> Table:
        raise NotImplementedError

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()


class Report:
    """Text and HTML for a value that has a `headline` and a `table` of whatever it counts."""

    def headline(self) -> str:
        raise NotImplementedError

    def table(self) -> tuple[tuple, list[tuple]]:
        """(the head, the rows); no rows where the headline says it all"""
        raise NotImplementedError

    def rows(self) -> list[list[str]]:
        head, rows = self.table()
        return [list(map(str, row)) for row in [head, *rows]] if rows else []

    def __repr__(self) -> str:
        return "\n".join([self.headline(), *aligned(self.rows(), numbers="right")])

    def _repr_html_(self) -> str:
        if not (rows := self.rows()):
            return sentence(self.headline())
        return html_table(self.headline(), rows[0], rows[1:])

    def to_json(self) -> str:
        return json.dumps(asdict(self))  # type: ignore[call-overload]


def per(total: float, count: float) -> float:
    """How many there are of one for each of the other; none where there is nothing."""
    return total / count if count else 0.0


def aligned(rows: Iterable[Sequence[Any]], numbers: str = "left") -> list[str]:
    """Rows as lines of text whose columns stand under each other; all but the first may stand to
    the right, where they are numbers."""
    rows = [list(map(str, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = ["<", *["<" if numbers == "left" else ">"] * (len(widths) - 1)]
    return [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def html_table(caption: str, head: Sequence[str], rows: Rows, named: int = 0) -> str:
    """A table as HTML, in the page's own colors; wider than the screen, it scrolls by itself."""
    cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(html_row(row, named, "" if head else LEFT) for row in rows)
    return (
        f'<div style="overflow-x: auto"><table><caption>{escape(caption)}</caption>'
        + (f"<thead><tr>{cells}</tr></thead>" if head else "")
        + f"<tbody>{body}</tbody></table></div>"
    )


def html_row(row: Sequence[str], named: int = 0, look: str = "") -> str:
    cells = (
        f'<th scope="row"{LEFT}>{escape(cell)}</th>' if n == named
        else f"<td{look}>{escape(cell)}</td>"
        for n, cell in enumerate(row)
    )  # fmt: skip
    return f"<tr>{''.join(cells)}</tr>"


def as_text(title: str, rows: Rows) -> str:
    """Rows of (name, words) as lines under a title."""
    return "\n".join([title, *(f"  {line}" for line in aligned(rows))])


def as_html(title: str, rows: Rows) -> str:
    """The same as a table."""
    return html_table(title, (), rows)


def sentence(title: str) -> str:
    """A title that is all there is to say."""
    return f"<p>{escape(title)}</p>"
