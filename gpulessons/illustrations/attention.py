"""Pictures of attention: who attends to whom, and the memory, bytes and time that it takes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes
from gpulessons.plots.forms import dots, lines, listed, rectangle
from gpulessons.plots.picture import BLUE, COLORS, INK, VERMILLION, Picture, blank

from .transformer import HUES, of_a_hundred

MARKS = ("o", "s", "D", "^")
NUMBERED = 0.1  # smaller shares have a color and no number


# -- Who attends to whom.


def attending(words: Sequence[str], shares: np.ndarray) -> Picture:
    """Who attends to whom: shares (queries, keys), a row for each token that asks."""
    links = [(words[i], words[row.argmax()], row.max()) for i, row in enumerate(shares)]
    who, whom, most = max(links, key=lambda link: link[2])
    title = f"Each row adds up to 100 %. The strongest attention: “{who}” to “{whom}”, {most:.0%}."
    figure, axes = blank(width=6.2, height=4.9, title=title)
    wash(axes, shares)
    for (i, j), share in np.ndenumerate(shares):
        if share >= NUMBERED:
            axes.text(j, i, f"{100 * share:.0f}", ha="center", va="center", fontsize=9, color=INK)
    axes.set(xlim=(-0.5, len(words) - 0.5), ylim=(len(shares) - 0.5, -0.5), aspect="equal")
    axes.set_xticks(range(len(words)), words, rotation=45)
    axes.set_yticks(range(len(words)), words)
    axes.set(xlabel=f"key: is attended to, % (numbered from {NUMBERED:.0%} on)")
    axes.set(ylabel="query: attends")
    axes.tick_params(length=0)
    spoken = "; ".join(f"{a} to {b}: {share:.0%}" for a, b, share in links)
    return Picture(figure, f"{title} Each row's strongest: {spoken}.")


def wash(axes, shares):
    """A square for each share, the bluer the larger; either theme's ink stays legible on it."""
    for (i, j), share in np.ndenumerate(shares):
        rectangle(axes, j - 0.5, i - 0.5, 1, 1, facecolor=(BLUE, 0.6 * share), edgecolor="none")


# -- What it moves and holds.


def ladder(counted: Mapping[int, Any], name: str) -> Picture:
    """Bytes of global memory, counted: {tokens: {kernel: bytes}}.

    `name` does all in one launch; the other kernels belong together. Dots on a log scale.
    """
    rows = []
    for tokens, sums in counted.items():
        parts = {kernel: size for kernel, size in sums.items() if kernel != name}
        many, few = sum(parts.values()), sums[name]
        hollow = {"color": VERMILLION, "markerfacecolor": "none"}
        rows += [(f"{tokens} tokens: {kernel}", size, hollow) for kernel, size in parts.items()]
        rows += [(f"{tokens} tokens: all {len(parts)}", many, {"color": VERMILLION}),
                 (f"{tokens} tokens: {name}", few, {"color": BLUE, "marker": "D"})]
    *most, _ = sorted(parts, key=parts.get, reverse=True)  # of the longest: all but the smallest
    title = (
        f"{tokens} tokens, one head: separate kernels ask for {units.size(many)}, "
        f"{units.ratio(many / few)} the {units.size(few)} of the tiled launch; "
        f"{of_a_hundred(sum(map(parts.get, most)) / many)} of it for {' and '.join(most)}."
    )
    return dots(rows, "filled: a whole call, hollow: a part; bytes asked for", units.size,
                title=title, base=4)


def ahead(one: Any, other: Any) -> str:
    """Which of two versions is quicker, by their intervals, and by how much at least: a sentence.

    one, other: Timings or ModelledTimings, of the same op and size.
    """
    if "too noisy" in (one.noise, other.noise):
        return "Too noisy to say which is quicker."
    fast, slow = sorted((one, other), key=lambda t: t.quartiles[0])
    most = math.inf if getattr(fast, "at_least", False) else fast.quartiles[1]
    if most >= slow.quartiles[0]:
        return "The intervals overlap: open which is quicker."
    gain = slow.quartiles[0] / most
    return f"{fast.version} is ahead: its interval lies {units.ratio(gain)} below the other's."


def peaks(measured: Mapping[str, Any]) -> Picture:
    """The memory of a call against the length, both on log scales: {name: {tokens: bytes}}.

    The title says what the last doubling of the length does to each.
    """
    steps = [f"{doubling(sizes):.1f} times for {name}" for name, sizes in measured.items()]
    title = f"Twice the length, and memory grows: {', '.join(steps)}."
    figure, axes = blank(height=4.1, title=title)
    log_axes(axes, x=("tokens", units.count), y=("most memory at once", units.size),
             ticks=sorted(next(iter(measured.values()))), base=4)
    lines(axes, [(name, list(sizes), list(sizes.values()), {"color": color, "marker": mark})
                 for (name, sizes), color, mark in zip(measured.items(), HUES, MARKS, strict=False)
                 ])
    spoken = {name: ", ".join(f"{units.size(c)} at {units.count(n)}" for n, c in sizes.items())
              for name, sizes in measured.items()}
    return Picture(figure, f"{title} {listed(spoken)}.")


def doubling(costs):
    """What twice the length does to a cost, by its last two lengths: {length: cost}."""
    before, last = sorted(costs)[-2:]
    return (costs[last] / costs[before]) ** (math.log(2) / math.log(last / before))


def per_pair(comparison: Any) -> Picture:
    """Time ÷ length² against length: level lines are quadratic, falling ones are less.

    The title compares each version with itself, at its first and last length.
    """
    timed = {version: {t.size: t for t in comparison.timings if t.version == version}
             for version in comparison.versions}
    timed = {version: timings for version, timings in timed.items() if len(timings) > 1}
    lengths = sorted({size for timings in timed.values() for size in timings})
    before, last = lengths[-2:] or comparison.sizes[-2:]
    growth = {name: each[last].median / each[before].median for name, each in timed.items()
              if {before, last} <= set(each)
              and "too noisy" not in (each[last].noise, each[before].noise)}
    title = f"{last / before:g} times the tokens ({before:,} to {last:,}) take "
    if growth:
        least, most = (f"{choose(growth.values()):.3g}" for choose in (min, max))
        title += f"{least if least == most else f'{least} to {most}'} times as long."
    else:
        title += "a time that could not be compared here."
    figure, axes = blank(height=4.1, title=title)
    log_axes(axes, x=(comparison.unit, units.count),
             y=("time for each pair of tokens", units.seconds),
             ticks=lengths)
    lines(axes, [
        (name, list(each), [t.median / t.size**2 for t in each.values()],
         {"color": COLORS[each[next(iter(each))].backend], "marker": mark})
        for (name, each), mark in zip(timed.items(), MARKS, strict=False)
    ])
    grew = {name: f"{growth[name]:.3g} times" if name in growth else "not comparable"
            for name in timed}
    return Picture(figure, f"{title} {listed(grew)}. {comparison.label()}.")
