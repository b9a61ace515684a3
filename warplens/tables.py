"""Tables to show, as text and as HTML: a `Table` of columns under a head, or of names and words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

Rows = Iterable[Sequence[Any]]
LEFT = ' style="text-align:left"'  # words; numbers stand where the page wants them


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of plain strings under a head, and notes below: reads as text and as HTML.

    head: () for rows of (name, words). named: the column that says what a row is about. numbers: on
    which side of their columns they stand as text.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()
    named: int = 0
    numbers: str = "left"

    def __repr__(self) -> str:
        lines = [self.head, *self.rows] if self.head else self.rows
        text = aligned(lines, self.numbers) if self.rows else []
        return "\n".join([self.caption, *text, *self.notes])

    def _repr_html_(self) -> str:
        table = f"<p>{escape(self.caption)}</p>"
        if self.rows:
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


def html_row(row: Sequence[Any], named: int = 0, look: str = "") -> str:
    cells = (
        f'<th scope="row"{LEFT}>{escape(str(cell))}</th>' if n == named
        else f"<td{look}>{escape(str(cell))}</td>"
        for n, cell in enumerate(row)
    )  # fmt: skip
    return f"<tr>{''.join(cells)}</tr>"
