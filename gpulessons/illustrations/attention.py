"""Pictures of attention: who attends to whom, and the memory, bytes and time that it takes."""

import math

import numpy as np

from gpulessons import units
from gpulessons.plots.forms import LOOKS, log_lines, rectangle, stacked, write
from gpulessons.plots.picture import BLUE, DASH_DOT, GREEN, INK, PURPLE, SKY, Picture, blank

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


def pair(row) -> float:
    """Published seconds for a query and a key of one head."""
    size = row.sizes
    if row.unit == "TFLOP/s":
        return 4 * size["depth"] / row.value
    return row.value / math.prod(size[name] for name in ("batch", "heads", "queries", "keys"))


def tiling(rows, own=None) -> Picture:
    """Published time of separate kernels over one kernel's in the same source, against the tokens.
    own: {tokens: (ours in three kernels, in one)}, modelled; hatched: if both err, and oppositely.
    The title says between what they lie, and where there is no room for the scores."""
    apart = {(row.source.name, *row.sizes.values()): pair(row)
             for row in rows if "separate" in row.what}
    lines: dict = {}
    for row in (row for row in rows if "fused" in row.what):
        name = f"{row.what.partition(',')[0]}, heads of {row.sizes['depth']}, {row.device}"
        without = apart.get((row.source.name, *row.sizes.values()), math.inf)
        lines.setdefault(name, {})[row.sizes["queries"]] = without / pair(row)
    named = [(name, *zip(*((n, gain) for n, gain in times.items() if gain < math.inf), strict=True),
              {**look, "markerfacecolor": "none"})
             for (name, times), look in zip(lines.items(), LOOKS, strict=False)]
    gained = [gain for _, _, gains, _ in named for gain in gains]
    full = sorted({n for times in lines.values() for n, gain in times.items() if gain == math.inf})
    title = (f"Published: one kernel is {units.ratio(min(gained))} to {units.ratio(max(gained))} "
             "as fast as separate ones")
    room = " or ".join(f"{n:,}" for n in full)
    title += f", which run out of memory at {room} tokens" * bool(full)
    ends = ()
    if own:
        gains, *ends = zip(*((many.seconds / one.seconds, many.low / one.high, many.high / one.low)
                             for many, one in own.values()), strict=True)
        named.append(("ours, float32, modelled", [*own], gains, {
            **LOOKS[1], "markerfacecolor": "none", "linestyle": DASH_DOT, "linewidth": 1}))
        title = (f"Ours, modelled: {units.ratio(min(gains))} to {units.ratio(max(gains))} (hatched:"
                 f" {units.ratio(min(ends[0]))} to {units.ratio(max(ends[1]))}). {title}")
    picture = log_lines(
        named, ("tokens", units.count), ("their time over one kernel's", units.ratio), base=2,
        ticks=sorted({n for _, at, *_ in named for n in at}), title=f"{title}.", hatched=ends)
    picture.axes.axhline(1, color=INK, linewidth=1)
    return picture


def binding(rows, least) -> Picture:
    """What a pair takes, published, and what it needs of that: {head size: {part: seconds}}.
    In separate kernels the trips of its score; in one kernel all other parts, in turn."""
    stacks, beyond, told = {}, {}, {}
    whole = math.ceil(1e12 * max(map(pair, rows)))
    for row in sorted(rows, key=lambda row: (row.sizes["depth"], -pair(row))):
        name, taken = row.what.partition(", one")[0].removeprefix("PyTorch, "), 1e12 * pair(row)
        parts = {part: 1e12 * seconds for part, seconds in least[row.sizes["depth"]].items()
                 if (part == "trips") == ("separate" in name)}
        told.setdefault(name, f"{' and '.join(parts)} are {sum(parts.values()) / taken:.0%} "
                              f"of the time of {name}")
        parts["the rest"] = max(0, taken - sum(parts.values()))
        name += f", heads of {row.sizes['depth']}"
        stacks[name] = {part: each / whole for part, each in parts.items()}
        beyond[name] = f"{taken:.2f} ps"
    picture = stacked(
        stacks, {"trips": PURPLE, "products": SKY, "exps": GREEN},
        lambda share: f"{whole * share:.2f}", what="ps a pair", beyond=beyond,
        title=f"{rows[0].device}, heads of {min(least)}: {'; '.join(told.values())}.")
    picture.axes.set_xticks([n / whole for n in range(whole + 1)], range(whole + 1))
    return picture


def peaks(measured) -> Picture:
    """The memory of a call against the length, both on log scales: {name: {tokens: bytes}}.
    The title says what the last doubling of the length does to each."""
    before, last = sorted(next(iter(measured.values())))[-2:]
    steps = [f"{2 ** math.log(sizes[last] / sizes[before], last / before):.1f} times for {name}"
             for name, sizes in measured.items()]
    title = f"Twice the length, and memory grows: {', '.join(steps)}."
    named = [(name, list(sizes), list(sizes.values()), {**look, "linestyle": "-"})
             for (name, sizes), look in zip(measured.items(), LOOKS, strict=False)]
    return log_lines(named, ("tokens", units.count), ("most memory at once", units.size),
                     title=title, ticks=sorted(named[0][1]), base=4)
