"""Pictures of recurrence: a cell with its shapes, what waits for what, what a step costs, and what
it waits for.
"""

from itertools import groupby

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import LOOKS, beside, lines, listed, log_lines, name_rows
from gpulessons.plots.picture import COLORS, INK, Picture, blank
from gpulessons.plots.timings import draw_modelled, is_modelled
from warplens.model.devices import named, sheet

from .drawings import Drawing, drawing

POINTWISE = 26  # operations on one unit after its products: see ops/lstm_cell.py
FAR = 3  # times the longer bound: then a step waits for neither


def cell(batch: int, inputs: int, hidden: int) -> Drawing:
    """One step of an LSTM, left to right, with the shape of every array."""
    weights = 4 * hidden * (inputs + hidden)
    share = 2 * weights / (2 * weights + POINTWISE * hidden)
    return drawing("lstm_cell", batch=batch, inputs=inputs, hidden=hidden, four=f"4·{hidden}",
                   share=f"{share:.1%}")


def waiting() -> Drawing:
    """Five steps from left to right; in each box the tick at which it can be done."""
    return drawing("waiting")


def rungs(rows, limit: float | None = None) -> Picture:
    """Time of one step on each rung, from rows of (name, a Timing, or why there is none, how many
    steps of a layer one call does); beside a measured one its share of the limit, in FLOP/s.
    """
    there = [row for row in rows if not isinstance(row[1], str)]
    title = from_first_to_quickest([row for row in there if not is_modelled(row[1])] or there)
    figure, axes = blank(width=7.6, height=1.6 + 0.34 * len(there), title=title)
    words = {name: draw_rung(axes, y, t, steps, limit) for y, (name, t, steps) in enumerate(there)}
    name_rows(axes, words)
    axes.set_xlim(0, 2.1 * max((t.median / steps for _, t, steps in there), default=1))
    notes = ["time of one step of one layer" + ", and % of a large product's rate" * bool(limit)]
    notes += sorted(f"no {name}: {t}" for name, t, _ in rows if isinstance(t, str))
    axes.set_xlabel("\n".join(notes))
    axes.locator_params(axis="x", nbins=5)
    written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} {listed(words)}.")


def draw_rung(axes, y, timing, steps, limit):
    """A bar, hatched where it is modelled; returns its words."""
    seconds, *ends = (each / steps for each in (timing.median, *timing.quartiles))
    if is_modelled(timing):
        words = f"≈ {units.seconds(float(f'{seconds:.2g}'))}, modelled for {timing.gpu}"
        draw_modelled(axes, y, [seconds, *ends], COLORS[timing.backend], words)
        return words
    axes.barh(y, seconds, height=0.66, color=COLORS[timing.backend])
    words = units.seconds(seconds) + f" ({timing.noise})" * bool(timing.noise)
    words += f", {timing.flop_rate / limit:.0%}" if limit else ""
    beside(axes, words, seconds, y)
    return words


def from_first_to_quickest(there):
    """The message, of the rungs whose samples agree: no other stands in a title."""
    steady = [row for row in there if row[1].noise != "too noisy"]
    if len(steady) < 2:
        return f"{units.plural(len(steady), 'rung')} of {len(there)} steady enough to compare."
    took = {name: t.median / steps for name, t, steps in steady}
    (first, t, _), last = steady[0], min(took, key=took.get)
    times = took[first] / took[last]
    kind, said = "", units.ratio(times)
    if is_modelled(t):  # no more digits than a model has
        kind, said = f", modelled for {t.gpu}", f"≈ {units.ratio(float(f'{times:.1g}'))}"
    if first == last:
        return f"“{first}” is the quickest rung{kind}."
    return f"From “{first}” to “{last}”: {said} as fast{kind}."


def chain(took, reading: float) -> Picture:
    """{texts: seconds of a step, (in the chain, of all steps at once)}, and of reading u once."""
    texts, ways = [*took], ("step by step", "all steps at once")
    drawn = [(name, texts, [each[n] for each in took.values()], {**LOOKS[n], "linestyle": "-"})
             for n, name in enumerate(ways)]
    drawn.append(("reading u", texts, [reading for _ in texts], {"color": INK, "linestyle": ":"}))
    times = [units.ratio(step / once) for step, once in took.values()]
    title = f"Step by step takes {times[0]} as long with {units.plural(texts[0], 'text')}"
    return log_lines(drawn, ("texts", units.count), ("time of one step", units.seconds),
                     title=f"{title}, {times[-1]} with {texts[-1]}.", ticks=texts,
                     spoken=f"Reading u: {units.seconds(reading)}.")


def fading(arrived: dict[str, list[float]]) -> Picture:
    """{network: what arrives so many letters back, 0 and up, of the last guess's gradient}."""
    last = {name: f"{shares[-1]:.0e}" for name, shares in arrived.items()}
    title = f"Of the last guess's gradient arrives at the farthest letter: {listed(last)}."
    figure, axes = blank(height=4.1, title=title)
    log_axes(axes, y=("gradient, the last letter's as 1", "{:.0e}".format))
    lines(axes, [(name, range(len(shares)), shares, {**look, "marker": ""})
                 for (name, shares), look in zip(arrived.items(), LOOKS, strict=False)])
    axes.set_xlabel("letters back")
    return Picture(figure, title)


def bounds(batch: int, hidden: int, dtype: str, card: str) -> dict[str, float]:
    """Seconds that a step's bytes and its arithmetic need at the least, input products done before.

    Four sums for each unit come in, h and c come in and go out, and u is read: from the L2 cache
    where it fits in, at the rate measured for it, else from memory at the data sheet's.
    """
    size, known = {"float32": 4, "float16": 2}[dtype], sheet(card)
    u = 4 * hidden * hidden * size
    from_u = u / (named(card).l2_rate if u <= known.cache else known.memory)
    return {"bytes": max(from_u, 8 * batch * hidden * size / known.memory),
            "arithmetic": batch * hidden * (8 * hidden + POINTWISE) / known.peaks[dtype]}


def steps_published(rows) -> Picture:
    """Published time of one step against the batch, a line for each width, and below it the bound:
    the longer of what bytes and arithmetic need. The title says what each width waits for."""
    drawn, alike = [], {}
    for hidden, look in zip(sorted({row.sizes["hidden"] for row in rows}), LOOKS, strict=False):
        of = {row.sizes["batch"]: row for row in rows if row.sizes["hidden"] == hidden}
        took = {batch: of[batch].value / of[batch].sizes["steps"] for batch in sorted(of)}
        least = {batch: bounds(batch, hidden, of[batch].dtype, of[batch].device) for batch in took}
        waits = {batch: waits_for(took[batch], least[batch]) for batch in took}
        alike.setdefault(waits_in_words(waits), []).append(f"{hidden:,}")
        drawn += [(f"{hidden:,} units (published)", [*took], [*took.values()],
                   {**look, "linestyle": "-", "markerfacecolor": "none"}),
                  (f"{hidden:,}: the bound", [*took], [max(two.values()) for two in least.values()],
                   {"color": look["color"], "linestyle": ":", "linewidth": 1})]
    told = "; ".join(f"{' and '.join(of)} units for {waits}" for waits, of in alike.items())
    return log_lines(drawn, ("examples in the batch", units.count),
                     ("time of one step", units.seconds), ticks=drawn[0][1],
                     title=f"What a step waits for: {told}. Published: {rows[0].citation}.")


def waits_for(seconds: float, least: dict[str, float]) -> str:
    """A step far above both its bounds waits for neither: for latency, then."""
    longest = max(least, key=least.get)
    return longest if seconds < FAR * least[longest] else "latency"


def waits_in_words(waits: dict[int, str]) -> str:
    """{batch: wait} as "bytes (16 to 32 examples), then arithmetic (64 to 128 examples)"."""
    runs = [(wait, [*run]) for wait, run in groupby(waits, waits.get)]
    if len(runs) == 1:
        return runs[0][0]
    return ", then ".join(f"{wait} ({run[0]} to {run[-1]} examples)" for wait, run in runs)
