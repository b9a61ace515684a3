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
    """Rows of plain strings under a head, and notes below: reads as text and as HTML."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def __repr__(self) -> str:
        return "\n".join([self.caption, *aligned([self.head, *self.rows]), *self.notes])

    def _repr_html_(self) -> str:
        notes = "".join(f"<br>{escape(note)}" for note in self.notes)
        return f"{html_table(self.caption, self.head, self.rows)}<p>{notes}</p>"


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
    """Rows under a head as HTML; wider than a small screen, the table scrolls by itself.

    named: the column that says what a row is about.
    """
    cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    body = "".join(html_row(row, named) for row in rows)
    return (
        f'<div style="overflow-x: auto"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def html_row(row: Sequence[str], named: int = 0) -> str:
    cells = (
        f'<th scope="row"{LEFT}>{escape(cell)}</th>' if n == named else f"<td>{escape(cell)}</td>"
        for n, cell in enumerate(row)
    )  # fmt: skip
    return f"<tr>{''.join(cells)}</tr>"


# Names, and what is to be said of each


def as_text(title: str, rows: Rows) -> str:
    """Lines under a title: rows are (name, words)."""
    return "\n".join([title, *(f"  {line}" for line in aligned(rows))])


def as_html(title: str, rows: Rows) -> str:
    """The same as a table, in the page's own colors."""
    cells = "".join(
        f'<tr><th scope="row"{LEFT}>{escape(name)}</th><td{LEFT}>{escape(words)}</td></tr>'
        for name, words in rows
    )
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"


def sentence(title: str) -> str:
    """A title that is all there is to say."""
    return f"<p>{escape(title)}</p>"
