"""Drawings without data: SVG files, their ink the page's own, their words in <desc>.

Where a file has blanks, as {batch}, they are filled with values.
"""

import re
from functools import cached_property
from html import unescape
from importlib.resources import files
from urllib.parse import quote

from gpulessons.plots.picture import INK, Picture


class Drawing(Picture):
    """A file of this folder, shown as every Picture is."""

    def __init__(self, svg: str):
        self.svg = svg
        self.alt = unescape(svg.partition("<desc>")[2].partition("</desc>")[0])

    @property
    def width(self) -> int:
        """Pixels on a page: a viewBox is in points."""
        return round(float(re.search(r'viewBox="0 0 ([\d.]+)', self.svg)[1]) * 100 / 72)

    @cached_property
    def image(self) -> str:
        """The same as an <img>, its ink grey: no page's text color reaches it."""
        link = "data:image/svg+xml," + quote(self.svg.replace("currentColor", INK))
        return self.img(link)


def drawing(name: str, **values: object) -> Drawing:
    """The drawing of this name, its blanks filled."""
    svg = files(__name__).joinpath(f"{name}.svg").read_text(encoding="utf-8")
    return Drawing(svg.format(**values))
