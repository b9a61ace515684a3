"""What training keeps in each GPU's memory, by ZeRO's stages."""

from gpulessons import units
from gpulessons.models.decoder import Shape
from gpulessons.plots.forms import stacked
from gpulessons.plots.picture import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, Picture

STAGES = "data parallel", "ZeRO-1", "ZeRO-2", "ZeRO-3"
SIZES = 24, 80, 141, 192  # GB of one GPU
COLORS = {"weights": BLUE, "gradients": SKY, "float32 copy": GREEN, "Adam's means": ORANGE,
          "activations": VERMILLION, "logits": PURPLE}  # fmt: skip


def activations(shape: Shape, recompute: bool) -> int:
    """Bytes that a token leaves for the backward pass, in 16 bits; attention keeps no scores.

    In each layer: x twice, and twice normalized, queries and their result, keys and values, and
    four of the inner width; or, to be recomputed, x alone, and one layer's whole at a time.
    """
    keys = shape.kv_heads * shape.head
    layer = 2 * (6 * shape.width + 2 * keys + 4 * shape.inner)
    return 2 * shape.layers * shape.width + layer if recompute else shape.layers * layer


def ledger(
    shape: Shape, stage: int, workers: int, tokens: int, recompute: bool
) -> dict[str, float]:
    """Bytes on each worker, in mixed precision with Adam. tokens: of one worker, at a time."""
    count = shape.read + shape.words * shape.width  # what a step reads, and the words' vectors
    parts = zip(COLORS, (2, 2, 4, 8), (3, 2, 1, 1), strict=False)
    kept = {name: nbytes * count / (workers if stage >= since else 1)
            for name, nbytes, since in parts}  # fmt: skip
    if stage > 1:  # while it is used: one layer's weights and gradients, whole
        each = (shape.read - shape.words * shape.width) / shape.layers
        kept["gradients"] += 2 * each
        kept["weights"] += 2 * each * (stage == 3)
    logits = tokens * shape.words * (2 + 4)  # in 16 bits, and in float32 for the loss
    return {**kept, "activations": tokens * activations(shape, recompute),
            "logits": logits}  # fmt: skip


def ledgers(name: str, shape: Shape, workers: int, tokens: int, recompute: bool) -> Picture:
    """A bar for each stage, and the smallest GPU that it fits on."""
    bars = {each: ledger(shape, stage, workers, tokens, recompute)
            for stage, each in enumerate(STAGES)}  # fmt: skip
    totals = {each: sum(parts.values()) for each, parts in bars.items()}
    fits = {each: next((f"fits on {gb} GB" for gb in SIZES if total <= 1e9 * gb), "fits on none")
            for each, total in totals.items()}  # fmt: skip
    most = max(totals.values())
    return stacked(
        {each: {part: nbytes / most for part, nbytes in parts.items()}
         for each, parts in bars.items()}, COLORS, lambda share: f"{share * most / 1e9:.0f}",
        title=f"{name}, {units.plural(workers, 'GPU')}, {tokens:,} tokens each: data parallel "
        f"{fits[STAGES[0]]}, ZeRO-3 {fits[STAGES[3]]}.",
        what="what a GPU keeps, as a share of the longest bar; inside: GB (counted)",
        beyond={each: f"{total / 1e9:,.0f} GB\n{fits[each]}" for each, total in totals.items()},
    )  # fmt: skip
