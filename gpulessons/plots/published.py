"""Published figures as lines: open marks, because nobody here has measured them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .forms import LOOKS


def open_lines(
    rows: Sequence[Any], over: str, by: str | Callable = "device", value: Callable | None = None
) -> list[tuple[str, list, list, dict]]:
    """A line for each name that the rows have under `by`, or that it makes of a row, over one of
    their sizes, for `lines` and `log_lines`.

    rows: of evidence.published. value: a function of a row; else its figure in seconds, bytes/s,
    FLOP/s.
    """
    found: dict[str, tuple[list, list]] = {}
    for row in sorted(rows, key=lambda row: row.sizes[over]):
        name = by(row) if callable(by) else getattr(row, by)
        xs, ys = found.setdefault(name, ([], []))
        xs.append(row.sizes[over])
        ys.append(value(row) if value else row.value)
    looks = [{**look, "markerfacecolor": "none"} for look in LOOKS]
    return [(f"{name} (published)", xs, ys, looks[n % len(looks)])
            for n, (name, (xs, ys)) in enumerate(found.items())]
