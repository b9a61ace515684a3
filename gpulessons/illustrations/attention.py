"""Pictures of attention: who attends to whom, and the memory, bytes and time that it takes."""

import math

import numpy as np

from gpulessons import units
from gpulessons.plots.forms import LOOKS, dots, log_lines, percent, rectangle, write
from gpulessons.plots.picture import BLUE, GREEN, INK, VERMILLION, Picture, blank

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


def tiling(rows, modelled=(), gpu: str = "") -> Picture:
    """Time of separate kernels over one fused kernel's, against the tokens: published, a line for
    each card; beside them [(tokens, low, middle, high)], modelled for a GPU. The title says between
    what each card's lie, and from where on it has no room for the separate kernels' scores."""
    cards: dict = {}
    for row in rows:
        times = cards.setdefault(row.device, {}).setdefault(row.sizes["queries"], {})
        times["fused" in row.what] = row.value
    named, told = [], []
    for (card, times), look in zip(cards.items(), LOOKS, strict=False):
        gains = {n: each[False] / each[True] for n, each in sorted(times.items()) if len(each) == 2}
        named.append((f"{card} (published)", [*gains], [*gains.values()],
                      {**look, "markerfacecolor": "none"}))
        low, high = (units.ratio(choose(gains.values())) for choose in (min, max))
        full = min({*times} - {*gains}, default=0)
        told.append(f"{low} to {high} as long on {card}"
                    + f" (no room from {full:,} tokens on)" * bool(full))
    sources = "; ".join(dict.fromkeys(row.citation for row in rows))
    title = f"Separate kernels take {', '.join(told)}. Published: {sources}."
    ticks, spoken = [*named[0][1]], []
    if modelled:
        at, lows, middles, highs = zip(*modelled, strict=True)
        named.append((f"this page's, {gpu} (modelled)", at, middles,
                      {"color": GREEN, "linestyle": "none", "marker": "D"}))
        spoken = [f"{units.ratio(middle)} ({low:.2g} to {high:.2g}) at {n:,}"
                  for n, low, middle, high in zip(at, lows, middles, highs, strict=True)]
    picture = log_lines(
        named, ("tokens", units.count), ("their time over one kernel's", units.ratio), ticks=ticks,
        title=title, base=2,
        spoken=f"This page's, modelled for {gpu}: {', '.join(spoken)}." if modelled else "")
    picture.axes.axhline(1, color=INK, linewidth=1)
    for tokens, low, _, high in modelled:
        picture.axes.fill_between([0.93 * tokens, 1.07 * tokens], low, high, facecolor="none",
                                  edgecolor=GREEN, hatch="////")
    return picture


def shares_of_peak(rows, peaks) -> Picture:
    """What each published kernel reaches of its card's peak, {card: FLOP/s}. The title says how
    far a card's plainest and its best come."""
    named, told = [], []
    for (card, peak), look in zip(peaks.items(), LOOKS, strict=False):
        shares = sorted((row.value / peak, row.what) for row in rows if row.device == card)
        (least, plain), (most, best) = shares[0], shares[-1]
        told.append(f"{percent(least)} ({plain}) to {percent(most)} ({best}) on {card}")
        hollow = {"color": look["color"], "marker": look["marker"], "markerfacecolor": "none"}
        named += [(f"{card}: {what}", share, hollow) for share, what in shares]
    sources = "\n".join(dict.fromkeys(row.citation for row in rows))
    return dots(named, f"share of the peak of 16-bit products, published:\n{sources}", percent,
                title=f"Tiled attention, as a share of the peak: {'; '.join(told)}.")


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
