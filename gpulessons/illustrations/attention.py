"""Pictures of attention: who attends to whom, and the memory, bytes and time that it takes."""

import math

import numpy as np

from gpulessons import units
from gpulessons.plots.forms import LOOKS, dots, log_lines, rectangle, write
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


def ladder(tokens: int, counted: dict[str, float], name: str) -> Picture:
    """Bytes of global memory that kernels ask for, counted: {kernel: bytes}.

    `name` does all in one launch; the other kernels belong together. Dots on a log scale.
    """
    parts = {kernel: size for kernel, size in counted.items() if kernel != name}
    many, few = sum(parts.values()), counted[name]
    hollow = {"color": VERMILLION, "markerfacecolor": "none"}
    rows = [(kernel, size, hollow) for kernel, size in parts.items()]
    rows += [(f"all {len(parts)}", many, {"color": VERMILLION}),
             (name, few, {"color": BLUE, "marker": "D"})]
    title = (f"{tokens} tokens, one head: separate kernels ask for {units.size(many)}, "
             f"{units.ratio(many / few)} the {units.size(few)} of the tiled launch.")
    return dots(rows, "filled: a whole call, hollow: a part; bytes asked for", units.size,
                title=title, base=4)


def tiling(rows) -> Picture:
    """Published time of separate kernels over one fused kernel's, against the tokens, a line for
    each card and its numbers. The title says between what each line lies, and from where on there
    is no room for the scores."""
    cards: dict = {}
    for row in rows:
        times = cards.setdefault(f"{row.dtype} on {row.device}", {})
        times.setdefault(row.sizes["queries"], {})["fused" in row.what] = row.value
    named, told = [], []
    for (card, times), look in zip(cards.items(), LOOKS, strict=False):
        gains = {n: each[False] / each[True] for n, each in sorted(times.items()) if len(each) == 2}
        named.append((f"{card} (published)", [*gains], [*gains.values()],
                      {**look, "markerfacecolor": "none"}))
        low, high = (units.ratio(choose(gains.values())) for choose in (min, max))
        full = min({*times} - {*gains}, default=0)
        told.append(f"{low} to {high} as long in {card}"
                    + f" (no room from {full:,} tokens on)" * bool(full))
    sources = "\n".join(dict.fromkeys(row.citation for row in rows))
    title = f"Separate kernels take {', '.join(told)}."
    picture = log_lines(
        named, (f"published:\n{sources}\ntokens", units.count),
        ("their time over one kernel's", units.ratio),
        ticks=sorted({n for _, at, *_ in named for n in at}), title=title, base=2)
    picture.axes.axhline(1, color=INK, linewidth=1)
    return picture


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
