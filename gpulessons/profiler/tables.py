"""Tables of the profiler: a head and rows of plain strings, as text and on a page."""

from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, repr=False)
class Table:
    """Rows under a head, as text and on a page."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __repr__(self) -> str:
        lines = [self.head, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = (
            "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )
        return "\n".join([self.title, *text])

    def _repr_html_(self) -> str:
        head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in self.head)
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}</th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
            for name, *cells in self.rows
        )
        return (
            f'<div style="overflow-x: auto"><table><caption>{escape(self.title)}</caption>'
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
        )


def shortened(name: str, longest: int = 60) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"
