"""What training keeps in each GPU's memory, by ZeRO's stages."""

from gpulessons import units
from gpulessons.models.decoder import Shape
from gpulessons.plots.forms import stacked
from gpulessons.plots.picture import BLUE, GREEN, ORANGE, PURPLE, SKY, VERMILLION, Picture

STAGES = "data parallel", "ZeRO-1", "ZeRO-2", "ZeRO-3"
SIZES = 24, 80, 141, 192  # GB of one GPU
FULL = 0.9  # the share that may be used: the rest is for buffers and gaps
COLORS = {"weights": BLUE, "gradients": SKY, "float32 copy": GREEN, "Adam's means": ORANGE,
          "activations": VERMILLION, "logits": PURPLE}  # fmt: skip


def activations(shape: Shape, inside: str) -> int:
    """Bytes that a token leaves for the backward pass, in 16 bits; attention keeps no scores.

    A layer's inside is kept (x twice, and twice normalized, queries and their result, keys and
    values, four of the inner width), or recomputed from x, or selective, as torchtitan does: kept
    are x, what attention gives, and every second product. One layer's is whole at a time.
    """
    keys, width, inner = shape.kv_heads * shape.head, shape.width, shape.inner
    whole = 6 * width + 2 * keys + 4 * inner
    each = {"kept": whole, "selective": 4 * width + keys + inner, "recomputed": width}[inside]
    return 2 * (shape.layers * each + (whole if inside != "kept" else 0))


def ledger(
    shape: Shape, stage: int, workers: int, tokens: int, inside: str, slices: int = 1
) -> dict[str, float]:
    """Bytes on each worker, in mixed precision with Adam. tokens: of one worker, at a time.

    The loss is computed in so many slices of the tokens: of one slice there are logits at once.
    """
    words = shape.words * shape.width
    count = shape.read + words  # what a step reads, and the words' vectors
    parts = zip(COLORS, (2, 2, 4, 8), (3, 2, 1, 1), strict=False)
    kept = {name: nbytes * count / (workers if stage >= since else 1)
            for name, nbytes, since in parts}  # fmt: skip
    if stage > 1:  # while it is used: one layer's weights and gradients, whole, and the words'
        each = (shape.read - words) / shape.layers
        kept["gradients"] += 2 * each
        kept["weights"] += 2 * (each + 2 * words) * (stage == 3)
    logits = 3 * 4 * tokens * shape.words / slices  # float32, thrice: scores, softmax, gradient
    return {**kept, "activations": tokens * activations(shape, inside),
            "logits": logits}  # fmt: skip


def fits(total: float) -> str:
    """The smallest GPU on which that leaves a tenth free."""
    return next((f"fits on {gb} GB" for gb in SIZES if total <= FULL * 1e9 * gb), "fits on none")


def ledgers(name: str, shape: Shape, workers: int, tokens: int, inside: str) -> Picture:
    """A bar for each stage, and the smallest GPU that it fits on."""
    bars = {each: ledger(shape, stage, workers, tokens, inside)
            for stage, each in enumerate(STAGES)}  # fmt: skip
    totals = {each: sum(parts.values()) for each, parts in bars.items()}
    most = max(totals.values())
    return stacked(
        {each: {part: nbytes / most for part, nbytes in parts.items()}
         for each, parts in bars.items()}, COLORS, lambda share: f"{share * most / 1e9:.0f}",
        title=f"{name}, {units.plural(workers, 'GPU')}, {tokens:,} tokens each: data parallel "
        f"{fits(totals[STAGES[0]])}, ZeRO-3 {fits(totals[STAGES[3]])}.",
        what="share of the longest bar; inside: GB (counted). It fits where a tenth is left free",
        beyond={each: f"{total / 1e9:,.{int(total < 1e11)}f} GB\n{fits(total)}"
                for each, total in totals.items()},
    )  # fmt: skip
