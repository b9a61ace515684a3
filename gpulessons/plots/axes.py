"""Log axes, set up in one way: said to be logarithmic, and numbered as people read numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

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
