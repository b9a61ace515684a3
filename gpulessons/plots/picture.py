"""What every figure of the course shares: its colors, its ink, and the way it shows itself."""

import base64
import io
from collections.abc import Mapping
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL.Image import Image

# 4.5 to 1 on white. No grey is as far from a dark page (#111) too, so there all is lightened.
INK = "#767676"
LIGHTEN = 1.1
DARK = f"""<style>[data-jp-theme-light="false"] .gpulessons-picture,
.vscode-dark .gpulessons-picture {{filter: brightness({LIGHTEN})}}</style>"""
# Okabe and Ito's palette, told apart by every common kind of color vision.
BLUE, SKY, GREEN, VERMILLION, ORANGE, PURPLE = (
    "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#E69F00", "#CC79A7",
)  # fmt: skip
COLORS = {"host": BLUE, "torch_cpu": GREEN, "gpu": VERMILLION, "torch_gpu": ORANGE}
# A modelled value is no measured one: lines that are thin and broken, areas that are hatched.
HATCH, DASH_DOT = "////", (0, (7, 2, 1, 2))
MARKERS = {"host": "o", "torch_cpu": "s", "gpu": "^", "torch_gpu": "D"}


class Picture:
    """A figure with its message in words, drawn when first shown, finer than the screen."""

    def __init__(self, figure: "Figure", alt: str):
        self.figure, self.alt = figure, alt
        self.axes = figure.axes[0]

    @cached_property
    def png(self) -> str:
        from PIL import Image

        drawn, packed = io.BytesIO(), io.BytesIO()
        # 256 colors will do, and a notebook a quarter the size is worth it.
        photograph = any(one.images for one in self.figure.axes)
        dpi, pack = (120, dithered) if photograph else (200, reduced)
        self.figure.savefig(drawn, format="png", dpi=dpi, transparent=True)
        pack(Image.open(drawn)).save(packed, format="png", optimize=True)
        return base64.b64encode(packed.getvalue()).decode()

    def _repr_html_(self):
        width = round(100 * self.figure.get_figwidth())
        return (
            f'<img class="gpulessons-picture" src="data:image/png;base64,{self.png}" '
            f'alt="{escape(self.alt)}" width="{width}" style="max-width: 100%; height: auto">{DARK}'
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        # HTML, because JupyterLab gives a bare image no alt text; the image, for pages that
        # strip HTML down.
        data = {"text/plain": self.alt, "text/html": self._repr_html_(), "image/png": self.png}
        return data, {"image/png": {"alt": self.alt}}

    def __repr__(self):
        return self.alt


def reduced(chart: "Image") -> "Image":
    """The 256 colors nearest to a chart's own, half-transparent ones included."""
    from PIL import Image

    return chart.quantize(256, Image.Quantize.FASTOCTREE)


def dithered(photograph: "Image") -> "Image":
    """255 colors, mixed in fine grain where there were more, and one for what is transparent."""
    from PIL import Image

    clear = photograph.getchannel("A").point(lambda alpha: 255 * (alpha < 128))
    few = photograph.convert("RGB").quantize(255, Image.Quantize.MEDIANCUT)
    few.putpalette([*(few.getpalette() or []), *3 * 256 * [0]][: 3 * 256])
    few.paste(255, mask=clear)
    few.info["transparency"] = 255
    return few


def blank(
    width: float = 7.2, height: float = 3.6, title: str = "", **subplots: Any
) -> tuple["Figure", Any]:
    """(figure, axes) in the course's style: no box, grey ink, a title as a sentence."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    room = ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.06)
    figure = Figure(figsize=(width, height), layout=room)
    axes = figure.subplots(**subplots)
    for one in getattr(axes, "flat", [axes]):
        restyle(one)
    figure.suptitle(title, color=INK, fontsize=12, x=0.01, ha="left", wrap=True)
    return figure, axes


def restyle(axes: "Axes") -> None:
    """Grey ink and no box, legible on a white page and on a dark one."""
    axes.tick_params(colors=INK, which="both", labelsize=10)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(INK)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    axes.patch.set_alpha(0)


def images(named: Mapping[str, Any], title: str = "") -> Picture:
    """Pictures side by side, each under its name. Values in 0…1, (rows, columns[, 3])."""
    import matplotlib

    rows, columns = next(iter(named.values())).shape[:2]
    height = 0.8 + 7 / len(named) * rows / columns
    figure, axes = blank(height=height, title=title, ncols=len(named), squeeze=False)
    for one, (name, image) in zip(axes.flat, named.items(), strict=True):
        one.imshow(image, cmap=matplotlib.colormaps["gray"], vmin=0, vmax=1)
        one.set_axis_off()
        one.set_title(name, color=INK, fontsize=11)
    return Picture(figure, f"{title} Side by side: {', '.join(named)}.".strip())
