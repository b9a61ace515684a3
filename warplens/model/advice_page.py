"""Advice as a page: the kernel's source with each finding beside its line, then what to do.

Static, and of no color but a mark's: it reads on a light page, on a dark one, and aloud.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .advice import Advice, Finding

MARK = "border-left: 4px solid #D55E00; padding-left: 0.5em"  # vermillion: seen on black and white
WIDE = "min-width: 18em"  # of the page, what a long line of code must leave to the words beside it
CODE = "white-space: pre-wrap; font-family: monospace"
LEFT = "text-align: left; vertical-align: top"


def page(advice: Advice) -> str:
    items = "".join(map(item, advice.findings))
    untold = "".join(f"<p>Not told: {escape(why)}</p>" for why in advice.untold)
    found = f"{listing(advice)}<ol>{items}</ol>" if items else ""
    return f"<p>{escape(advice.headline)}</p>{found}{untold}"


def item(finding: Finding) -> str:
    """One finding, with those of its lines that no listing shows: other functions' lines."""
    elsewhere = "".join(f"<br>{escape(str(p))}" for p in finding.places if not p.text)
    return (
        f"<li><b>{escape(finding.headline)}</b><br>{escape(finding.found)}{elsewhere}<br>"
        f"What to do: {escape(finding.do)}<br>"
        f"<small>In the profiler: {escape(finding.counter)}.</small></li>"
    )


def listing(advice: Advice) -> str:
    """The kernel, line by line, with the numbers of the findings and their words."""
    notes = notes_by_line(advice)
    if not notes:
        return ""
    rows = "".join(row(number, text, notes.get(number, [])) for number, text in advice.source)
    head = "".join(
        f'<th scope="col" style="{LEFT}">{h}</th>' for h in ("line", "source", "finding")
    )
    return (
        f'<div style="overflow-x: auto"><table><caption>{escape(advice.kernel)}, line by line'
        f"</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def notes_by_line(advice: Advice) -> dict[int, list[str]]:
    notes: dict[int, list[str]] = {}
    for number, finding in enumerate(advice.findings, 1):
        for place in finding.places:
            if place.text:
                words = f"{number}. {finding.rule}: {place.note}"
                notes.setdefault(place.line, []).append(words)
    return notes


def row(number: int, text: str, notes: list[str]) -> str:
    said = "<br>".join(map(escape, notes))
    style = f"{LEFT}; {WIDE}; {MARK}" if notes else LEFT
    return (
        f'<tr><td style="{LEFT}">{number}</td><td style="{LEFT}; {CODE}">{escape(text)}</td>'
        f'<td style="{style}">{said}</td></tr>'
    )
