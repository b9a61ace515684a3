"""Pictures of a decoder at work: tokens a second, by how many at once, and at most on a card."""

from collections.abc import Sequence

from gpulessons import units
from gpulessons.models.decoder import Shape
from gpulessons.plots.axes import written
from gpulessons.plots.forms import LOOKS, dots, lines, log_lines, percent
from gpulessons.plots.picture import BLUE, INK, VERMILLION, Picture, blank
from warplens.model.devices import sheet

CARDS = "T4", "RTX 4090", "A100 80 GB", "H100", "H200", "B200"
BYTES, FLOPS = "bytes", "arithmetic"


def limits(card: str, shape: Shape, batch: int, context: int, bits: int) -> dict[str, float]:
    """Seconds that a step takes at the least, by the card's data sheet: its bytes, its arithmetic.

    bits: of a weight; a cached number has 16. In 16 bits or fewer products run on the tensor cores,
    at their 16-bit rate. ValueError where weights and caches do not fit.
    """
    kept, embedded = batch * context * shape.cached, shape.words * shape.width
    moved, known = bits / 8 * shape.read + 2 * kept, sheet(card)
    if (held := moved + bits / 8 * embedded) > known.capacity:
        raise ValueError(f"{units.size(held)} do not fit into {units.size(known.capacity)}")
    peaks = known.peaks
    rate = peaks["float32"] if bits == 32 else peaks.get("bfloat16") or peaks["float16"]
    flops = 2 * batch * shape.read + 2 * kept * shape.heads // shape.kv_heads
    return {BYTES: moved / known.memory, FLOPS: flops / rate}


def cards(shape: Shape, batch: int, context: int, bits: int) -> Picture:
    """Tokens a second at most, on each card that has room."""
    rows, full, waits = [], [], set()
    for card in CARDS:
        try:
            needs = limits(card, shape, batch, context, bits)
        except ValueError:
            full.append(card)
            continue
        longest = max(needs, key=needs.get)
        waits.add(longest)
        rows.append((f"{card}: waits for {longest}", batch / needs[longest],
                     {"color": BLUE if longest == BYTES else VERMILLION, "marker": "<"}))
    title = (f"{units.plural(batch, 'sequence')} at once, {bits}-bit weights, {context:,} tokens "
             f"each: the step waits for {' or '.join(sorted(waits)) or 'no card'}."
             + f" No room: {', '.join(full)}." * bool(full))
    return dots(rows, "tokens a second, at most (bounded by data sheets)", units.count, title=title)


def foretold(nbytes: Sequence[float], seconds: Sequence[float], third: float,
             bandwidth: float = 0, by_op: float = 0) -> Picture:  # fmt: skip
    """Time of a step against the bytes of its weights: measured, and the line through the first two
    from no bytes at all to the most.

    bandwidth: a card's, of which the seconds are published; by_op: of the first, an op at a time.
    """
    title = (f"Two sizes foretell a third: {units.seconds(third)}. It takes "
             f"{units.seconds(seconds[2])}.")
    most, slope = max(nbytes), (seconds[1] - seconds[0]) / (nbytes[1] - nbytes[0])
    start = seconds[0] - nbytes[0] * slope
    figure, axes = blank(height=3.6, title=title)
    axes.set(xlabel="bytes of the weights that a step reads", ylabel="time of a token")
    axes.set(xlim=(0, 1.05 * most), ylim=(min(0, start), 1.15 * max(third, by_op, *seconds)))
    axes.set_xticks(nbytes)
    for axis, write in ((axes.xaxis, units.size), (axes.yaxis, units.seconds)):
        written(axis, write)
    how = "published, compiled" if bandwidth else "measured"
    dot = {"marker": "o", "linestyle": "none", "markerfacecolor": "none" if bandwidth else BLUE}
    points = sorted(zip(nbytes, seconds, strict=True))
    named = [("foretold by two", [0, most], [start, start + slope * most],
              {"color": INK, "linestyle": ":"}), (how, *zip(*points, strict=True), dot)]
    if bandwidth:
        named += [("bound by the data sheet", [0, most], [0, most / bandwidth], {"color": INK}),
                  ("published, an op at a time", nbytes[:1], [by_op], {**dot, "color": VERMILLION})]
    lines(axes, named)
    told = [f"{units.seconds(y)} at {units.size(x)}" for x, y in points]
    told += [f"{units.seconds(by_op)} an op at a time"] * bool(by_op)
    return Picture(figure, f"{title} {how}: {', '.join(told)}.")


def by_batch(rows, at_most, fits) -> Picture:
    """Tokens a second against the batch: published, and the bound for as many tokens in each cache
    as in the mean. at_most(batch, context): that bound; fits(context): room for so many."""
    ends: dict = {}
    for row in rows:
        ends.setdefault((row.sizes["prompt"], row.sizes["output"]), []).append(row)
    named, shares = [], []
    for look, ((prompt, output), found) in zip(LOOKS, ends.items(), strict=False):
        context, found = prompt + output // 2, sorted(found, key=lambda row: row.sizes["batch"])
        room = min(128, fits(context))
        batches = [*(batch for batch in (1, 2, 4, 8, 16, 32, 64) if batch < room), room]
        named.append((f"{context:,} tokens each, at most" + " (room for no more)" * (room < 128),
                      batches, [at_most(batch, context) for batch in batches],
                      {"color": look["color"]}))
        named.append((f"{context:,}, published", [row.sizes["batch"] for row in found],
                      [row.value for row in found],
                      {**look, "linestyle": "none", "markerfacecolor": "none", "markersize": 8}))
        shares += [row.value / at_most(min(row.sizes["batch"], room), context) for row in found]
    title = (f"The longer the sequences, the sooner a larger batch stops helping. Published: "
             f"{percent(min(shares))} to {percent(max(shares))} of the bound.")
    return log_lines(named, ("sequences at once", units.count), ("tokens a second", units.count),
                     title=title, ticks=(1, 4, 16, 64), base=2)
