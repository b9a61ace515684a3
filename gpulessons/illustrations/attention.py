"""Pictures of attention: who attends to whom, and the memory, bytes and time that it takes."""

import math

import numpy as np

from gpulessons import units
from gpulessons.plots.forms import LOOKS, dots, listed, log_lines, percent, rectangle, write
from gpulessons.plots.picture import BLUE, COLORS, VERMILLION, Picture, blank

NUMBERED = 0.1  # smaller shares have a color and no number


def attending(words, shares: np.ndarray) -> Picture:
    """Who attends to whom: shares (queries, keys), a row for each token that asks."""
    links = [(words[i], words[row.argmax()], row.max()) for i, row in enumerate(shares)]
    who, whom, most = max(links, key=lambda link: link[2])
    title = f"Each row adds up to 100 %. The strongest attention: “{who}” to “{whom}”, {most:.0%}."
    figure, axes = blank(width=6.2, height=4.9, title=title)
    for (i, j), share in np.ndenumerate(shares):  # either theme's ink stays legible on this blue
        rectangle(axes, j - 0.5, i - 0.5, 1, 1, facecolor=(BLUE, 0.6 * share), edgecolor="none")
        if share >= NUMBERED:
            write(axes, j, i, f"{100 * share:.0f}", fontsize=9)
    axes.set(xlim=(-0.5, len(words) - 0.5), ylim=(len(shares) - 0.5, -0.5), aspect="equal")
    axes.set_xticks(range(len(words)), words, rotation=45)
    axes.set_yticks(range(len(words)), words)
    axes.set(xlabel=f"key: is attended to, % (numbered from {NUMBERED:.0%} on)")
    axes.set(ylabel="query: attends")
    axes.tick_params(length=0)
    spoken = "; ".join(f"{a} to {b}: {share:.0%}" for a, b, share in links)
    return Picture(figure, f"{title} Each row's strongest: {spoken}.")


def ladder(counted, name: str) -> Picture:
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
    title = (f"{tokens} tokens, one head: separate kernels ask for {units.size(many)}, "
             f"{units.ratio(many / few)} the {units.size(few)} of the tiled launch; "
             f"{percent(sum(map(parts.get, most)) / many)} of it for {' and '.join(most)}.")
    return dots(rows, "filled: a whole call, hollow: a part; bytes asked for", units.size,
                title=title, base=4)


def ahead(one, other) -> str:
    """Which of two (modelled) timings of one op and size is quicker, by their intervals, and by
    how much at least: a sentence."""
    if "too noisy" in (one.noise, other.noise):
        return "Too noisy to say which is quicker."
    fast, slow = sorted((one, other), key=lambda t: t.quartiles[0])
    most = math.inf if getattr(fast, "at_least", False) else fast.quartiles[1]
    if most >= slow.quartiles[0]:
        return "The intervals overlap: open which is quicker."
    gain = slow.quartiles[0] / most
    return f"{fast.version} is ahead: its interval lies {units.ratio(gain)} below the other's."


def peaks(measured) -> Picture:
    """The memory of a call against the length, both on log scales: {name: {tokens: bytes}}.

    The title says what the last doubling of the length does to each.
    """
    steps = []
    for name, sizes in measured.items():
        before, last = sorted(sizes)[-2:]
        power = math.log(sizes[last] / sizes[before], last / before)
        steps.append(f"{2**power:.1f} times for {name}")
    title = f"Twice the length, and memory grows: {', '.join(steps)}."
    named = [(name, list(sizes), list(sizes.values()), {**look, "linestyle": "-"})
             for (name, sizes), look in zip(measured.items(), LOOKS, strict=False)]
    return log_lines(named, ("tokens", units.count), ("most memory at once", units.size),
                     title=title, ticks=sorted(named[0][1]), base=4)


def per_pair(comparison) -> Picture:
    """Time ÷ length² against length: level lines are quadratic, falling ones are less.

    The title compares each version with itself, at its last two lengths.
    """
    timed = {version: {t.size: t for t in comparison.timings if t.version == version}
             for version in comparison.versions}
    timed = {version: timings for version, timings in timed.items() if len(timings) > 1}
    lengths = sorted({size for timings in timed.values() for size in timings})
    before, last = lengths[-2:] or comparison.sizes[-2:]
    growth = {name: each[last].median / each[before].median for name, each in timed.items()
              if {before, last} <= set(each)
              and "too noisy" not in (each[last].noise, each[before].noise)}
    took = "a time that could not be compared here"
    if growth:
        least, most = (f"{choose(growth.values()):.3g}" for choose in (min, max))
        took = f"{least if least == most else f'{least} to {most}'} times as long"
    title = f"{last / before:g} times the tokens ({before:,} to {last:,}) take {took}."
    named = [(name, list(each), [t.median / t.size**2 for t in each.values()],
              {"color": COLORS[next(iter(each.values())).backend], "marker": look["marker"]})
             for (name, each), look in zip(timed.items(), LOOKS, strict=False)]
    grew = {f"{name} grows": f"{times:.3g} times" for name, times in growth.items()}
    return log_lines(named, (comparison.unit, units.count),
                     ("time for each pair of tokens", units.seconds), ticks=lengths,
                     title=title, spoken=f"{listed(grew) or 'No growth is sure'}. "
                     f"{comparison.label()}.")
