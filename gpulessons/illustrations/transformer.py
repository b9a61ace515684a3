"""Pictures of a transformer: a layer, where its time goes, and what writing a token costs."""

from collections.abc import Mapping
from typing import Any

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.boxes import arrow, box, canvas
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

LAYERS, HIDDEN, HEADS, INNER, WORDS = 12, 768, 12, 3072, 30_522  # of BERT base
HUES = (BLUE, SKY, ORANGE, GREEN, PURPLE, VERMILLION)  # of a layer's parts, in their order


# -- A layer.


def layer_flops(tokens, length):
    """Operations of each part of an encoder layer, `tokens` in texts of `length`: {part: count}."""
    square, scores = 2 * tokens * HIDDEN * HIDDEN, 2 * tokens * length * HIDDEN
    return {
        "q, k, v": 3 * square, "scores": scores, "softmax": 5 * HEADS * tokens * length,
        "mixture": scores, "out": square, "layer norm": 7 * tokens * HIDDEN,
        "up": 2 * tokens * HIDDEN * INNER, "bias + GELU": 10 * tokens * INNER,
        "down": 2 * tokens * HIDDEN * INNER,
    }  # fmt: skip


PRODUCTS = "q, k, v", "scores", "mixture", "out", "up", "down"


def encoder(length: int = 128) -> Picture:
    """One encoder layer, left to right: its products, what stands between them, shapes and shares.

    Made for a slider: live(encoder, length=[128, 512, 2048]).
    """
    work = layer_flops(length, length)
    work["layer norm"] *= 2
    whole = sum(work.values()) + 8 * length * HIDDEN  # biases, sums, a scale: as in the notebook
    products = sum(work[name] for name in PRODUCTS) / whole
    quadratic = (work["scores"] + work["mixture"]) / whole
    title = (
        f"{length:,} tokens: products are {products:.1%} of a layer's operations; the two that "
        f"grow with the square of the length, {of_a_hundred(quadratic)}."
    )
    figure, axes = canvas((-0.75, 6.7), (-1.65, 2.4), height=3.9, title=title)
    draw_layer(axes, length, {name: of_a_hundred(size / whole) for name, size in work.items()})
    spoken = ", ".join(f"{name} {of_a_hundred(size / whole)}" for name, size in work.items())
    return Picture(figure, f"{title} In order: {spoken}.")


def draw_layer(axes, length, shares):
    """Attention above, the rest below: a box for each part, its shape and its share in words."""
    wide, high = f"{length:,} × {HIDDEN}", f"{length:,} × {INNER:,}"
    square, three = f"{HEADS} × {length:,}\n× {length:,}", f"3 × {length:,}\n× {HIDDEN}"
    upper = [("x", wide), ("q, k, v", three), ("scores", square), ("softmax", square),
             ("mixture", wide), ("out", wide), ("+ x, layer norm", f"x′: {wide}")]  # fmt: skip
    lower = [("up", high), ("bias + GELU", high), ("down", wide), ("+ x′, layer norm", wide)]
    for y, row, first in ((1.9, upper, 0), (-0.3, lower, 1)):
        for place, (name, shape) in enumerate(row, start=first):
            below = "\n".join([shape, shares[name]]) if name in shares else shape
            words = name.replace(", l", ",\nl").replace(" + ", "\n+ ")
            box(axes, place, y, words, VERMILLION if name in PRODUCTS else BLUE, 0.84, 0.66)
            axes.text(place, y - 0.4, below, ha="center", va="top", color=INK, fontsize=9,
                      linespacing=1.3)  # fmt: skip
            if place > first:
                arrow(axes, (place - 0.56, y), (place - 0.44, y))
    turn = (6, 1.15), (6, 0.45), (0.2, 0.45), (0.2, -0.3), (0.5, -0.3)
    axes.plot(*zip(*turn, strict=True), color=INK, linewidth=1.1)
    arrow(axes, (0.5, -0.3), (0.56, -0.3))
    axes.text(-0.7, -1.6, "orange: a product, blue: all else; below each: its result's shape, its "
              "share of the operations", color=INK, fontsize=10, va="bottom")  # fmt: skip


# -- Writing, a token at a time.


def token_bytes(batch: int, behind: int, kv_heads: int = HEADS) -> dict[str, float]:
    """Bytes that must come for each token that a network writes: {what: bytes}, float32.

    The weights come once for the whole batch, the output matrix (WORDS × HIDDEN) with them. Of keys
    and values each text has its own: `behind` tokens of `kv_heads` heads in every layer.
    """
    cached = kv_heads * (HIDDEN // HEADS)  # numbers of a key, and of a value
    weights = LAYERS * (2 * HIDDEN * HIDDEN + 2 * HIDDEN * cached + 2 * HIDDEN * INNER)
    weights += WORDS * HIDDEN
    return {"weights": 4 * weights / batch, "keys and values": 4 * LAYERS * 2 * behind * cached}


def generation(batch: int, behind: int, kv_heads: int = HEADS) -> Picture:
    """Bytes for each generated token against the batch: weights are shared, keys and values not.

    Made for sliders: live(generation, batch=slider(…), behind=slider(…), kv_heads=[12, 4, 1]).
    """
    now = token_bytes(batch, behind, kv_heads)
    whole = sum(now.values())
    heads = f"{units.plural(kv_heads, 'head')} of keys and values"
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
