"""Pictures of recurrence: a cell with its shapes, what waits for what, the way back through time,
and what a step costs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.boxes import arrow, box, canvas
from gpulessons.plots.forms import beside, lines, listed, name_rows
from gpulessons.plots.picture import BLUE, COLORS, INK, VERMILLION, Picture, blank
from gpulessons.plots.timings import draw_modelled, is_modelled

from .drawings import Drawing, drawing

POINTWISE = 26  # operations on one unit after its products: see ops/lstm_cell.py


# -- The cell.


def cell(batch: int, inputs: int, hidden: int) -> Drawing:
    """One step of an LSTM, left to right, with the shape of every array."""
    weights = 4 * hidden * (inputs + hidden)
    share = 2 * weights / (2 * weights + POINTWISE * hidden)
    return drawing("lstm_cell", batch=batch, inputs=inputs, hidden=hidden, four=f"4·{hidden}",
                   share=f"{share:.1%}")


# -- What waits.


def ticks(steps, layers):
    """{(step, layer): the tick at which it can be done}: all its neighbors are done before."""
    done = {}
    for step in range(steps):
        for layer in range(layers):
            before = done.get((step - 1, layer), -1), done.get((step, layer - 1), -1)
            done[step, layer] = max(before) + 1
    return done


def waiting(steps: int, layers: int = 1) -> Picture:
    """Steps from left to right, layers upward; in each box the tick at which it can be done."""
    when = ticks(steps, layers)
    longest = max(when.values()) + 1
    title = (
        f"{steps} steps are {2 * steps} products: {steps} wait for nothing, "
        f"{longest} stand in a row."
        if layers == 1
        else f"{steps} steps of {layers} layers, one by one, are a chain of {steps * layers}; "
        f"side by side, of {longest} ticks."
    )
    figure, axes = canvas(
        (-1.6, steps), (-1.6, layers - 0.3), height=1.3 + 0.85 * layers, title=title
    )
    for step in range(steps):
        box(axes, step, -1, "any time", tall=0.55, wide=0.74)
        arrow(axes, (step, -0.72), (step, -0.3))
        for layer in range(layers):
            box(axes, step, layer, f"tick {when[step, layer]}", VERMILLION, tall=0.55, wide=0.74)
            if layer:
                arrow(axes, (step, layer - 0.7), (step, layer - 0.3))
            if step:
                arrow(axes, (step - 0.62, layer), (step - 0.38, layer), VERMILLION)
        write(axes, step, -1.5, f"t = {step}")
    names = ["h uᵀ, cell"] if layers == 1 else [f"layer {layer}" for layer in range(layers)]
    for y, name in enumerate(["x[t] wᵀ", *names], start=-1):
        write(axes, -0.6, y, name, "right")
    below = " and for the layer below" * (layers > 1)
    alt = f"{title} Each step of a layer waits for the step before it{below}; x[t] wᵀ for nothing."
    return Picture(figure, alt)


# -- Back through time.

DRAWN = 6  # steps, at most: of a longer chain the first and the last


def kept_bytes(steps: int, batch: int, hidden: int) -> dict[str, int]:
    """What the way forward keeps for the way back, float32: z, and h and c before each step."""
    rows = 4 * steps * batch * hidden
    return {"z": 4 * rows, "h": rows, "c": rows}


def through_time(steps: int, batch: int = 32, hidden: int = 256) -> Picture:
    """The chain of an LSTM unrolled: forward above, what each step keeps, and the gradients back.

    Made for a slider: live(through_time, steps=slider(1, 128, 5)).
    """
    kept = kept_bytes(steps, batch, hidden)
    each = sum(kept.values()) // steps
    title = (
        f"The way back through {units.plural(steps, 'step')} needs what the way forward kept: "
        f"{units.size(sum(kept.values()))}, {units.size(each)} for each."
    )
    drawn = range(steps) if steps <= DRAWN else [0, 1, 2, None, steps - 2, steps - 1]
    figure, axes = canvas((-1.75, len(drawn) - 0.35), (-1.75, 3.75), height=4.3, title=title)
    for place, step in enumerate(drawn):
        if step is None:
            for y in (0, 1.35, 2.7):
                write(axes, place, y, "…")
        else:
            one_step(axes, place, step)
        if place:
            arrow(axes, (place - 0.62, 2.7), (place - 0.38, 2.7), VERMILLION)
            arrow(axes, (place - 0.38, 0), (place - 0.62, 0), BLUE)
    for y, name in ((2.7, "forward:\nh, c"), (1.35, "kept"), (0, "back:\ndh, dc")):
        write(axes, -0.6, y, name, "right")
    write(axes, (len(drawn) - 1) / 2, -1.5, "when the chain is through: dw = Σ dz[t]ᵀ x[t], "
          "du = Σ dz[t]ᵀ h[t−1], one product each")
    parts = ", ".join(f"{units.size(size // steps)} of {name}" for name, size in kept.items())
    return Picture(figure, (
        f"{title} A step keeps {parts}, for {batch} examples of {hidden} units. Forward, h and c "
        "go from each step to the next. Back, dh and dc go from each step to the one before, and "
        "each step adds what its own loss says of its h. The weights' gradients wait until the end."
    ))


def one_step(axes, place, step):
    """Forward, what is kept, backward: three boxes over each other, and what joins them."""
    box(axes, place, 2.7, f"step {step}", VERMILLION, tall=0.55, wide=0.74)
    box(axes, place, 1.35, "z, h, c", tall=0.55, wide=0.74)
    box(axes, place, 0, f"step {step}", BLUE, tall=0.55, wide=0.74)
    for start, end in ((3.4, 3.0), (2.4, 1.65), (1.05, 0.3), (-0.3, -0.75)):
        arrow(axes, (place, start), (place, end), BLUE if end < 0 else INK)
    write(axes, place, 3.55, f"x[{step}]")
    write(axes, place, -0.98, f"dz[{step}]")
    write(axes, place + 0.06, 0.62, f"+ d[{step}]", "left")


def write(axes, x, y, words, side="center"):
    axes.text(x, y, words, color=INK, ha=side, va="center", fontsize=10)


# -- What a step costs.


def rungs(rows: Sequence[Any], limit: float) -> Picture:
    """Time of one step on each rung, and its share of what a product alone reaches.

    rows: [(name, a Timing, or why there is none, how many steps of a layer one call does)]; limit:
    that product's FLOP/s. A modelled time is drawn as such, and is no rung of the title.
    """
    timed = [(name, t.median / steps, t) for name, t, steps in rows
             if not isinstance(t, str) and not is_modelled(t)]
    title = from_first_to_quickest(timed, limit)
    figure, axes = blank(width=7.6, height=1.6 + 0.34 * len(rows), title=title)
    words = {name: draw_rung(axes, y, t, steps, limit) for y, (name, t, steps) in enumerate(rows)}
    name_rows(axes, words)
    longest = max((t.median / steps for _, t, steps in rows if not isinstance(t, str)), default=1)
    axes.set_xlim(0, 2.1 * longest)
    notes = [f"not measured here: {why}" for why in sorted({t for _, t, _ in rows
                                                            if isinstance(t, str)})]
    if any(t.flop_rate > 1.05 * limit for _, _, t in timed):
        notes.append("more than 100%: the ceiling is one library's, taken at another time")
    axes.set_xlabel("\n".join(["time of one step of one layer", *notes]))
    axes.locator_params(axis="x", nbins=5)
    written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} {listed(words)}.")


def draw_rung(axes, y, timing, steps, limit):
    """A bar, hatched where it is modelled, none where there is no time; returns its words."""
    if isinstance(timing, str):
        words, end = "not measured here", 0
    elif is_modelled(timing):
        about = "at least" if timing.at_least else "≈"
        each = [seconds / steps for seconds in (timing.median, *timing.quartiles)]
        words = f"{about} {units.seconds(float(f'{each[0]:.2g}'))}, modelled on {timing.gpu}"
        draw_modelled(axes, y, each, COLORS[timing.backend], words)
        return words
    else:
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


WAITS = {"launches": "-", "bytes": "--", "arithmetic": ":"}


def step_waits(
    batch: int, hidden: int, *, launches: int, launch: float, bandwidth: float, peak: float
) -> dict[str, float]:
    """Seconds that one step needs for each of WAITS, if it waited for nothing else.

    u and four sums come in, h and c come in and go out; input products are done before. launch: s,
    bandwidth: bytes/s, peak: FLOP/s.
    """
    numbers = 4 * hidden * hidden + batch * (4 * hidden + 4 * hidden)
    flops = batch * hidden * (8 * hidden + POINTWISE)
    return {"launches": launches * launch, "bytes": 4 * numbers / bandwidth,
            "arithmetic": flops / peak}


def regimes(
    measured: Sequence[tuple[int, float]], batch: int, hidden: int, **device: Any
) -> Picture:
    """Time of one step against the batch: a device's three waits, modelled, beside measurements.

    measured: [(batch, seconds for one step)] on this CPU at this `hidden`; device: the keywords of
    `step_waits`. The title says what the step of this batch waits for.
    """
    waits = step_waits(batch, hidden, **device)
    longest = max(waits, key=waits.get)
    parts = ", ".join(f"{units.seconds(time)} of {name}" for name, time in waits.items())
    title = f"{hidden:,} units, a batch of {batch:,}, modelled: it waits for {longest} ({parts})."
    figure, axes = blank(height=4.2, title=title)
    log_axes(axes, x=("examples in the batch", units.count), y=("time of one step", units.seconds))
    batches = np.geomspace(1, 4096, 13)
    each = [step_waits(size, hidden, **device) for size in batches]
    drawn = [(f"{name}, modelled", batches, [one[name] for one in each],
              {"color": VERMILLION, "linestyle": dashes, "linewidth": 1})
             for name, dashes in WAITS.items()]
    if measured:
        drawn.append(("this CPU, measured", *zip(*measured, strict=True), {"marker": "o"}))
    axes.plot(batch, waits[longest], "o", color="none", markeredgecolor=VERMILLION, markersize=9)
    lines(axes, drawn)
    spoken = "; ".join(f"batch {size}: {units.seconds(time)}" for size, time in measured)
    return Picture(figure, f"{title} This CPU, measured: {spoken or 'nothing at this size'}.")
