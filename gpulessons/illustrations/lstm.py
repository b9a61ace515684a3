"""Pictures of recurrence: a cell with its shapes, what waits for what, the way back through time,
and what a step costs.

As in plots, every title is computed, and every picture says its message in words too.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.boxes import arrow, box, canvas
from gpulessons.plots.picture import BLUE, COLORS, INK, MARKERS, VERMILLION, Picture, blank
from gpulessons.plots.timings import draw_modelled, is_modelled, label_ends

POINTWISE = 26  # operations on one unit after its products: see ops/lstm_cell.py


# -- The cell.


def cell(batch: int, inputs: int, hidden: int) -> Picture:
    """One step of an LSTM, left to right, with the shape of every array."""
    weights = 4 * hidden * (inputs + hidden)
    share = 2 * weights / (2 * weights + POINTWISE * hidden)
    title = f"One step: {share:.1%} of its operations are in two products; the rest is unit by unit"
    figure, axes = canvas((0, 10.4), (0.5, 5.6), height=4.2, title=f"{title}.")
    rows, four = f"({batch}, {hidden})", f"4·{hidden}"
    box(axes, 0.8, 4.85, f"c\n{rows}")
    box(axes, 0.8, 3.2, f"h\n{rows}")
    box(axes, 0.8, 1.2, f"x\n({batch}, {inputs})")
    box(axes, 3, 3.2, f"h uᵀ\nu: ({four}, {hidden})", VERMILLION, wide=2)
    box(axes, 3, 1.2, f"x wᵀ\nw: ({four}, {inputs})", VERMILLION, wide=2)
    box(axes, 5.25, 2.2, f"+ b\n({batch}, {four})")
    for y, gate in ((4.2, "f: σ"), (3.2, "i: σ"), (2.2, "g: tanh"), (1.2, "o: σ")):
        box(axes, 7.1, y, gate, BLUE, tall=0.62)
        arrow(axes, (5.95, 2.2), (6.4, y))
    box(axes, 9.2, 4.6, "c′ = f c + i g\n" + rows, BLUE, wide=1.9)
    box(axes, 9.2, 1.8, "h′ = o tanh c′\n" + rows, BLUE, wide=1.9)
    for start, end in (
        ((1.5, 4.85), (8.25, 4.85)), ((1.5, 3.2), (2, 3.2)), ((1.5, 1.2), (2, 1.2)),
        ((4, 3.2), (4.55, 2.4)), ((4, 1.2), (4.55, 2.0)), ((7.8, 4.2), (8.25, 4.55)),
        ((7.8, 3.2), (8.25, 4.4)), ((7.8, 2.2), (8.25, 4.25)), ((7.8, 1.2), (8.25, 1.7)),
        ((9.2, 4.15), (9.2, 2.25)),
    ):  # fmt: skip
        arrow(axes, start, end)
    return Picture(figure, (
        f"{title}. x ({batch}, {inputs}) times w ({four}, {inputs}), plus h {rows} times u "
        f"({four}, {hidden}), plus b: sums of shape ({batch}, {four}). They are cut into the gates "
        "i, f, o with a sigmoid and g with a tanh; the new c is f c + i g, the new h is o tanh c."
    ))  # fmt: skip


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
    names = ["h uᵀ, cell"] if layers == 1 else [f"layer {layer}" for layer in range(layers)]
    for y, name in enumerate(["x[t] wᵀ", *names], start=-1):
        axes.text(-0.6, y, name, color=INK, ha="right", va="center", fontsize=10)
    for step in range(steps):
        axes.text(step, -1.5, f"t = {step}", color=INK, ha="center", va="center", fontsize=10)
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
    shown = list(range(steps))
    if steps > DRAWN:
        shown = [0, 1, 2, None, steps - 2, steps - 1]
    figure, axes = canvas((-1.75, len(shown) - 0.35), (-1.75, 3.75), height=4.3, title=title)
    for place, step in enumerate(shown):
        if step is None:
            for y in (0, 1.35, 2.7):
                axes.text(place, y, "…", color=INK, ha="center", va="center", fontsize=12)
        else:
            one_step(axes, place, step)
    last = len(shown) - 1
    for place in range(last):
        arrow(axes, (place + 0.38, 2.7), (place + 0.62, 2.7), VERMILLION)
        arrow(axes, (place + 0.62, 0), (place + 0.38, 0), BLUE)
    for y, name in ((2.7, "forward:\nh, c"), (1.35, "kept"), (0, "back:\ndh, dc")):
        axes.text(-0.6, y, name, color=INK, ha="right", va="center", fontsize=10)
    axes.text(last / 2, -1.5, "when the chain is through: dw = Σ dz[t]ᵀ x[t], du = Σ dz[t]ᵀ h[t−1],"
              " one product each", color=INK, ha="center", va="center", fontsize=10)  # fmt: skip
    parts = ", ".join(f"{units.size(size // steps)} of {name}" for name, size in kept.items())
    return Picture(figure, (
        f"{title} A step keeps {parts}, for {batch} examples of {hidden} units. Forward, h and c "
        "go from each step to the next. Back, dh and dc go from each step to the one before, and "
        "each step adds what its own loss says of its h. The weights' gradients wait until the end."
    ))  # fmt: skip


def one_step(axes, place, step):
    """Forward, what is kept, backward: three boxes over each other, and what joins them."""
    box(axes, place, 2.7, f"step {step}", VERMILLION, tall=0.55, wide=0.74)
    box(axes, place, 1.35, "z, h, c", tall=0.55, wide=0.74)
    box(axes, place, 0, f"step {step}", BLUE, tall=0.55, wide=0.74)
    arrow(axes, (place, 3.4), (place, 3.0))
    arrow(axes, (place, 2.4), (place, 1.65))
    arrow(axes, (place, 1.05), (place, 0.3))
    arrow(axes, (place, -0.3), (place, -0.75), BLUE)
    axes.text(place, 3.55, f"x[{step}]", color=INK, ha="center", va="center", fontsize=10)
    axes.text(place, -0.98, f"dz[{step}]", color=INK, ha="center", va="center", fontsize=10)
    axes.text(place + 0.06, 0.62, f"+ d[{step}]", color=INK, ha="left", va="center", fontsize=9)


# -- What a step costs.


def rungs(rows: Sequence[Any], limit: float) -> Picture:
    """Time of one step on each rung, and its share of what a product alone reaches.

    rows: [(name, a Timing, or why there is none, how many steps of a layer one call does)]; limit:
    that product's FLOP/s. A modelled time is drawn as such, and is no rung of the title.
    """
    from matplotlib.ticker import MaxNLocator

    drawn = [(name, t.median / steps, t) for name, t, steps in rows if not isinstance(t, str)]
    timed = [row for row in drawn if not is_modelled(row[2])]
    title = headline(timed, limit)
    missing = {t for _, t, _ in rows if isinstance(t, str)}
    figure, axes = blank(width=7.6, height=1.6 + 0.34 * len(rows), title=title)
    said = []
    for y, (name, timing, steps) in enumerate(rows):
        words = "not measured here"
        if is_modelled(timing):
            about = "at least" if timing.at_least else "≈"
            each = [seconds / steps for seconds in (timing.median, *timing.quartiles)]
            step = units.seconds(float(f"{each[0]:.2g}"))
            words = f"{about} {step}, modelled on {timing.gpu}"
            draw_modelled(axes, y, each, COLORS[timing.backend], words)
        elif not isinstance(timing, str):
            time, color = timing.median / steps, COLORS[timing.backend]
            axes.barh(y, time, height=0.66, color=color)
            words = f"{units.seconds(time)}, {timing.flop_rate / limit:.0%} of the ceiling"
            words += f" ({timing.noise})" if timing.noise else ""
            axes.text(time, y, f" {words}", va="center", fontsize=10, color=INK)
        else:
            axes.text(0, y, f" {words}", va="center", fontsize=10, color=INK)
        said.append(f"{name}: {words}")
    axes.set_yticks(range(len(rows)), [name for name, *_ in rows])
    longest = max((time for _, time, _ in drawn), default=1)
    axes.set(ylim=(len(rows) - 0.4, -0.6), xlim=(0, 2.1 * longest))
    notes = [f"not measured here: {why}" for why in sorted(missing)]
    if any(t.flop_rate > 1.05 * limit for _, _, t in timed):
        notes.append("more than 100%: the ceiling is one library's, taken at another time")
    axes.set_xlabel("\n".join(["time of one step of one layer", *notes]))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} {'; '.join(said)}.")


def headline(timed, limit):
    """From the first rung to the quickest, of those whose samples agree: no other stands here."""
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
            "arithmetic": flops / peak}  # fmt: skip


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
    batches, ends = np.geomspace(1, 4096, 13), []
    lines = [step_waits(each, hidden, **device) for each in batches]
    for name, dashes in WAITS.items():
        times = [each[name] for each in lines]
        axes.plot(batches, times, dashes, color=VERMILLION, linewidth=1)
        ends.append((4096, times[-1], f"{name}, modelled", VERMILLION))
    axes.plot(batch, waits[longest], "o", color="none", markeredgecolor=VERMILLION, markersize=9)
    if measured:
        axes.plot(*zip(*measured, strict=True), color=BLUE, marker=MARKERS["host"], markersize=5)
        ends.append((*measured[-1], "this CPU, measured", BLUE))
    label_ends(axes, ends)
    spoken = "; ".join(f"batch {size}: {units.seconds(time)}" for size, time in measured)
    return Picture(figure, f"{title} This CPU, measured: {spoken or 'nothing at this size'}.")
