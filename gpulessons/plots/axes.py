"""Axes: said to be logarithmic and numbered as people read numbers; words beside lines and rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from statistics import mean
from typing import TYPE_CHECKING, Any

from .picture import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

Told = tuple[str, Callable[[Any], str]]  # what an axis shows, and how a number of it is written


def log_axes(
    axes: Axes, *, x: Told | None = None, y: Told | None = None, ticks: Any = None, base: int = 10
) -> None:
    """Put one axis or both on a log scale; `x` and `y` are (what it is, write(number) of a tick).

    ticks: where the x axis is numbered, for values that were chosen. Between ticks nothing is
    numbered: those labels would run into each other.
    """
    for axis, told in ((axes.xaxis, x), (axes.yaxis, y)):
        if told:
            what, write = told
            getattr(axes, f"set_{axis.axis_name}scale")("log", base=base)
            axis.set_label_text(f"{what} (log scale)")
            written(axis, write)
            axis.set_minor_formatter("")
    if x and ticks is not None:
        axes.set_xticks(ticks, map(x[1], ticks))
        axes.set_xticks([], minor=True)


def written(axis: Axis, write: Callable[[Any], str]) -> None:
    """Label each tick of an axis with write(its number)."""
    axis.set_major_formatter(lambda number, _: write(number))


def two_ticks(axis: Axis) -> None:
    """Number a log axis of powers of ten at so many numbers that at least two are in view."""
    from matplotlib.ticker import LogLocator

    low, high = sorted(axis.get_view_interval())
    for subs in ((1,), (1, 2, 5), (1, 1.5, 2, 3, 5, 7)):
        axis.set_major_locator(LogLocator(subs=subs))
        if sum(low <= tick <= high for tick in axis.get_majorticklocs()) > 1:
            return


def beside(axes: Axes, words: str, x: float, y: float, left: bool = False) -> None:
    """Words to the right of a mark, or to its left."""
    axes.annotate(words, (x, y), (-9 if left else 9, 0), textcoords="offset points", va="center",
                  ha="right" if left else "left", fontsize=10, color=INK)


def name_rows(axes: Axes, names: Iterable[str]) -> None:
    """Rows from the top, each with its name on the left."""
    names = list(names)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.6)


def label_ends(axes: Any, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Name lines at the right edge, each led to its end: (x, y, text, color)."""
    if not ends:
        return
    ends = sorted(ends, key=lambda end: end[1])
    axes.figure.draw_without_rendering()
    heights = axes.transAxes.inverted().transform(axes.transData.transform([e[:2] for e in ends]))
    for (x, y, text, color), height in zip(ends, apart(heights[:, 1], 0.065), strict=True):
        axes.annotate(
            text, (x, y), (1.06, height), textcoords="axes fraction", va="center", color=INK,
            fontsize=10, annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": color, "linewidth": 0.8, "shrinkB": 4,
                        "relpos": (0, 0.5)},
        )


def apart(places: Sequence[float], gap: float) -> Sequence[float]:
    """Sorted places moved at least a gap apart, as little as can be: those that touch share it."""
    groups = []
    for i, place in enumerate(places):
        groups.append([place - i * gap])
        while len(groups) > 1 and mean(groups[-2]) > mean(groups[-1]):
            groups[-2:] = [groups[-2] + groups[-1]]
    starts = [mean(group) for group in groups for _ in group]
    return [start + i * gap for i, start in enumerate(starts)]
