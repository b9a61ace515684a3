"""Pictures of attention: who attends to whom, and the memory, bytes and time that it takes."""

import math

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes
from gpulessons.plots.forms import (
    LOOKS,
    beside,
    listed,
    log_lines,
    name_rows,
    rectangle,
    write,
)
from gpulessons.plots.picture import BLUE, INK, VERMILLION, Picture, blank

NUMBERED = 0.1  # smaller shares have a color and no number


def attending(words, shares: np.ndarray) -> Picture:
    """Who attends to whom: shares (queries, keys), a row for each token that asks."""
    links = [(words[i], words[row.argmax()], row.max()) for i, row in enumerate(shares)]
    who, whom, most = max(links, key=lambda link: link[2])
    title = f"Each token shares out 100 %: “{who}” gives {most:.0%} to “{whom}”."
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


def tiling(rows) -> Picture:
    """Published time of separate kernels over one fused kernel's, against the tokens, a line for
    each author and type. The title says between what they lie, and where there is no room for the
    scores."""
    lines: dict = {}
    for row in rows:
        author = row.citation.rpartition("(")[2].rstrip(")")
        times = lines.setdefault(f"{row.dtype} ({author})", {})
        times.setdefault(row.sizes["queries"], {})["fused" in row.what] = row.value
    named, gained, full = [], [], []
    for (line, times), look in zip(lines.items(), LOOKS, strict=False):
        gains = {n: each[False] / each[True] for n, each in sorted(times.items()) if len(each) == 2}
        named.append((line, [*gains], [*gains.values()], {**look, "markerfacecolor": "none"}))
        gained += gains.values()
        full += [min({*times} - {*gains})] if len(gains) < len(times) else []
    title = (f"Published, {rows[0].device}: separate kernels take {units.ratio(min(gained))} to "
             f"{units.ratio(max(gained))} as long as one")
    room = " or ".join(f"{n:,}" for n in sorted({*full}))
    title += f", and find no room at {room} tokens." if full else "."
    picture = log_lines(
        named, ("tokens", units.count), ("their time over one kernel's", units.ratio),
        ticks=sorted({n for _, at, *_ in named for n in at}), title=title, base=2)
    picture.axes.axhline(1, color=INK, linewidth=1)
    return picture


def binding(rows) -> Picture:
    """What a pair of a query and a key takes, beside the least that it needs: rows of (name,
    seconds at least, seconds taken, are they modelled?). Separate kernels and one alternate."""
    far = [taken / least for _, least, taken, _ in rows]
    between = [" to ".join(units.ratio(choose(far[n::2])) for choose in (min, max)) for n in (0, 1)]
    title = f"Separate kernels take {between[0]} their bound, one kernel {between[1]} its own."
    figure, axes = blank(height=1.2 + 0.4 * len(rows), title=title)
    words = {}
    for y, (name, least, taken, modelled) in enumerate(rows):
        look = {"color": BLUE, "marker": "D"} if y % 2 else {"color": VERMILLION, "marker": "o"}
        axes.plot([least, taken], [y, y], color=look["color"], linewidth=1)
        axes.plot(least, y, color=INK, marker="|", markersize=14)
        axes.plot(taken, y, **look, markerfacecolor="none")
        words[name] = f"{1e12 * taken:.3g}" + ", modelled" * modelled
        beside(axes, words[name], taken, y)
    name_rows(axes, words)
    axes.set_xlim(min(least for _, least, *_ in rows) / 2, 8 * max(row[2] for row in rows))
    log_axes(axes, x=("ps a pair, published or modelled; the stroke: its bound",
                      lambda seconds: f"{1e12 * seconds:.3g}"))
    return Picture(figure, f"{title} {listed(words)}.")


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
