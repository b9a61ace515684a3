"""What every figure of the course shares: its colors, its ink, and the way it shows itself."""

import io
from collections.abc import Mapping
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Where a page takes vectors, ink is the page's own text color; this grey stands for it, and is what
# a page sees that takes images only: 4.5 to 1 on white, and nearly so on a dark page (#111).
INK = "#767676"
# Okabe and Ito's palette, told apart by every common kind of color vision.
BLUE, SKY, GREEN, VERMILLION, ORANGE, PURPLE = (
    "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#E69F00", "#CC79A7",
)
DARK = "#111111"  # words on these: 4.5 to 1 or better
COLORS = {"host": BLUE, "torch_cpu": GREEN, "gpu": VERMILLION, "torch_gpu": ORANGE}
# A modelled value is no measured one: lines that are thin and broken, areas that are hatched.
HATCH, DASH_DOT = "////", (0, (7, 2, 1, 2))
MARKERS = {"host": "o", "torch_cpu": "s", "gpu": "^", "torch_gpu": "D"}


class Picture:
    """A figure with its message in words, drawn when first shown.

    words: {word: part}, shown below it; a word that is pointed at, or reached by the keyboard,
    lights the artists whose gid is "lit" and, after blanks, the part's name among others.
    """

    words: Mapping[str, str] = {}

    def __init__(self, figure: "Figure", alt: str, words: Mapping[str, str] | None = None):
        self.figure, self.alt, self.words = figure, alt, words or {}
        self.axes = figure.axes[0]

    @cached_property
    def svg(self) -> str:
        """The figure in vectors, its ink in the color of the text around it."""
        from .vector import vector

        return vector(self.figure, INK, dpi=120)

    @cached_property
    def image(self) -> str:
        """The figure as an <img>, for pages that refuse vectors."""
        from PIL import Image

        from .vector import packed_image

        drawn = io.BytesIO()
        self.figure.savefig(drawn, format="png", dpi=100, transparent=True)
        photograph = any(axes.images for axes in self.figure.axes)
        return self.img(packed_image(Image.open(drawn), photograph))

    def img(self, link: str) -> str:
        return (
            f'<img src="{link}" alt="{escape(self.alt)}" width="{self.width}" '
            'style="max-width: 100%; height: auto">'
        )

    @property
    def width(self) -> int:
        """Pixels on a page."""
        return round(100 * self.figure.get_figwidth())

    @property
    def drawing(self) -> str:
        """The vectors at their size, above the words that light their parts."""
        look = f"width: {self.width}px; max-width: 100%; height: auto"
        drawn = self.svg.replace("<svg ", f'<svg aria-hidden="true" style="{look}" ', 1)
        return drawn + self.lights() if self.words else drawn

    def lights(self) -> str:
        """The words, and the rules by which they dim all other parts: no script."""
        shown = ", ".join(f'<u tabindex="0" class="{part}">{escape(word)}</u>'
                          for word, part in self.words.items())
        dims = "".join(f":has(> p > .{part}:is(:hover, :focus)) > svg .lit:not(.{part}),"
                       for part in self.words.values())
        return f"<p>Point at {shown}.</p><style>{dims.rstrip(',')} {{opacity: 0.15}}</style>"

    def _repr_html_(self) -> str:
        from .frames import frame, moving, saving
        from .vector import sign

        if saving():
            return moving([], [frame(self)], self.image)
        # A page that strips vectors and styles is left with the image. Elsewhere the image is there
        # for its words alone, which a screen reader finds, and the eye does not.
        name = f"p{sign(self.svg)}"
        hidden = "position: absolute; width: 1px !important; height: 1px !important; opacity: 0"
        return (
            f'<figure id="{name}" style="margin: 0; position: relative">{self.image}{self.drawing}'
            f"<style>#{name} > img {{{hidden}}}</style></figure>"
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/plain": self.alt, "text/html": self._repr_html_()}

    def __repr__(self):
        return self.alt


def on(color: str) -> str:
    """Black or white: the one that reads better on an area of this color, on any page."""
    from matplotlib.colors import to_rgb

    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
                        for part in to_rgb(color))
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "#ffffff"


def blank(
    width: float = 7.2, height: float = 3.6, title: str = "", **subplots: Any
) -> tuple["Figure", Any]:
    """(figure, axes) in the course's style: no box, all in ink, a title as a sentence."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    room = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06)
    figure = Figure(figsize=(width, height), layout=room)
    axes = figure.subplots(**subplots)
    for one in getattr(axes, "flat", [axes]):
        restyle(one)
    figure.suptitle(title, color=INK, fontsize=12, x=0.01, ha="left", wrap=True, parse_math=False)
    return figure, axes


def restyle(axes: "Axes") -> None:
    """All in ink, and no box."""
    axes.tick_params(colors=INK, which="both", labelsize=10)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(INK)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    axes.patch.set_alpha(0)


def images(named: Mapping[str, Any], title: str = "", across: int = 200) -> Picture:
    """Pictures of one shape side by side, each under its name, light enough for a saved page.

    Values in 0…1, (rows, columns[, 3]). title: the message. across: the pixels of a row that are
    shown. Raises ValueError where there is nothing to show, or shapes differ.
    """
    shapes = {np.shape(image)[:2] for image in named.values()}
    if len(shapes) != 1 or not all(np.ndim(image) in (2, 3) for image in named.values()):
        raise ValueError(f"Show pictures of one shape side by side, not of {sorted(shapes)}.")
    ((rows, columns),) = shapes
    height = 1.0 + 5.4 / len(named) * rows / columns
    figure, axes = blank(6, height, title, ncols=len(named), squeeze=False)
    for one, (name, image) in zip(axes.flat, named.items(), strict=True):
        one.imshow(np.clip(thinned(image, across), 0, 1), cmap="gray", vmin=0, vmax=1)
        one.set_axis_off()
        one.set_title(name, color=INK, fontsize=10)
    return Picture(figure, f"{title} Side by side: {', '.join(named)}.".strip())


def thinned(image: Any, across: int) -> np.ndarray:
    """About so many columns of an image at most, and rows to match: means of square blocks."""
    image = np.asarray(image, np.float64)
    step = max(1, min(round(image.shape[1] / across), image.shape[0]))
    rows, columns = image.shape[0] // step * step, image.shape[1] // step * step
    blocks = image[:rows, :columns].reshape(rows // step, step, columns // step, step, -1)
    return blocks.mean(axis=(1, 3)).squeeze()
