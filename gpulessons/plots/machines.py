"""A picture of several machines beside each other: a dot a machine, a row a version.

The color is the backend's, as everywhere; the letter is the machine's. A filled marker is live, an
open one recorded.
"""

from typing import Any

from gpulessons import units

from .axes import log_axes
from .picture import COLORS, INK, MARKERS, Picture, blank


def side_by_side(both: Any, op: str = "", size: int | None = None) -> Picture:
    """One op at one size on every machine: the first op, and its largest size, unless told.

    both: what recordings.side_by_side returned. Time is on a log axis; a line through a dot is
    the middle half of its samples. ValueError where no two machines have timed that.
    """
    shared = [key for key in both.shared if op in ("", key[0]) and size in (None, key[1])]
    if not shared:
        there = "; ".join(f"{name} at {units.count(n)}" for name, n in both.shared)
        raise ValueError(f"No two of these machines have timed that. There is {there}.")
    rows = both.of(*max(key for key in shared if key[0] == shared[0][0]))
    title = fastest(both, rows[-1])
    count = len(both.sides)
    figure, axes = blank(width=7.6, height=1.5 + 0.2 * count * (len(rows) + 1), title=title)
    log_axes(axes, x=("time of one call", units.seconds))
    alt = [title]
    for y, row in enumerate(rows):
        timed = [(n, side, entry) for n, (side, entry) in
                 enumerate(zip(both.sides, row.entries, strict=True)) if has_time(entry)]
        for n, side, entry in timed:
            draw(axes, y + (n - (count - 1) / 2) * 0.8 / count, side, entry, row.ratios[n])
        alt.append(f"{row.name}: {', '.join(f'{s.letter} {e.words}' for _, s, e in timed)}.")
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [row.name for row in rows])
    low, high = axes.get_xlim()
    axes.set_xlim(low, high * (high / low) ** 0.4)  # room for words
    legend = [f"× says how many times as fast as {both.against}.",
              *(f"{side.letter}  {side.label()}." for side in both.sides)]
    axes.set_xlabel("\n".join([axes.get_xlabel(), *legend]), fontsize=9, linespacing=1.4)
    return Picture(figure, " ".join([*alt, *legend]))


def has_time(entry: Any) -> bool:
    """A row has None for what was not tried, and a reason for what could not be."""
    return hasattr(entry, "median")


def draw(axes: Any, y: float, side: Any, entry: Any, ratio: Any) -> None:
    """One time, filled when live and open when recorded; its machine's letter, how many times as
    fast, and a warning."""
    color, live = COLORS[entry.backend], side.tier == "live"
    axes.plot(entry.quartiles, [y, y], color=color, linestyle="-" if live else (0, (2, 1)))
    axes.plot(entry.median, y, MARKERS[entry.backend], color=color, markersize=7,
              markerfacecolor=color if live else "none")
    words = [side.letter]
    if ratio:
        words.append(ratio.refused or units.ratio(ratio.median))
    elif entry.noise:
        words.append(f"({entry.noise})")
    axes.annotate(" ".join(words), (max(entry.median, *entry.quartiles), y), (7, 0), color=INK,
                  fontsize=9, textcoords="offset points", va="center")


def fastest(both: Any, row: Any) -> str:
    """The message in one sentence: the best of each machine."""
    timed = [(entry.median, side, entry) for side, entry in
             zip(both.sides, row.entries, strict=True) if has_time(entry)]
    _, side, entry = min(timed, key=lambda one: one[0])
    return (f"{row.op}, {units.count(row.size)} {row.unit}: the fastest is {side.letter}'s "
            f"{entry.version}, {entry.words}.")
