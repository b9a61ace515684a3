"""What decides a statement: its figures as ranges, by whom, and the two borders between them."""

import math
from textwrap import fill as fill_words

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import label_ends, log_axes, name_rows, two_ticks
from gpulessons.plots.picture import BLUE, GREEN, INK, ORANGE, Picture, blank

KINDS = {"live": "o", "recorded": "o", "published": "s", "modelled": "D", "bounded": "|",
         "counted": "^", "emulated": "v"}  # fmt: skip
COLORS = BLUE, ORANGE, GREEN, INK  # an author each


def ranges(finding):
    """The figures of a Finding on one axis, a row each and together by author, between the
    statement's two borders."""
    about, authors = finding.about, list(finding.authors)
    rows = sorted(finding.figures, key=lambda each: authors.index(each.author))
    by = f"{len(authors)} author{'s' * (len(authors) != 1)}"
    kinds = " and ".join(dict.fromkeys(each.kind for each in rows))
    title = f"{fill_words(about.words, 76)}\n{finding.said}, {kinds} by {by}"
    figure, axes = blank(8.6, 1.8 + 0.45 * len(rows), title)
    low, high = limits(axes, finding)
    for y, each in enumerate(rows):
        look = {"color": COLORS[authors.index(each.author) % len(COLORS)]}
        axes.plot((max(each.low, low), min(each.high, high)), (y, y), linewidth=3, **look)
        tips = [end for end in dict.fromkeys((each.low, each.high)) if low < end < high]
        axes.plot(tips, [y] * len(tips), marker=KINDS[each.kind], markersize=9, linestyle="none",
                  **look)  # fmt: skip
    sides = (about.refuted, "← contradicts", "right"), (about.holds, "supports →", "left")
    for border, side, ha in sides:
        axes.axvline(border, color=INK, linewidth=1, linestyle=(0, (4, 3)))
        axes.text(border, -0.75, f"\u00a0{side}\u00a0", color=INK, ha=ha, fontsize=9.5)
    labels = (f"{each.author}: {each.what}, {each.amount(about.unit)}" for each in rows)
    name_rows(axes, [fill_words(label, 52) for label in labels])
    return Picture(figure, f"{about.words} {finding.said} by {finding.support}. {about.test} "
                           f"{'; '.join(finding.lines)}.")  # fmt: skip


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
        axes.plot(row, range(len(row)), color=color, marker=mark, markersize=9, linestyle="none",
                  label=f"over {card}")  # fmt: skip
    log_axes(axes, x=("a CPU's time over the GPU's", units.ratio))
    name_rows(axes, ours)
    figure.legend(loc="outside lower center", ncols=len(gains), frameon=False, labelcolor=INK,
                  fontsize=9.5)  # fmt: skip
    said = "; ".join(f"{side} over {card}: {units.ratio(row[i])}" for card, row in gains.items()
                     for i, side in enumerate(ours))  # fmt: skip
    return Picture(figure, f"{title}. {said}.")


def at_a_speed(curves, old, new, gain):
    """{side: (tokens/s for each user, tokens/s of a GPU)}, and at some speeds what new has over
    old: {speed: factor}."""
    told = ", ".join(f"{units.ratio(factor)} at {speed}" for speed, factor in gain.items())
    title = f"{new[:1].upper()}{new[1:]} over {old}, by tokens/s for each user:\n{told}"
    figure, axes = blank(8.2, 4.3, title)
    log_axes(axes, x=("tokens a second for each user", units.count),
             y=("throughput of one GPU, tokens/s", "{:,.0f}".format), ticks=(15, 25, 50, 110, 180))
    ends = []
    for (side, (speeds, made)), color, mark in zip(curves.items(), COLORS, "os^D", strict=False):
        look = {"linestyle": "--"} if "modelled" in side else {"marker": mark}
        axes.plot(speeds, made, color=color, markerfacecolor="none", **look)
        ends.append((speeds[-1], made[-1], side.partition(" (")[0], color))
    for speed, factor in gain.items():
        low = np.exp(np.interp(np.log(speed), *map(np.log, curves[old])))
        axes.annotate("", (speed, factor * low), (speed, low),
                      arrowprops={"arrowstyle": "<->", "color": INK, "shrinkA": 0, "shrinkB": 0})
        axes.annotate(f"\u00a0{units.ratio(factor)}", (speed, low * factor**0.3), color=INK)
    label_ends(axes, ends)
    return Picture(figure, f"{title}. Points: published.")


def limits(axes, finding):
    """The ends of the axis, of a factor by powers of ten."""
    about = finding.about
    ends = [about.refuted, about.holds, *(end for each in finding.figures
            for end in (each.low, each.high) if math.isfinite(end) and end > 0)]  # fmt: skip
    low, high = min(ends) / 3, max(ends) * 3
    log_axes(axes, x=(fill_words(f"{about.quantity}, {about.unit}", 64), units.three_digits))
    axes.set_xlim(low, high)
    two_ticks(axes.xaxis)
    return low, high
