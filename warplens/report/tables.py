"""Text and HTML tables, and the forms that every report has."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self


def table(head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """A text table: the first column to the left, numbers to the right."""
    cells = [list(map(str, row)) for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]

    def line(row: list[str]) -> str:
        first, *others = row
        padded = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        return "  ".join([first.ljust(widths[0]), *padded]).rstrip()

    return "\n".join(map(line, cells))


def html_table(caption: str, head: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    def line(cells: Sequence[Any], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead>{line(head, 'th')}</thead>"
        f"<tbody>{body}</tbody></table>"
    )


@dataclass(frozen=True, repr=False)
class Report:
    """Text, HTML and JSON for a frozen dataclass that has a `headline` and a `table`."""

    def headline(self) -> str:
        raise NotImplementedError

    def table(self) -> tuple[tuple, list[tuple]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        head, rows = self.table()
        return self.headline() + ("\n" + table(head, rows) if rows else "")

    def _repr_html_(self) -> str:
        head, rows = self.table()
        if rows:
            return html_table(self.headline(), head, rows)
        return f"<p>{html.escape(self.headline())}</p>"

    @classmethod
    def from_json(cls, text: str) -> Self:
        return cls(**json.loads(text))

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))


def percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def per(total: float, count: float) -> float:
    return total / count if count else 0.0
