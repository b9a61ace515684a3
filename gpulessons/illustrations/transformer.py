"""Pictures of a transformer: a layer, and where its operations and its time go."""

from gpulessons.plots.forms import LOOKS, percent, stacked
from gpulessons.plots.picture import Picture

from .drawings import Drawing, drawing

HIDDEN, HEADS, INNER = 768, 12, 3072  # of BERT base
PRODUCTS = "q, k, v", "scores", "mixture", "out", "up", "down"


def layer_flops(length):
    """Operations of each part of an encoder layer, for a text of `length` tokens: {part: count}."""
    square, scores = 2 * length * HIDDEN * HIDDEN, 2 * length * length * HIDDEN
    return {
        "q, k, v": 3 * square, "scores": scores, "softmax": 5 * HEADS * length * length,
        "mixture": scores, "out": square, "layer norm": 2 * 7 * length * HIDDEN,
        "up": 2 * length * HIDDEN * INNER, "bias + GELU": 10 * length * INNER,
        "down": 2 * length * HIDDEN * INNER, "the rest": 8 * length * HIDDEN,
    }


def work(length: int) -> dict[str, float]:
    """The same, with all products together, first."""
    each = layer_flops(length)
    return {"products": sum(map(each.pop, PRODUCTS)), **each}


def encoder(length: int = 128) -> Drawing:
    """One encoder layer, left to right: its products, what lies between them, shapes, shares."""
    flops = layer_flops(length)
    whole = sum(flops.values())
    del flops["the rest"]
    blanks = {"q, k, v": "qkv", "bias + GELU": "gelu", "layer norm": "norms"}
    each = {blanks.get(name, name): percent(size / whole) for name, size in flops.items()}
    return drawing(
        "encoder", length=f"{length:,}", **each,
        products=f"{sum(flops[name] for name in PRODUCTS) / whole:.1%}",
        quadratic=percent((flops["scores"] + flops["mixture"]) / whole),
    )


def parts(stacks) -> Picture:
    """What a whole consists of, one bar for each way of counting: {way: {part: amount}}.

    The first part is the one the title speaks of. Parts too thin for a name get none.
    """
    shares = {way: {name: amount / sum(amounts.values()) for name, amount in amounts.items()}
              for way, amounts in stacks.items()}
    names = list(next(iter(shares.values())))
    first = [f"{percent(each[names[0]])} of the {way}" for way, each in shares.items()]
    colors = {name: look["color"] for name, look in zip(names, LOOKS, strict=False)}
    return stacked(shares, colors, percent, what="share",
                   title=f"{names[0].capitalize()}: {'; '.join(first)}.")
