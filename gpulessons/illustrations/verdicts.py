"""A headline as it is printed, headlines of one piece of work, and a gain at equal speeds."""

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import label_ends, log_axes, name_rows, two_ticks
from gpulessons.plots.picture import BLUE, GREEN, INK, ORANGE, Picture, blank

COLORS = BLUE, ORANGE, GREEN, INK


def as_printed(row):
    """A headline as its seller draws it: the other side is 1, and that is all."""
    new, old = row.what.split(" over ")[0], row.what.split(" over ")[1].partition(",")[0]
    title = f"{old} is 1, {new} is {row.value:g}. What is not in this picture?"
    figure, axes = blank(6.4, 2.3, title)
    axes.barh((0, 1), (1, row.value), color=(INK, BLUE), height=0.6)
    name_rows(axes, [old, new])
    axes.set_xlabel(f"throughput per GPU, relative to the {old}")
    return Picture(figure, f"{title} Published: {row.citation}.")


def headlines(ours, theirs, what):
    """What can be said of one piece of work: {a CPU's side: seconds} over {a card's: seconds}."""
    gains = {card: [mine / seconds for mine in ours.values()] for card, seconds in theirs.items()}
    ends = [units.ratio(end(map(end, gains.values()))) for end in (min, max)]
    title = f"{what}: headlines from {ends[0]} to {ends[1]}"
    figure, axes = blank(8.6, 1.9 + 0.45 * len(ours), title)
    for (card, row), color, mark in zip(gains.items(), COLORS, "osD^", strict=False):
        axes.plot(row, range(len(row)), mark, color=color, markersize=9, label=f"over {card}")
    log_axes(axes, x=("a CPU's time over the GPU's", units.ratio))
    name_rows(axes, ours)
    figure.legend(loc="outside lower center", ncols=len(gains), frameon=False, labelcolor=INK)
    said = "; ".join(f"{side} over {card}: {units.ratio(row[i])}" for card, row in gains.items()
                     for i, side in enumerate(ours))  # fmt: skip
    return Picture(figure, f"{title}. {said}.")


def at_a_speed(curves, old, new, gain):
    """{side: [(tokens/s for each user, of a GPU), …]}; gain: {speed: what new has over old}."""
    told = ", ".join(f"{units.ratio(factor)} at {speed}" for speed, factor in gain.items())
    title = f"{new[:1].upper()}{new[1:]} over {old}, by tokens/s for each user:\n{told}"
    figure, axes = blank(8.2, 4.3, title)
    log_axes(axes, x=("tokens a second for each user", units.count),
             y=("throughput of one GPU, tokens/s", "{:,.0f}".format), ticks=(15, 25, 50, 110, 180))
    ends = []
    for (side, runs), color, mark in zip(curves.items(), COLORS, "os^D", strict=False):
        color, look = (GREEN, {"ls": "--"}) if "modelled" in side else (color, {"marker": mark})
        axes.plot(*zip(*runs, strict=True), color=color, markerfacecolor="none", **look)
        ends.append((*runs[-1], side.partition(" (")[0], color))
    for was, now in zip(curves[old], curves[new] if "modelled" in new else (), strict=False):
        axes.annotate("", now, was, arrowprops={"arrowstyle": "->", "color": GREEN, "ls": ":"})
    for speed, factor in gain.items():
        low = np.interp(speed, *zip(*curves[old], strict=True))
        look = {"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (speed, factor * low), (speed, low), arrowprops=look)
        axes.annotate(f"\u00a0{units.ratio(factor)}", (speed, low * factor**0.3), color=INK)
    two_ticks(axes.yaxis)
    label_ends(axes, ends)
    return Picture(figure, f"{title}. Points: published.")
