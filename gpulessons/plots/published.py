"""Published figures as lines: open marks, because nobody here has measured them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .forms import LOOKS


def open_lines(
    rows: Sequence[Any], over: str, by: str = "device", value: Callable | None = None
) -> list[tuple[str, list, list, dict]]:
    """A line for each name that the rows have under `by`, over one of their sizes, for `lines` and
    `log_lines`.

    rows: of evidence.published. value: a function of a row; else its figure in seconds, bytes/s,
    FLOP/s.
    """
    found: dict[str, list] = {}
    for row in sorted(rows, key=lambda row: row.sizes[over]):
        y = value(row) if value else row.value
        found.setdefault(getattr(row, by), []).append((row.sizes[over], y))
    looks = [{**look, "markerfacecolor": "none"} for look in LOOKS]
    return [(f"{name} (published)", [x for x, _ in points], [y for _, y in points],
             looks[n % len(looks)]) for n, (name, points) in enumerate(found.items())]
