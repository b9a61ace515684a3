"""Pictures of recurrence: a cell with its shapes, what waits for what, the way back through time,
what a step costs, and what it waits for.
"""

from itertools import groupby

from gpulessons import units
from gpulessons.plots.axes import written
from gpulessons.plots.boxes import arrow, box, canvas
from gpulessons.plots.forms import LOOKS, beside, listed, log_lines, name_rows, write
from gpulessons.plots.picture import BLUE, COLORS, INK, VERMILLION, Picture, blank
from gpulessons.plots.timings import draw_modelled, is_modelled

from .drawings import Drawing, drawing

POINTWISE = 26  # operations on one unit after its products: see ops/lstm_cell.py
DRAWN = 6  # steps, at most: of a longer chain the first and the last
FAR = 3  # times the longer bound: then a step waits for neither


def cell(batch: int, inputs: int, hidden: int) -> Drawing:
    """One step of an LSTM, left to right, with the shape of every array."""
    weights = 4 * hidden * (inputs + hidden)
    share = 2 * weights / (2 * weights + POINTWISE * hidden)
    return drawing("lstm_cell", batch=batch, inputs=inputs, hidden=hidden, four=f"4·{hidden}",
                   share=f"{share:.1%}")


def waiting(layers: int = 1) -> Drawing:
    """Five steps from left to right, one layer or two upward; in each box the tick at which it can
    be done."""
    return drawing({1: "waiting_one_layer", 2: "waiting_two_layers"}[layers])


def kept_bytes(steps: int, batch: int, hidden: int) -> dict[str, int]:
    """What the way forward keeps for the way back, float32: z, and h and c before each step."""
    rows = 4 * steps * batch * hidden
    return {"z": 4 * rows, "h": rows, "c": rows}


def through_time(steps: int, batch: int = 32, hidden: int = 256) -> Picture:
    """The chain of an LSTM unrolled: forward above, what each step keeps, the gradients back."""
    kept = kept_bytes(steps, batch, hidden)
    whole = sum(kept.values())
    title = (
        f"The way back through {units.plural(steps, 'step')} needs what the way forward kept: "
        f"{units.size(whole)}, {units.size(whole // steps)} for each."
    )
    drawn = range(steps) if steps <= DRAWN else [0, 1, 2, None, steps - 2, steps - 1]
    figure, axes = canvas((-1.75, len(drawn) - 0.35), (-1.75, 3.75), height=4.3, title=title)
    for place, step in enumerate(drawn):
        if step is None:
            for y in (0, 1.35, 2.7):
                write(axes, place, y, "…")
        else:  # forward, what is kept, backward: three boxes over each other, and what joins them
            for y, words, color in ((2.7, f"step {step}", VERMILLION), (1.35, "z, h, c", INK),
                                    (0, f"step {step}", BLUE)):
                box(axes, place, y, words, color, tall=0.55, wide=0.74)
            for start, end in ((3.4, 3.0), (2.4, 1.65), (1.05, 0.3), (-0.3, -0.75)):
                arrow(axes, (place, start), (place, end), BLUE if end < 0 else INK)
            write(axes, place, 3.55, f"x[{step}]")
            write(axes, place, -0.98, f"dz[{step}]")
            write(axes, place + 0.06, 0.62, f"+ d[{step}]", ha="left")
        if place:
            arrow(axes, (place - 0.62, 2.7), (place - 0.38, 2.7), VERMILLION)
            arrow(axes, (place - 0.38, 0), (place - 0.62, 0), BLUE)
    for y, name in ((2.7, "forward:\nh, c"), (1.35, "kept"), (0, "back:\ndh, dc")):
        write(axes, -0.6, y, name, ha="right")
    write(axes, (len(drawn) - 1) / 2, -1.5, "when the chain is through: dw = Σ dz[t]ᵀ x[t], "
          "du = Σ dz[t]ᵀ h[t−1], one product each")
    parts = ", ".join(f"{units.size(size // steps)} of {name}" for name, size in kept.items())
    return Picture(figure, (
        f"{title} A step keeps {parts}, for {batch} examples of {hidden} units. Forward, h and c "
        "go from each step to the next. Back, dh and dc go from each step to the one before, and "
        "each step adds what its own loss says of its h. The weights' gradients wait until the end."
    ))


def rungs(rows, limit: float) -> Picture:
    """Time of one step on each rung, and its share of what a product alone reaches.

    rows: [(name, a Timing, or why there is none, how many steps of a layer one call does)]; limit:
    that product's FLOP/s. A modelled time is drawn as such, and is no rung of the title.
    """
    there = [(name, t.median / steps, t) for name, t, steps in rows if not isinstance(t, str)]
    timed = [row for row in there if not is_modelled(row[2])]
    title = from_first_to_quickest(timed, limit)
    figure, axes = blank(width=7.6, height=1.6 + 0.34 * len(rows), title=title)
    words = {name: draw_rung(axes, y, t, steps, limit) for y, (name, t, steps) in enumerate(rows)}
    name_rows(axes, words)
    axes.set_xlim(0, 2.1 * max((seconds for _, seconds, _ in there), default=1))
    why = sorted({t for _, t, _ in rows if isinstance(t, str)})
    notes = ["time of one step of one layer", *(f"not measured here: {each}" for each in why)]
    if any(t.flop_rate > 1.05 * limit for *_, t in timed):
        notes.append("more than 100%: the ceiling is one library's, taken at another time")
    axes.set_xlabel("\n".join(notes))
    axes.locator_params(axis="x", nbins=5)
    written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} {listed(words)}.")


def draw_rung(axes, y, timing, steps, limit):
    """A bar, hatched where it is modelled, none where there is no time; returns its words."""
    words, end = "not measured here", 0
    if is_modelled(timing):
        about = "at least" if timing.at_least else "≈"
        each = [seconds / steps for seconds in (timing.median, *timing.quartiles)]
        words = f"{about} {units.seconds(float(f'{each[0]:.2g}'))}, modelled on {timing.gpu}"
        draw_modelled(axes, y, each, COLORS[timing.backend], words)
        return words
    if not isinstance(timing, str):
        end = timing.median / steps
        axes.barh(y, end, height=0.66, color=COLORS[timing.backend])
        words = f"{units.seconds(end)}, {timing.flop_rate / limit:.0%} of the ceiling"
        words += f" ({timing.noise})" if timing.noise else ""
    beside(axes, words, end, y)
    return words


def from_first_to_quickest(timed, limit):
    """The message, of the rungs whose samples agree: no other stands in a title."""
    steady = [row for row in timed if row[2].noise != "too noisy"]
    if len(steady) < 2:
        return f"{units.plural(len(steady), 'rung')} of {len(timed)} steady enough to compare."
    (slow, first, a), (fast, last, b) = steady[0], min(steady, key=lambda row: row[1])
    if slow == fast:
        return f"“{fast}” is the quickest rung: {b.flop_rate / limit:.0%} of the product's ceiling."
    return (
        f"From “{slow}” to “{fast}”: {units.ratio(first / last)} as fast, "
        f"{a.flop_rate / limit:.0%} of the product's ceiling becomes {b.flop_rate / limit:.0%}."
    )


def one_step(row, sheet) -> tuple[float, dict[str, float], str]:
    """Of a published sequence of steps: seconds of one; what its bytes and its arithmetic need at
    the least, by the card's data sheet; and what it waits for.

    u and four sums come in, h and c come in and go out; input products are done before. A step far
    above both bounds waits for neither: for latency, then.
    """
    batch, hidden = row.sizes["batch"], row.sizes["hidden"]
    numbers = 4 * hidden * hidden + batch * (4 * hidden + 4 * hidden)
    bounds = {"bytes": numbers * {"float32": 4, "float16": 2}[row.dtype] / sheet.memory,
              "arithmetic": batch * hidden * (8 * hidden + POINTWISE) / sheet.peaks[row.dtype]}
    seconds, longest = row.value / row.sizes["steps"], max(bounds, key=bounds.get)
    return seconds, bounds, longest if seconds < FAR * bounds[longest] else "latency"


def steps_published(rows, sheet) -> Picture:
    """Published time of one step against the batch, a line for each width, and below it the bound:
    the longer of what bytes and arithmetic need. The title says what each width waits for."""
    named, alike = [], {}
    for hidden, look in zip(sorted({row.sizes["hidden"] for row in rows}), LOOKS, strict=False):
        each = {row.sizes["batch"]: one_step(row, sheet)
                for row in sorted(rows, key=lambda row: row.sizes["batch"])
                if row.sizes["hidden"] == hidden}
        alike.setdefault(waits_in_words(each), []).append(f"{hidden:,}")
        named += [
            (f"{hidden:,} units (published)", [*each], [seconds for seconds, *_ in each.values()],
             {**look, "linestyle": "-", "markerfacecolor": "none"}),
            (f"{hidden:,}: the bound", [*each], [max(b.values()) for _, b, _ in each.values()],
             {"color": look["color"], "linestyle": ":", "linewidth": 1}),
        ]
    told = "; ".join(f"{' and '.join(of)} units for {waits}" for waits, of in alike.items())
    return log_lines(named, ("examples in the batch", units.count),
                     ("time of one step", units.seconds), ticks=named[0][1],
                     title=f"What a step waits for: {told}. Published: {rows[0].citation}.")


def waits_in_words(steps) -> str:
    """{batch: one_step} as "bytes (16 to 32 examples), then arithmetic (64 to 128 examples)"."""
    runs = [(wait, [batch for batch, _ in run])
            for wait, run in groupby(steps.items(), lambda step: step[1][2])]
    if len(runs) == 1:
        return runs[0][0]
    return ", then ".join(f"{wait} ({run[0]} to {run[-1]} examples)" for wait, run in runs)
