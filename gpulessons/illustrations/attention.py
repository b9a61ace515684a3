"""Pictures of attention: who looks at whom, the memory it takes, and where a layer's time goes.

As in plots, every title is computed, and every picture says its message in words too.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.picture import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Picture,
    blank,
)
from gpulessons.plots.timings import label_ends

HUES = (BLUE, SKY, ORANGE, GREEN, PURPLE, VERMILLION)  # of a layer's parts, in their order
MARKS = ("o", "s", "D", "^")


def attending(words: Sequence[str], shares: np.ndarray) -> Picture:
    """Who looks at whom: shares (queries, keys), a row for each word that asks."""
    likings = [(words[i], words[row.argmax()], row.max()) for i, row in enumerate(shares)]
    who, whom, most = max(likings, key=lambda liking: liking[2])
    title = f"Each row adds up to 100 %. The firmest look: “{who}” at “{whom}”, {most:.0%}."
    figure, axes = blank(width=6.2, height=4.9, title=title)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for (i, j), share in np.ndenumerate(shares):
        color = "white" if share > 0.55 else "#333333"
        axes.text(j, i, f"{100 * share:.0f}", ha="center", va="center", fontsize=9, color=color)
    axes.set_xticks(range(len(words)), words, rotation=45)
    axes.set_yticks(range(len(words)), words)
    axes.set(xlabel="is looked at, %", ylabel="looks")
    axes.tick_params(length=0)
    spoken = "; ".join(f"{a} at {b}: {share:.0%}" for a, b, share in likings)
    return Picture(figure, f"{title} Each word's firmest look: {spoken}.")


def peaks(measured: Mapping[str, Any]) -> Picture:
    """The memory of a call against the length, both on log scales: {name: {tokens: bytes}}.

    The title says what the last doubling of the length does to each.
    """
    steps = [f"{doubling(sizes):.1f} times for {name}" for name, sizes in measured.items()]
    title = f"Twice the length, and memory grows: {', '.join(steps)}."
    figure, axes = blank(height=4.1, title=title)
    log_axes(axes, x=("tokens", units.count), y=("most memory at once", units.size),
             ticks=sorted(next(iter(measured.values()))), base=4)  # fmt: skip
    ends = []
    for (name, sizes), color, mark in zip(measured.items(), HUES, MARKS, strict=False):
        axes.plot(list(sizes), list(sizes.values()), marker=mark, color=color, markersize=5)
        ends.append((max(sizes), sizes[max(sizes)], name, color))
    label_ends(axes, ends)
    spoken = "; ".join(
        f"{name}: " + ", ".join(f"{units.size(c)} at {units.count(n)}" for n, c in sizes.items())
        for name, sizes in measured.items()
    )
    return Picture(figure, f"{title} {spoken}.")


def doubling(costs):
    """What twice the length does to a cost, by its last two lengths: {length: cost}."""
    before, last = sorted(costs)[-2:]
    return (costs[last] / costs[before]) ** (math.log(2) / math.log(last / before))


def parts(stacks: Mapping[str, Any], *, title="") -> Picture:
    """What a whole consists of, one bar for each way of counting: {way: {part: amount}}.

    The first part is the one the title speaks of. Parts too thin for a name get none.
    """
    shares = {way: whole(amounts) for way, amounts in stacks.items()}
    first = next(iter(next(iter(shares.values()))))
    said = [f"{of_a_hundred(each[first])} of the {way}" for way, each in shares.items()]
    title = title or f"{first.capitalize()}: {'; '.join(said)}."
    names = list(next(iter(shares.values())))
    figure, axes = blank(width=7.6, height=1.75 + 0.5 * len(shares), title=title)
    for y, each in enumerate(shares.values()):
        draw_stack(axes, y, [each.get(name, 0) for name in names])
    axes.set_yticks(range(len(shares)), shares)
    axes.set(xlim=(0, 1), ylim=(len(shares) - 0.5, -0.5), xlabel="share")
    written(axes.xaxis, "{:.0%}".format)
    for name, color in zip(names, HUES, strict=False):
        axes.barh(0, 0, color=color, label=name)
    figure.legend(frameon=False, labelcolor=INK, fontsize=9.5, ncols=len(names),
                  loc="outside lower center")  # fmt: skip
    spoken = "; ".join(
        f"{way}: " + ", ".join(f"{name} {of_a_hundred(share)}" for name, share in each.items())
        for way, each in shares.items()
    )
    return Picture(figure, f"{title} {spoken}.")


def whole(amounts):
    total = sum(amounts.values())
    return {name: amount / total for name, amount in amounts.items()}


def of_a_hundred(share):
    """A share in percent, with a digit more where it is all but everything, or nothing."""
    return f"{share:.1%}" if share > 0.985 or share < 0.015 else f"{share:.0%}"


def draw_stack(axes, y, shares):
    start = 0.0
    for share, color in zip(shares, HUES, strict=False):
        axes.barh(y, share, left=start, color=color, height=0.62)
        if share > 0.045:
            axes.text(start + share / 2, y, of_a_hundred(share), ha="center", va="center",
                      fontsize=9.5, color="white", fontweight="bold")  # fmt: skip
        start += share


def estimates(modelled: Mapping[str, Any], measured: Mapping[str, Any], *, title) -> Picture:
    """Seconds side by side on a log scale: modelled ones as thin lines, measured ones solid."""
    rows = [(name, time, False) for name, time in modelled.items()]
    rows += [(name, time, True) for name, time in measured.items()]
    figure, axes = blank(height=1.5 + 0.42 * len(rows), title=title)
    low, high = (choose(time for _, time, _ in rows) for choose in (min, max))
    for y, (_, time, live) in enumerate(rows):
        axes.barh(y, time - low / 3, left=low / 3, height=0.6, color=BLUE if live else "none",
                  edgecolor=BLUE if live else INK, linewidth=1)  # fmt: skip
        axes.text(time, y, f" {units.seconds(time)}", va="center", fontsize=9.5, color=INK)
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    axes.set(xlim=(low / 3, 4 * high), ylim=(len(rows) - 0.5, -0.5))
    log_axes(axes, x=("hollow: modelled, solid: measured here; time", units.seconds))
    spoken = "; ".join(f"{name}: {units.seconds(time)}" for name, time, _ in rows)
    return Picture(figure, f"{title} {spoken}.")
