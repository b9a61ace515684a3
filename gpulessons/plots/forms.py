"""The few forms that most pictures are made of: dots in rows, stacked shares, lines, cells, spans.

A form draws on axes and says nothing: title and alt text are its caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .axes import Told, beside, label_ends, log_axes, name_rows, two_ticks
from .picture import (
    BLUE,
    DARK,
    GREEN,
    HATCH,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Picture,
    blank,
    on,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

THIN = 0.045  # a share below this has no room for its words
SPOTS = {"linestyle": "none", "markersize": 8}
# Several lines of one picture, told apart by color, by mark and by dashes.
LOOKS: list[dict[str, Any]] = [
    {"color": BLUE, "marker": "o", "linestyle": "-"},
    {"color": VERMILLION, "marker": "^", "linestyle": "--"},
    {"color": GREEN, "marker": "s", "linestyle": "-."},
    {"color": PURPLE, "marker": "D", "linestyle": ":"},
    {"color": ORANGE, "marker": "v", "linestyle": (0, (5, 1))},
    {"color": SKY, "marker": "P", "linestyle": (0, (1, 3))},
]


def dots(
    rows: Sequence[tuple[str, float, dict]], what: str, write: Callable[[float], str], *,
    title: str, one: bool = False, base: int = 10,
) -> Picture:
    """A row for each (name, value, how its dot looks) on a log axis, which has no zero for bars.

    what: the axis. write: a value in words, beside its dot. one: a line at 1, and one to each dot.
    """
    figure, axes = blank(height=1.2 + 0.4 * len(rows), title=title)
    for y, (_, value, look) in enumerate(rows):
        if one:
            axes.plot([1, value], [y, y], color=look["color"], linewidth=1)
        axes.plot(value, y, **{"marker": "o", **SPOTS, **look})
        beside(axes, write(value), max(1, value) if one else value, y)
    if one:
        axes.axvline(1, color=INK, linewidth=1)
    name_rows(axes, [name for name, *_ in rows])
    values = [value for _, value, _ in rows] + [1] * one
    axes.set_xlim(min(values) / (8 if one else 2), 8 * max(values))
    log_axes(axes, x=(what, write), base=base)
    return Picture(figure, f"{title} {listed({n: write(v) for n, v, _ in rows})}.")


def listed(words: Mapping[str, Any]) -> str:
    """{name: words} as "name: words; name: words"."""
    return "; ".join(f"{name}: {each}" for name, each in words.items())


def stacked(
    stacks: Mapping[str, Mapping[str, float]], colors: Mapping[str, str], write: Callable, *,
    title: str, what: str, beyond: Mapping[str, str] | None = None,
) -> Picture:
    """Shares end to end, a bar for each of {row: {part: share}}; no color: an outline.

    write: a share in words, inside its part. what: the axis. beyond: {row: words} behind its bar.
    """
    figure, axes = blank(width=8.2, height=1.75 + 0.5 * len(stacks), title=title)
    first = {part: row for row in [*stacks][::-1] for part in stacks[row]}  # names it, below
    for y, (row, parts) in enumerate(stacks.items()):
        start = 0.0
        for part, share in parts.items():
            color = colors.get(part)
            look = {"color": color} if color else {"fill": False, "edgecolor": INK}
            axes.barh(y, share, left=start, height=0.62, label=part * (first[part] == row), **look)
            if share > THIN:
                axes.text(start + share / 2, y, write(share), ha="center", va="center",
                          fontsize=9.5, color=on(color) if color else INK)
            start += share
        axes.text(1.02, y, (beyond or {}).get(row, ""), va="center", color=INK, fontsize=9.5)
    name_rows(axes, stacks)
    axes.set(xlim=(0, 1), xlabel=what)
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    figure.legend(frameon=False, labelcolor=INK, fontsize=9.5, ncols=3, loc="outside lower center")
    spoken = {
        row: ", ".join(f"{part} {write(share)}" for part, share in parts.items())
        + (f", {beyond[row]}".replace("\n", " ") if beyond and beyond[row] else "")
        for row, parts in stacks.items()
    }
    return Picture(figure, f"{title} {listed(spoken)}.")


def percent(share: float) -> str:
    """`0.25` is "25%"; in two digits below a tenth; what is not all is never called 100%."""
    if 0 < share < 0.095:
        return f"{100 * share:.2g}%"
    return f"{min(share, 0.999):.1%}" if 0.985 < share < 1 else f"{share:.0%}"


def lines(axes: Axes, named: Iterable[tuple[str, Sequence, Sequence, dict]]) -> None:
    """(name, x, y, look) as lines, each with its name at its right end."""
    ends = []
    for name, x, y, look in named:
        axes.plot(x, y, **{"color": BLUE, "markersize": 5, **look})
        ends.append((x[-1], y[-1], name, look.get("color", BLUE)))
    label_ends(axes, ends)


def log_lines(
    named: Iterable[tuple[str, Sequence, Sequence, dict]], x: Told, y: Told, *, title: str,
    spoken: str = "", hatched: Sequence[Sequence] = (), **more: Any,
) -> Picture:
    """A whole picture: named lines on two log axes. x, y and more: as `log_axes` takes them;
    hatched: from what to what the last may lie, which is modelled.

    Its words are the points of each line that has marks, and what is `spoken` of the others.
    """
    named = list(named)
    figure, axes = blank(height=4.1, title=title)
    log_axes(axes, x=x, y=y, **more)
    if hatched:
        axes.fill_between(named[-1][1], *hatched, facecolor="none", edgecolor=INK, hatch=HATCH,
                          alpha=0.3, linewidth=0)
    lines(axes, named)
    two_ticks(axes.yaxis)
    told = {name: ", ".join(f"{y[1](v)} at {x[1](at)}" for at, v in zip(xs, ys, strict=True))
            for name, xs, ys, look in named if look.get("marker")}
    return Picture(figure, " ".join(filter(None, (title, f"{listed(told)}." * bool(told), spoken))))


def key(figure: Figure, looks: Mapping[str, dict], columns: int = 4) -> None:
    """Below a picture: {words: how a square looks, or another mark}."""
    for words, look in looks.items():
        figure.axes[0].plot([], [], label=words, **{"marker": "s", **SPOTS, **look})
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, labelcolor=INK,
                  fontsize=10)


def write(axes: Axes, x: float, y: float, words: Any, **look: Any) -> None:
    """Words in ink, their middle at (x, y)."""
    look = {"ha": "center", "va": "center", "color": INK, "fontsize": 10, **look}
    axes.text(x, y, f"{words}", **look)


def cell(
    axes: Axes, x: float, y: float, words: Any = "", color: str = "none", size: float = 10,
    **look: Any,
) -> None:
    """A square whose upper left corner is at (x, y), where y grows downwards, and words in it."""
    rectangle(axes, x + 0.04, y + 0.04, 0.92, 0.92, facecolor=color, **look)
    write(axes, x + 0.5, y + 0.5, words, fontsize=size, color=INK if color == "none" else DARK)


def rectangle(axes: Axes, x: float, y: float, wide: float, tall: float, **look: Any) -> None:
    from matplotlib.patches import Rectangle

    look = {"facecolor": "none", "edgecolor": INK, "linewidth": 0.8, **look}
    axes.add_patch(Rectangle((x, y), wide, tall, **look))


def span(axes: Axes, row: float, start: float, length: float, color: str, words: Any = "") -> None:
    """Somebody at work from `start` on, so long, and what is written on it."""
    axes.barh(row, length, left=start, height=0.8, color=color, edgecolor=INK, linewidth=0.6)
    write(axes, start + length / 2, row, words, fontsize=9, color=DARK)


def timetables(
    named: Mapping[str, Mapping[str, Sequence[tuple[float, float, str, Any]]]], what: str, *,
    title: str, width: float = 7.2,
) -> tuple[Figure, Any]:
    """(figure, its last axes): who does what when, in a panel for each of {name: {who: [(start,
    length, color, words)]}}, the words where there is room. what: the axis."""
    rows = [len(each) for each in named.values()]
    spans = [one for each in named.values() for row in each.values() for one in row]
    until = max(start + length for start, length, *_ in spans)
    figure, panels = blank(width, 1.3 + 0.42 * len(rows) + 0.3 * sum(rows), title, nrows=len(rows),
                           sharex=True, squeeze=False, height_ratios=rows)
    for axes, (name, each) in zip(panels.flat, named.items(), strict=True):
        for row, done in enumerate(each.values()):
            for start, length, color, words in done:
                room = length > until / 60 * len(f"{words}")
                span(axes, row, start, length, color, words if room else "")
        name_rows(axes, each)
        axes.set_xlim(0, 1.01 * until)
        axes.set_title(name, color=INK, fontsize=10, loc="left")
    axes.set_xlabel(what)
    return figure, axes
