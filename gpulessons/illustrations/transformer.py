"""Pictures of a transformer: a layer, where its time goes, and what writing a token costs."""

from gpulessons import units
from gpulessons.plots.forms import LOOKS, log_lines, percent, stacked
from gpulessons.plots.picture import INK, Picture

from .drawings import Drawing, drawing

LAYERS, HIDDEN, HEADS, INNER, WORDS = 12, 768, 12, 3072, 30_522  # of BERT base
PRODUCTS = "q, k, v", "scores", "mixture", "out", "up", "down"


def layer_flops(tokens, length):
    """Operations of each part of an encoder layer, `tokens` in texts of `length`: {part: count}."""
    square, scores = 2 * tokens * HIDDEN * HIDDEN, 2 * tokens * length * HIDDEN
    return {
        "q, k, v": 3 * square, "scores": scores, "softmax": 5 * HEADS * tokens * length,
        "mixture": scores, "out": square, "layer norm": 7 * tokens * HIDDEN,
        "up": 2 * tokens * HIDDEN * INNER, "bias + GELU": 10 * tokens * INNER,
        "down": 2 * tokens * HIDDEN * INNER,
    }


def encoder(length: int = 128) -> Drawing:
    """One encoder layer, left to right: its products, what lies between them, shapes, shares."""
    work = layer_flops(length, length)
    work["layer norm"] *= 2
    whole = sum(work.values()) + 8 * length * HIDDEN  # biases, sums, a scale: as in the notebook
    blanks = {"q, k, v": "qkv", "bias + GELU": "gelu", "layer norm": "norms"}
    each = {blanks.get(name, name): percent(size / whole) for name, size in work.items()}
    return drawing(
        "encoder", length=f"{length:,}", **each,
        products=f"{sum(work[name] for name in PRODUCTS) / whole:.1%}",
        quadratic=percent((work["scores"] + work["mixture"]) / whole),
    )


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
    """Bytes for each generated token against the batch: weights are shared, keys and values not."""
    now = token_bytes(batch, behind, kv_heads)
    whole = sum(now.values())
    title = (
        f"{units.plural(kv_heads, 'head')} of keys and values, {behind:,} tokens behind, a batch "
        f"of {batch}: {units.size(whole)} for each token, "
        f"{percent(now['keys and values'] / whole)} of them keys and values."
    )
    batches = [2**power for power in range(10)]
    each = [token_bytes(size, behind, kv_heads) for size in batches]
    drawn = [(name, batches, [one[name] for one in each], {**look, "marker": ""})
             for name, look in zip(now, LOOKS, strict=False)]
    drawn.append(("together", batches, [sum(one.values()) for one in each], {"color": INK}))
    spoken = ", ".join(f"{units.size(size)} of {name}" for name, size in now.items())
    picture = log_lines(
        drawn, ("texts in the batch", units.count), ("bytes for each token", units.size),
        title=title, ticks=batches, base=2,
        spoken=f"Counted: {spoken}. Weights fall as 1 / batch; keys and values stay, as each text "
        "has its own.",
    )
    picture.axes.plot(batch, whole, "o", color="none", markeredgecolor=INK, markersize=9)
    return picture


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
