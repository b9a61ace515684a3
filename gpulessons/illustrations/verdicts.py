"""A headline as it is printed, headlines of one piece of work, and a gain at equal speeds."""

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import label_ends, log_axes, name_rows
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


def headlines(gains, rows, title, what):
    """{over what: [(row, times), …]} as marks in rows."""
    figure, axes = blank(8.6, 1.9 + 0.45 * len(rows), title)
    for (name, each), color, mark in zip(gains.items(), COLORS, "osD^", strict=False):
        axes.plot([times for _, times in each], [[*rows].index(row) for row, _ in each],
                  "<" if "at most" in name else mark, color=color, markersize=9, label=name)
    log_axes(axes, x=(what, units.ratio))
    name_rows(axes, rows)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, labelcolor=INK)
    said = "; ".join(f"{row}, {who}: {units.ratio(at)}" for who in gains for row, at in gains[who])
    return Picture(figure, f"{title}. {said}.")


def at_a_speed(curves, old, new, gain):
    """{side: [(tokens/s for each user, of a GPU), …]}, gain: {speed: …}; linear if modelled."""
    title = f"{new[:1].upper()}{new[1:]} over {old}, by tokens/s for each user:\n" + ", ".join(
        f"{units.ratio(factor)} at {speed}" for speed, factor in gain.items())
    figure, axes = blank(8.2, 4.3, title)
    moved = curves[new] if "modelled" in new else []
    x, y, ends = "tokens a second for each user", "throughput of one GPU, tokens/s", []
    for (side, runs), color, mark in zip(curves.items(), COLORS, "os^D", strict=False):
        color, look = (GREEN, "--") if "modelled" in side else (color, "-")
        speeds = np.geomspace(runs[0][0], runs[-1][0])  # straight between points: bent on log axes
        axes.plot(speeds, np.interp(speeds, *zip(*runs, strict=True)), look, color=color)
        axes.plot(*zip(*runs, strict=True), mark, color=color, markerfacecolor="none")
        ends.append((*runs[-1], side.partition(" (")[0], color))
        if moved:
            axes.axline(runs[0], runs[-1], color=INK, linestyle=":")
    for was, now in zip(curves[old], moved, strict=False):
        axes.annotate("", now, was, arrowprops={"arrowstyle": "->", "color": GREEN, "ls": ":"})
    for speed, factor in gain.items():
        low = np.interp(speed, *zip(*curves[old], strict=True))
        look = {"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", (speed, factor * low), (speed, low), arrowprops=look)
        axes.annotate(f"\u00a0{units.ratio(factor)}", (speed, low * factor**0.3), color=INK)
    if moved:
        axes.set(xlim=(0, 1.3 * moved[-1][0]), ylim=(0, 1.1 * moved[0][1]), xlabel=x, ylabel=y)
    else:
        log_axes(axes, x=(x, units.count), y=(y, "{:,.0f}".format), ticks=(10, 25, 50, 84, 160))
    label_ends(axes, ends)
    return Picture(figure, f"{title}. Points: published{', and modelled' * bool(moved)}.")
