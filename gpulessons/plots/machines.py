"""A picture of several machines beside each other: a dot a machine, a row a version.

The color is the backend's, as everywhere; the shape and the letter are the machine's. A filled
marker is live, an open one recorded.
"""

from collections.abc import Sequence
from textwrap import fill
from typing import Any

from gpulessons import units

from .axes import log_axes
from .picture import COLORS, INK, Picture, blank

SHAPES = "vPXp<h>8*d"  # none that means a backend; a letter stands beside each
LINE = 0.17  # inches: what the line of one machine takes


def side_by_side(both: Any, op: str = "", size: int | None = None) -> Picture:
    """One op at one size on every machine: the first op, and its largest size, unless told.

    both: what recordings.side_by_side returned. Time is on a log axis; a line through a dot is
    the middle half of its samples. ValueError where no two machines have timed that.
    """
    rows = chosen(both, op, size)
    title = fastest(both, rows)
    pitch = LINE * len(both.sides) + 0.16
    height = 1.3 + pitch * len(rows) + LINE * len(both.sides)
    figure, axes = blank(width=7.6, height=height, title=title)
    log_axes(axes, x=("time of one call", units.seconds))
    for y, row in enumerate(rows):
        for n, side in enumerate(both.sides):
            if timed(row.entries[n]):
                up = (n - (len(both.sides) - 1) / 2) * LINE / pitch
                draw(axes, y + up, row.entries[n], SHAPES[n % len(SHAPES)], side.tier == "live")
                name(axes, y + up, row.entries[n], label(side, row.entries[n], row.ratios[n]))
        if y:
            axes.axhline(y - 0.5, color=INK, linewidth=0.4, alpha=0.5)
    times = [time for row in rows for e in row.entries if timed(e) for time in e.quartiles]
    decades = max(max(times) / min(times), 4)
    axes.set_xlim(min(times) / decades**0.06, max(times) * decades**0.42)  # room for words
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    figure.supxlabel(
        "\n".join(fill(line, 96, subsequent_indent="   ") for line in legend(both)),
        x=0.01, ha="left", color=INK, fontsize=9.5, linespacing=1.4,
    )  # fmt: skip
    return Picture(figure, " ".join([title, *map(spoken(both), rows), *legend(both)]))


def chosen(both: Any, op: str, size: int | None) -> list[Any]:
    """The rows of an op at a size."""
    shared = [key for key in both.shared if not op or key[0] == op]
    fits = [key for key in shared if key[0] == shared[0][0] and size in (None, key[1])]
    if not fits:
        there = "; ".join(f"{name} at {units.count(n)}" for name, n in both.shared)
        raise ValueError(f"No two of these machines have timed that. There is {there}.")
    return both.of(*max(fits))


def timed(entry: Any) -> bool:
    """Has it a time? A row has None for what was not tried, and a reason for what could not be."""
    return hasattr(entry, "median")


def draw(axes: Any, y: float, entry: Any, shape: str, live: bool) -> None:
    """One time: solid and filled when live, dashed and open when recorded."""
    color = COLORS[entry.backend]
    axes.plot(entry.quartiles, [y, y], color=color, linewidth=1.5,
              linestyle="-" if live else (0, (2, 1)))  # fmt: skip
    axes.plot(entry.median, y, shape, color=color, markersize=7,
              markerfacecolor=color if live else "none")  # fmt: skip


def name(axes: Any, y: float, entry: Any, text: str) -> None:
    axes.annotate(text, (max(entry.median, entry.quartiles[1]), y), (7, 0), color=INK, fontsize=9,
                  textcoords="offset points", va="center")  # fmt: skip


def label(side: Any, entry: Any, ratio: Any) -> str:
    """What stands beside a dot: the letter, how many times as fast, and a warning."""
    words = [side.letter]
    if ratio:
        words.append(ratio.refused or units.ratio(ratio.median))
    if entry.noise and not (ratio and ratio.refused == entry.noise):
        words.append(f"({entry.noise})")
    return " ".join(words)


def legend(both: Any) -> list[str]:
    """Which letter is which machine, and what the numbers are."""
    letters = [f"{side.letter}  {side.label()}." for side in both.sides]
    return [f"× says how many times as fast as {both.against}.", *letters]


def fastest(both: Any, rows: Sequence[Any]) -> str:
    """The message in one sentence, of the last row: the best of each machine, or all there is."""
    row = rows[-1]
    what = f"{row.op}, {units.count(row.size)} {row.unit}"
    order = sorted(
        (n for n, entry in enumerate(row.entries) if timed(entry)),
        key=lambda n: row.entries[n].median,
    )
    first, second = order[:2]
    letters = [side.letter for side in both.sides]
    whose = [f"{letter}'s {entry.version}" if timed(entry) else letter
             for letter, entry in zip(letters, row.entries, strict=True)]  # fmt: skip
    against = letters.index(both.against)
    other = second if first == against else against
    ratio = row.ratios[second if first == against else first]
    if not ratio:
        end = f"{whose[other]} has no time"
    elif ratio.refused:
        end = f"no ratio to {whose[other]}: {ratio.refused}"
    elif first == against:
        end = f"{whose[other]} is {units.ratio(ratio.median)} as fast"
    else:
        end = f"that is {units.ratio(ratio.median)} as fast as {whose[other]}"
    lead = "the fastest looks to be" if ratio and ratio.refused else "the fastest is"
    return f"{what}: {lead} {whose[first]}, {row.entries[first].words}; {end}."


def spoken(both: Any) -> Any:
    """A function that says a row in words."""

    def words(row: Any) -> str:
        cells = zip(both.sides, row.entries, row.ratios, strict=True)
        times = (f"{label(s, e, r)} takes {e.words}" for s, e, r in cells if timed(e))
        return f"{row.name}: {', '.join(times)}."

    return words
