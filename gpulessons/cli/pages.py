"""A web page of its own, for what a command keeps with --html: in a browser, light or dark."""

from __future__ import annotations

from html import escape
from pathlib import Path

from .terminal import Misspelled

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{color-scheme: light dark}}
body {{font: 16px/1.5 sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem}}
table {{border-collapse: collapse; margin-top: 1.5rem}}
caption {{text-align: left; font-weight: bold}}
th, td {{text-align: left; padding: 0.2rem 1rem 0.2rem 0; {cells}}}
img {{display: block; margin-top: 2rem}}
</style>
<body>{body}</body>
</html>
"""
RULED = "padding: 0.4rem 1rem 0.4rem 0; border-bottom: 1px solid"  # cells of sentences


def page(title: str, body: str, cells: str) -> str:
    """The page. title: plain text; body: HTML; cells: how they look, such as RULED."""
    return PAGE.format(title=escape(title), body=body, cells=cells)


def named_as(option: str, file: str, *endings: str) -> None:
    """Misspelled where the file that an option names has none of these endings."""
    if Path(file).suffix.lower() not in endings:
        what = {"--html": "a web page", "--json": "data"}[option]
        raise Misspelled(f"{option} writes {what}: {file} should end in {endings[0]}.")
