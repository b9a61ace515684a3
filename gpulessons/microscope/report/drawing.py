"""What the microscope's pictures share: a blank sheet, a cell, the colors of an access."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpulessons.plots.picture import GREEN, INK, ORANGE, SKY, Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GRAY = "#8C8C8C"
ACCESS_COLORS = {"read": SKY, "write": ORANGE, "atomic": GREEN}


def blank(width: float, height: float) -> tuple[Figure, Axes]:
    """A figure with one empty drawing area."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="tight")
    axes = figure.subplots()
    axes.set_axis_off()
    return figure, axes


def finish(figure: Figure, axes: Axes, title: str, alt: str) -> Picture:
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    return Picture(figure, alt)


def cell(
    axes: Axes,
    x: float,
    y: float,
    width: float,
    height: float,
    color: str | None = None,
    edge: str = INK,
    alpha: float = 1.0,
) -> None:
    from matplotlib.patches import Rectangle

    patch = Rectangle(
        (x, y), width, height, facecolor=color or "none", edgecolor=edge, linewidth=0.8, alpha=alpha
    )
    axes.add_patch(patch)


def write(
    axes: Axes,
    x: float,
    y: float,
    text: Any,
    align: str = "center",
    size: float = 7,
    color: str = INK,
    **look: Any,
) -> None:
    """Words at a place of the drawing, centered on its height unless told."""
    axes.text(x, y, text, **{"ha": align, "va": "center", "fontsize": size, "color": color, **look})
