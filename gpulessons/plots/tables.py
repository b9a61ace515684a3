"""A table to show: a caption, a head, rows of plain strings, and notes below."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of plain strings under a head, and notes below: reads as text and as HTML."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def __repr__(self) -> str:
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        lines = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (self.head, *self.rows)
        ]
        return "\n".join([self.caption, *lines, *self.notes])

    def _repr_html_(self) -> str:
        cells = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in self.head)
        body = "".join(
            f'<tr><th scope="row">{escape(name)}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in row)
            + "</tr>"
            for name, *row in self.rows
        )
        notes = "".join(f"<br>{escape(note)}" for note in self.notes)
        return (
            '<div style="overflow-x: auto"><table>'
            f"<caption>{escape(self.caption)}</caption><thead><tr>{cells}</tr></thead>"
            f"<tbody>{body}</tbody></table></div><p>{notes}</p>"
        )
