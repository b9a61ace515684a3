"""The box around a control's widgets: what it looks like, and what it says to a screen reader.

ipywidgets cannot name the handle of a slider, which then announces a bare index, and a notebook
takes the arrow keys away from a list. Both are mended in the page, by a few lines that reach no
further than the box; where a page refuses to run them, the widgets work as they came.
"""

from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ipywidgets import VBox, Widget

STYLE, SCRIPT = (
    Path(__file__).with_suffix(kind).read_text(encoding="utf-8") for kind in (".css", ".js")
)


def panel(*children: "Widget") -> "VBox":
    """A box of widgets, one to a line, which brings its look along."""
    from ipywidgets import HTML, VBox

    look = HTML(f'<style onload="{escape(SCRIPT)}">{STYLE}</style>', layout={"display": "none"})
    box = VBox([*children, look])
    box.add_class("gpulessons")
    return box
