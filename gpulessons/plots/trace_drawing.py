"""What the microscope's pictures share: cells, words, the colors of an access."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gpulessons.plots.picture import GREEN, INK, ORANGE, PURPLE, SKY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRAY = "#8C8C8C"
ACCESS_COLORS = {"read": SKY, "write": ORANGE, "atomic": GREEN}
EXTRA = PURPLE  # what takes more turns than it need


def key(axes: Axes, x: float, y: float, meanings: dict[str, Any]) -> None:
    """What each color means: a small square and its words, side by side."""
    from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea, HPacker, TextArea
    from matplotlib.patches import Rectangle

    parts: list[Any] = []
    for words, color in meanings.items():
        square = DrawingArea(9, 9)
        square.add_artist(Rectangle((0, 0), 9, 9, facecolor=color, edgecolor=GRAY, linewidth=0.8))
        parts += [square, TextArea(words, textprops={"color": INK, "fontsize": 9})]
    row = HPacker(children=parts, align="center", pad=0, sep=5)
    axes.add_artist(AnchoredOffsetbox("upper left", child=row, frameon=False, pad=0,
                                      bbox_to_anchor=(x, y), bbox_transform=axes.transData))


def cells(
    axes: Axes, corners: Iterable[tuple[float, float]], width: float, height: float,
    color: Any = None, edge: str = GRAY, alpha: float = 1.0, part: str | None = None,
) -> None:  # fmt: skip
    """Cells that look alike, as one shape: a page of hundreds stays small. part: its gid."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    turns = (0, 0), (1, 0), (1, 1), (0, 1), (0, 0)
    points = [(x + right * width, y + up * height) for x, y in corners for right, up in turns]
    if points:
        around = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY]
        shape = Path(points, around * (len(points) // 5))
        axes.add_patch(PathPatch(shape, facecolor=color or "none", edgecolor=edge, linewidth=0.8,
                                 alpha=alpha, gid=part))  # fmt: skip


def write(
    axes: Axes, x: float, y: float, text: Any, align: str = "center", size: float = 9,
    color: str = INK, **look: Any,
) -> None:  # fmt: skip
    """Words at a place of the drawing, centered on its height unless told."""
    axes.text(x, y, text, **{"ha": align, "va": "center", "fontsize": size, "color": color, **look})
