"""Text and HTML tables, and the forms that every report has."""

from __future__ import annotations

import dataclasses
import html
import json


def table(head, rows) -> str:
    """A text table: the first column to the left, numbers to the right."""
    rows = [list(map(str, row)) for row in [head, *rows]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def line(row):
        first, *others = row
        padded = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        return "  ".join([first.ljust(widths[0]), *padded]).rstrip()

    return "\n".join(map(line, rows))


def html_table(caption, head, rows) -> str:
    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead>{line(head, 'th')}</thead>"
        f"<tbody>{body}</tbody></table>"
    )


class Report:
    """Text, HTML and JSON for a frozen dataclass that has a `headline` and a `table`."""

    def __repr__(self) -> str:
        head, rows = self.table()
        return self.headline() + ("\n" + table(head, rows) if rows else "")

    def _repr_html_(self) -> str:
        head, rows = self.table()
        return (
            html_table(self.headline(), head, rows)
            if rows
            else f"<p>{html.escape(self.headline())}</p>"
        )

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))


def percent(share: float) -> str:
    return f"{100 * share:.4g} %"


def per(total, count) -> float:
    return total / count if count else 0.0


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
