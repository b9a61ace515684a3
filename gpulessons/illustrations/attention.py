"""Pictures of attention: who attends to whom, the online softmax, the memory and the bytes that it
takes, a layer and where its time goes, and what writing a token costs.

As in plots, every title is computed, and every picture says its message in words too.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.film import Film
from gpulessons.plots.picture import (
    BLUE,
    COLORS,
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
    from matplotlib.collections import PatchCollection
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Rectangle

    squares = [Rectangle((j - 0.5, i - 0.5), 1, 1) for i, j in np.ndindex(shares.shape)]
    colors = [to_rgba(BLUE, 0.6 * share) for share in shares.flat]
    axes.add_collection(PatchCollection(squares, facecolors=colors, linewidths=0))


# -- The online softmax, a tile at a time.


@dataclass(frozen=True)
class Taken:
    """Where the sweep stands when one more tile was taken in."""

    stop: int  # scores taken in so far
    before: float  # the largest score before this tile, -inf at the first
    row_max: float
    rescale: float  # what the old sum was multiplied by; 0 at the first
    old: float  # the sum before this tile, before it was rescaled
    total: float


def taken_in(scores: Sequence[float], tile: int) -> list[Taken]:
    """The states of an online softmax that takes in `tile` scores at a time."""
    states, row_max, total = [], -math.inf, 0.0
    for start in range(0, len(scores), tile):
        new = scores[start : start + tile]
        before, old = row_max, total
        row_max = max(row_max, *new)
        rescale = math.exp(before - row_max)
        total = old * rescale + sum(math.exp(score - row_max) for score in new)
        states.append(Taken(start + len(new), before, row_max, rescale, old, total))
    return states


class Sweep(Film):
    """A row of scores taken in tile by tile: the running maximum, and the sum that it rescales."""

    def __init__(self, scores: Sequence[float], tile: int = 4):
        self.scores, self.tile = [float(score) for score in scores], tile
        self.states = taken_in(self.scores, tile)

    def __len__(self):
        return len(self.states)

    def told(self, number):
        now = self.states[number]
        place = f"Tile {number + 1} of {len(self)}"
        if not number:
            return f"{place}: the largest score is {now.row_max:g}, the sum {now.total:.3f}"
        if now.row_max == now.before:
            return f"{place}: {now.row_max:g} stays the largest; the sum grows to {now.total:.3f}"
        return (f"{place}: the largest grows from {now.before:g} to {now.row_max:g}, so the sum so "
                f"far is rescaled: {now.old:.3f} × {now.rescale:.2g}. Now it is "
                f"{now.total:.3f}")  # fmt: skip

    def figure(self, number: int) -> Picture:
        """The scores with the largest so far, over what each adds to the sum."""
        title = f"{self.told(number)}."
        figure, (above, below) = blank(height=4.2, title=title, nrows=2, sharex=True)
        self.draw(above, below, number)
        above.set_ylabel("score")
        below.set_ylabel("exp(score − largest)")
        below.set_xlabel("key; outlined: before it was rescaled")
        return Picture(figure, title)

    def multiples(self) -> Picture:
        """Every tile, side by side."""
        rescaled = sum(now.rescale < 1 for now in self.states[1:])
        often = "once" if rescaled == 1 else f"{rescaled} times"
        title = (
            f"{len(self.scores)} scores in {len(self)} tiles: the sum was rescaled "
            f"{often}, and ends at {self.states[-1].total:.3f}."
        )
        figure, panels = blank(width=7.8, height=3.9, title=title, nrows=2, ncols=len(self),
                               sharex=True, sharey="row", squeeze=False)  # fmt: skip
        for number, (above, below) in enumerate(panels.T):
            self.draw(above, below, number)
            above.set_title(f"tile {number + 1}: sum {self.states[number].total:.2f}",
                            color=INK, fontsize=10)  # fmt: skip
        panels[0, 0].set_ylabel("score")
        panels[1, 0].set_ylabel("exp(score − largest)")
        figure.supxlabel("key; outlined: before it was rescaled", color=INK, fontsize=10)
        told = ". ".join(map(self.told, range(len(self))))
        return Picture(figure, f"{title} {told}.")

    def draw(self, above, below, number):
        now, start = self.states[number], number * self.tile
        keys = range(len(self.scores))
        for axes in (above, below):
            axes.axvspan(start - 0.5, now.stop - 0.5, color=ORANGE, alpha=0.25, linewidth=0)
        above.plot(keys[: now.stop], self.scores[: now.stop], "o", color=BLUE, markersize=5)
        above.plot(keys[now.stop :], self.scores[now.stop :], "o", color="none",
                   markeredgecolor=INK, markersize=5)  # fmt: skip
        above.plot((-0.5, now.stop - 0.5), (now.row_max, now.row_max), "--", color=VERMILLION)
        for key in keys[: now.stop]:
            below.bar(key, math.exp(self.scores[key] - now.row_max), color=BLUE)
            if key < start and now.rescale < 1:
                below.bar(key, math.exp(self.scores[key] - now.before), color="none",
                          edgecolor=INK, linewidth=1)  # fmt: skip
        below.set(ylim=(0, 1.05), xlim=(-0.7, len(self.scores) - 0.3))

    def __repr__(self):
        return f"an online softmax of {len(self.scores)} scores, {len(self)} tiles"


# -- What it moves and holds.


def ladder(counted: Mapping[int, Any], name: str) -> Picture:
    """Bytes of global memory, counted: {tokens: {kernel: bytes}}.

    `name` does all in one launch; the other kernels belong together. Dots on a log scale.
    """
    rows, totals = [], {}
    for tokens, sums in counted.items():
        parts = [(kernel, size) for kernel, size in sums.items() if kernel != name]
        together = sum(size for _, size in parts)
        totals[tokens] = together, sums[name]
        *most, _ = sorted(parts, key=lambda part: part[1], reverse=True)
        rows += [(f"{tokens} tokens: {kernel}", size, False) for kernel, size in parts]
        rows += [(f"{tokens} tokens: all {len(parts)}", together, True)]
        rows += [(f"{tokens} tokens: {name}", sums[name], True)]
    tokens = max(totals)
    many, few = totals[tokens]
    most = dict(most)  # of the longest text: all parts but the smallest
    title = (
        f"{tokens} tokens, one head: separate kernels ask for {units.size(many)}, "
        f"{units.ratio(many / few)} the {units.size(few)} of the tiled launch; "
        f"{of_a_hundred(sum(most.values()) / many)} of it for {' and '.join(most)}."
    )
    figure, axes = blank(width=7.6, height=1.5 + 0.3 * len(rows), title=title)
    for y, (row, size, whole) in enumerate(rows):
        color = BLUE if name in row else VERMILLION
        axes.plot(size, y, "D" if name in row else "o", markersize=8 if whole else 6,
                  color=color if whole else "none", markeredgecolor=color)  # fmt: skip
        axes.annotate(units.size(size), (size, y), (9, 0), textcoords="offset points",
                      va="center", fontsize=10, color=INK)  # fmt: skip
    axes.set_yticks(range(len(rows)), [row for row, *_ in rows])
    sizes = [size for _, size, _ in rows]
    axes.set(ylim=(len(rows) - 0.5, -0.5), xlim=(min(sizes) / 2, 4 * max(sizes)))
    log_axes(axes, x=("filled: a whole call, hollow: a part; bytes asked for", units.size),
             base=4)  # fmt: skip
    spoken = "; ".join(f"{row}: {units.size(size)}" for row, size, _ in rows)
    return Picture(figure, f"{title} {spoken}.")


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


def per_pair(comparison: Any) -> Picture:
    """Time ÷ length² against length: level lines are quadratic, falling ones are less.

    The title compares each version with itself, at its first and last length.
    """
    lines = {version: {t.size: t for t in comparison.timings if t.version == version}
             for version in comparison.versions}  # fmt: skip
    lines = {version: timings for version, timings in lines.items() if len(timings) > 1}
    lengths = sorted({size for timings in lines.values() for size in timings})
    before, last = lengths[-2:]
    growth = {name: each[last].median / each[before].median for name, each in lines.items()
              if {before, last} <= set(each)
              and "too noisy" not in (each[last].noise, each[before].noise)}  # fmt: skip
    title = f"{last / before:g} times the tokens ({before:,} to {last:,}) take "
    if growth:
        least, most = (f"{choose(growth.values()):.3g}" for choose in (min, max))
        title += f"{least if least == most else f'{least} to {most}'} times as long."
    else:
        title += "a time that was too noisy here to compare."
    figure, axes = blank(height=4.1, title=title)
    log_axes(axes, x=(comparison.unit, units.count),
             y=("time for each pair of tokens", units.seconds),
             ticks=lengths)  # fmt: skip
    ends = []
    for (name, timings), mark in zip(lines.items(), MARKS, strict=False):
        each = list(timings.values())
        color, marks = COLORS[each[0].backend], {"marker": mark, "markersize": 5}
        places = list(timings), [t.median / t.size**2 for t in each]
        axes.plot(*places, color=color, **marks)
        ends.append((places[0][-1], places[1][-1], name, color))
    label_ends(axes, ends)
    told = {
        name: f"{growth[name]:.3g} times" if name in growth else "not comparable" for name in lines
    }
    spoken = "; ".join(f"{name}: {words}" for name, words in told.items())
    return Picture(figure, f"{title} {spoken}. {comparison.label()}.")


# -- A layer.


def layer_flops(tokens, length, hidden=768, heads=12, inner=3072):
    """Operations of each part of an encoder layer, `tokens` in texts of `length`: {part: count}."""
    square, scores = 2 * tokens * hidden * hidden, 2 * tokens * length * hidden
    return {
        "q, k, v": 3 * square, "scores": scores, "softmax": 5 * heads * tokens * length,
        "mixture": scores, "out": square, "layer norm": 7 * tokens * hidden,
        "up": 2 * tokens * hidden * inner, "bias + GELU": 10 * tokens * inner,
        "down": 2 * tokens * hidden * inner,
    }  # fmt: skip


PRODUCTS = "q, k, v", "scores", "mixture", "out", "up", "down"


def encoder(length: int = 128, hidden: int = 768, heads: int = 12, inner: int = 3072) -> Picture:
    """One encoder layer, left to right: its products, what stands between them, shapes and shares.

    Made for a slider: live(encoder, length=[128, 512, 2048]).
    """
    work = layer_flops(length, length, hidden, heads, inner)
    work["layer norm"] *= 2
    whole = (
        sum(work.values()) + 8 * length * hidden
    )  # biases, sums, a scale: as the notebook has it
    products = sum(work[name] for name in PRODUCTS) / whole
    quadratic = (work["scores"] + work["mixture"]) / whole
    title = (
        f"{length:,} tokens: products are {products:.1%} of a layer's operations; the two that "
        f"grow with the square of the length, {of_a_hundred(quadratic)}."
    )
    figure, axes = blank(width=8.2, height=3.9, title=title)
    axes.set(xlim=(-0.75, 6.7), ylim=(-1.65, 2.4))
    axes.set_axis_off()
    wide, high = f"{length:,} × {hidden}", f"{length:,} × {inner:,}"
    square = f"{heads} × {length:,}\n× {length:,}"
    three = f"3 × {length:,}\n× {hidden}"
    upper = [("x", wide), ("q, k, v", three), ("scores", square), ("softmax", square),
             ("mixture", wide), ("out", wide), ("+ x, layer norm", f"x′: {wide}")]  # fmt: skip
    lower = [("up", high), ("bias + GELU", high), ("down", wide), ("+ x′, layer norm", wide)]
    for y, row, first in ((1.9, upper, 0), (-0.3, lower, 1)):
        for place, (name, shape) in enumerate(row, start=first):
            share = work.get(name)
            told = "" if share is None else f"\n{of_a_hundred(share / whole)}"
            part(axes, place, y, name, f"{shape}{told}", VERMILLION if name in PRODUCTS else BLUE)
            if place > first:
                arrow(axes, (place - 0.56, y), (place - 0.44, y))
    for path in (((6, 1.15), (6, 0.45), (0.2, 0.45), (0.2, -0.3), (0.5, -0.3)),):
        axes.plot(*zip(*path, strict=True), color=INK, linewidth=1.1)
    arrow(axes, (0.5, -0.3), (0.56, -0.3))
    axes.text(-0.7, -1.6, "orange: a product, blue: all else; below each: its result's shape, its "
              "share of the operations", color=INK, fontsize=10, va="bottom")  # fmt: skip
    spoken = ", ".join(f"{name} {of_a_hundred(size / whole)}" for name, size in work.items())
    return Picture(figure, f"{title} In order: {spoken}.")


def part(axes, x, y, name, below, color):
    """A box with its name, and what is said of it beneath."""
    from matplotlib.patches import FancyBboxPatch

    axes.add_patch(FancyBboxPatch(
        (x - 0.42, y - 0.33), 0.84, 0.66, boxstyle="round,pad=0,rounding_size=0.08",
        facecolor="none", edgecolor=color, linewidth=1.6,
    ))  # fmt: skip
    axes.text(x, y, name.replace(", l", ",\nl").replace(" + ", "\n+ "), ha="center", va="center",
              color=INK, fontsize=10)  # fmt: skip
    axes.text(x, y - 0.4, below, ha="center", va="top", color=INK, fontsize=9, linespacing=1.3)


def arrow(axes, start, end):
    look = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.1, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=look)


# -- Writing, a token at a time.


def token_bytes(batch: int, behind: int, kv_heads: int = 12, *, layers=12, hidden=768, heads=12,
                inner=3072) -> dict[str, float]:  # fmt: skip
    """Bytes that must come for each token that a network writes: {what: bytes}, float32.

    The weights come once for the whole batch. Of keys and values each text has its own: `behind`
    tokens of `kv_heads` heads in every layer.
    """
    cached = kv_heads * (hidden // heads)  # numbers of a key, and of a value
    weights = layers * (2 * hidden * hidden + 2 * hidden * cached + 2 * hidden * inner)
    return {"weights": 4 * weights / batch, "keys and values": 4 * layers * 2 * behind * cached}


def generation(batch: int, behind: int, kv_heads: int = 12) -> Picture:
    """Bytes for each generated token against the batch: weights are shared, keys and values not.

    Made for sliders: live(generation, batch=slider(…), behind=slider(…), kv_heads=[12, 4, 1]).
    """
    now = token_bytes(batch, behind, kv_heads)
    whole = sum(now.values())
    heads = f"{kv_heads} head{'s' * (kv_heads > 1)} of keys and values"
    title = (
        f"{heads}, {behind:,} tokens behind, a batch of {batch}: {units.size(whole)} for each "
        f"token, {of_a_hundred(now['keys and values'] / whole)} of them keys and values."
    )
    figure, axes = blank(height=4.1, title=title)
    log_axes(axes, x=("texts in the batch", units.count),
             y=("bytes for each token", units.size), base=2)  # fmt: skip
    batches = [2**power for power in range(10)]
    axes.set_xticks(batches, map(units.count, batches))
    lines = [token_bytes(each, behind, kv_heads) for each in batches]
    ends = []
    for name, color, dashes in (("weights", VERMILLION, "--"), ("keys and values", BLUE, ":")):
        sizes = [line[name] for line in lines]
        axes.plot(batches, sizes, dashes, color=color, linewidth=1.6)
        ends.append((batches[-1], sizes[-1], name, color))
    sums = [sum(line.values()) for line in lines]
    axes.plot(batches, sums, color=INK, linewidth=1.2)
    ends.append((batches[-1], sums[-1], "together", INK))
    axes.plot(batch, whole, "o", color="none", markeredgecolor=INK, markersize=9)
    label_ends(axes, ends)
    spoken = ", ".join(f"{units.size(size)} of {name}" for name, size in now.items())
    return Picture(figure, f"{title} Counted: {spoken}. Weights fall as 1 / batch; keys and values "
                           "stay, as each text has its own.")  # fmt: skip


# -- Where a layer's time goes.


def parts(stacks: Mapping[str, Any], *, title="") -> Picture:
    """What a whole consists of, one bar for each way of counting: {way: {part: amount}}.

    The first part is the one the title speaks of. Parts too thin for a name get none.
    """
    shares = {way: whole(amounts) for way, amounts in stacks.items()}
    first = next(iter(next(iter(shares.values()))))
    said = [f"{of_a_hundred(each[first])} of the {way}" for way, each in shares.items()]
    title = title or f"{first.capitalize()}: {'; '.join(said)}."
    names = list(next(iter(shares.values())))
    figure, axes = blank(width=7.6, height=1.75 + 0.58 * len(shares), title=title)
    for y, each in enumerate(shares.values()):
        draw_stack(axes, y, [each.get(name, 0) for name in names])
    axes.set_yticks(range(len(shares)), shares)
    axes.set(xlim=(0, 1), ylim=(len(shares) - 0.6, -0.6), xlabel="share")
    written(axes.xaxis, "{:.0%}".format)
    for name, color in zip(names, HUES, strict=False):
        axes.barh(0, 0, color=color, label=name)
    figure.legend(frameon=False, labelcolor=INK, fontsize=10, ncols=len(names),
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
    """Bars end to end; a share stands over its own, in ink: no color here takes every ink."""
    start = 0.0
    for share, color in zip(shares, HUES, strict=False):
        axes.barh(y, share, left=start, color=color, height=0.4)
        if share > 0.045:
            axes.text(start + share / 2, y - 0.24, of_a_hundred(share), ha="center", va="bottom",
                      fontsize=10, color=INK)  # fmt: skip
        start += share
