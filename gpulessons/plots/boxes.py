"""Boxes and arrows: an empty page, and what stands on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .picture import INK, blank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Point = tuple[float, float]


def canvas(
    across: Point, up: Point, height: float, title: str, width: float = 8.2
) -> tuple[Figure, Axes]:
    """(figure, axes) to draw on, between these limits; no axis is drawn."""
    figure, axes = blank(width=width, height=height, title=title)
    axes.set(xlim=across, ylim=up)
    axes.set_axis_off()
    return figure, axes


def box(
    axes: Axes, x: float, y: float, text: str, color: str = INK, wide: float = 1.4,
    tall: float = 0.9,
) -> None:
    """A rounded box around (x, y), drawn by its edge alone, and a text in it."""
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(FancyBboxPatch(
        (x - wide / 2, y - tall / 2), wide, tall, boxstyle="round,pad=0,rounding_size=0.08",
        facecolor="none", edgecolor=color, linewidth=1.6,
    ))
    axes.text(x, y, text, ha="center", va="center", color=INK, fontsize=10)


def arrow(axes: Axes, start: Point, end: Point, color: str = INK, bend: float = 0) -> None:
    """From one point to another; bend: how far beside the straight line, in its lengths."""
    axes.annotate("", end, start, arrowprops={
        "arrowstyle": "-|>", "color": color, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0,
        "connectionstyle": f"arc3,rad={bend}",
    })
