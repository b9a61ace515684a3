"""What training keeps in each GPU's memory, by ZeRO's stages."""

from gpulessons import units
from gpulessons.models.decoder import Shape
from gpulessons.plots.forms import stacked
from gpulessons.plots.picture import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, Picture

STAGES = "data parallel", "ZeRO-1", "ZeRO-2", "ZeRO-3"
SIZES = 24, 80, 141, 192  # GB of one GPU
FULL = 0.85  # the share that may be used: the rest is for buffers and gaps
COLORS = {"weights": BLUE, "gradients": SKY, "float32 copy": GREEN, "Adam's means": ORANGE,
          "activations": VERMILLION, "logits": PURPLE}  # fmt: skip


def activations(shape: Shape, inside: str) -> int:
    """Bytes that a token leaves for the backward pass, in 16 bits; attention keeps no scores.

    A layer's inside is kept (x twice, and twice normalized, queries and their result, keys and
    values, four of the inner width), or recomputed from x, or selective, as torchtitan does: kept
    are x, what attention gives, and every second product.
    """
    keys, width, inner = shape.kv_heads * shape.head, shape.width, shape.inner
    each = {"kept": 6 * width + 2 * keys + 4 * inner, "selective": 4 * width + keys + inner,
            "recomputed": width}[inside]  # fmt: skip
    return 2 * shape.layers * each


def ledger(
    shape: Shape, stage: int, workers: int, tokens: int, inside: str, chunks: int = 1
) -> dict[str, float]:
    """Bytes on each worker at the worse of two moments, in mixed precision with Adam.

    At the loss, three float32 copies of the logits, of one chunk of the tokens at a time; in a
    layer's backward pass, its inside made again. tokens: of one worker, at a time.
    """
    words = shape.words * shape.width
    count = shape.read + words  # what a step reads, and the words' vectors
    parts = zip(COLORS, (2, 2, 4, 8), (3, 2, 1, 1), strict=False)
    kept = {name: nbytes * count / (workers if stage >= since else 1)
            for name, nbytes, since in parts}  # fmt: skip
    kept |= {"activations": tokens * activations(shape, inside), "logits": 0}
    each = (shape.read - words) / shape.layers
    again = tokens * activations(shape._replace(layers=1), "kept") * (inside != "kept")
    moments = (  # whole while they are used: weights (a next layer's come early), and gradients
        {"weights": 2 * words * (stage == 3), "gradients": 2 * words * (stage > 1 < chunks),
         "logits": 12 * tokens * shape.words / chunks},
        {"weights": 4 * each * (stage == 3), "gradients": 2 * each * (stage > 1),
         "activations": again},
    )  # fmt: skip
    worse = max(moments, key=lambda more: sum(more.values()))
    return {name: nbytes + worse.get(name, 0) for name, nbytes in kept.items()}


def fits(total: float) -> str:
    """The smallest GPU that leaves enough free."""
    return next((f"fits {gb} GB" for gb in SIZES if total <= FULL * 1e9 * gb), "fits none")


def ledgers(
    name: str, shape: Shape, workers: int, tokens: int, inside: str, gb: int = 80
) -> Picture:
    """A bar for each stage, cut off where a GPU of so many GB is full."""
    bars = {each: ledger(shape, stage, workers, tokens, inside)
            for stage, each in enumerate(STAGES)}  # fmt: skip
    totals, drawn, told = {}, {}, {}
    for each, parts in bars.items():
        totals[each], drawn[each] = sum(parts.values()), {}
        for part, nbytes in parts.items():
            share = min(nbytes / gb / 1e9, max(0, 1 - sum(drawn[each].values())))
            drawn[each][part], told[share] = share, f"{nbytes / 1e9:.0f}" if share else "beyond"
    fit = [each for each, total in totals.items() if total <= FULL * 1e9 * gb]
    return stacked(
        drawn, COLORS, told.__getitem__,
        title=f"{name}, {units.plural(workers, 'GPU')} of {gb} GB, {tokens:,} tokens on each: "
        f"{fit[0] if fit else 'nothing'} fits.",
        what=f"share of {gb} GB; inside: GB (counted). It fits where {1 - FULL:.0%} are left free",
        beyond={each: f"{total / 1e9:,.{int(total < 1e11)}f} GB\n{fits(total)}"
                for each, total in totals.items()},
    )  # fmt: skip
