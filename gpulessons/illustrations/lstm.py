"""Pictures of recurrence: a cell with its shapes, what waits for what, launches and kernels in a
queue, gradients that fade, what a step costs, and what it waits for.
"""

from itertools import groupby

from gpulessons import units
from gpulessons.plots.axes import written
from gpulessons.plots.forms import LOOKS, beside, listed, log_lines, name_rows
from gpulessons.plots.picture import BLUE, COLORS, INK, VERMILLION, Picture, blank
from gpulessons.plots.timings import draw_modelled, is_modelled

from .drawings import Drawing, drawing

POINTWISE = 26  # operations on one unit after its products: see ops/lstm_cell.py
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


def queue(kernels: int, runs: float, every: float) -> Picture:
    """A step of so many kernels in a row, each of `runs` seconds, asked for every `every` seconds:
    when each is asked for, and when it runs. A kernel starts when the one before it has ended."""
    asked = [every * (n + 1) for n in range(kernels)]
    starts, ended = [], 0.0
    for moment in asked:
        starts.append(max(moment, ended))
        ended = starts[-1] + runs
    busy = kernels * runs / (ended - every)  # the first launch hides behind the step before
    waits = "the kernels" if runs >= every else "the launches"
    title = (
        f"{units.plural(kernels, 'kernel')} of {units.seconds(runs)}, one asked for every "
        f"{units.seconds(every)}: the step waits for {waits}, the GPU works {busy:.0%} of the time."
    )
    figure, axes = blank(width=7.6, height=2.4, title=title)
    for moment, start in zip(asked, starts, strict=True):
        axes.barh(0, 0.94 * every, left=moment - every, height=0.5, color=INK, alpha=0.35)
        axes.barh(1, 0.94 * runs, left=start, height=0.5, color=BLUE)
    name_rows(axes, ["the CPU asks", "the GPU runs"])
    axes.set_xlim(0, max(ended, 41e-6))
    axes.set_xlabel("time (modelled from the published interval between launches)")
    written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} All has run after {units.seconds(ended)}.")


def fading(sizes, forget: float) -> Picture:
    """Mean sizes of the gradients by all ways and along c alone, a pair a step, from the last."""
    every_way, along_c = ([pair[place] for pair in sizes] for place in (0, 1))
    back = [*range(1, len(sizes) + 1)]
    left = along_c[-1] / along_c[0]
    title = (
        f"Forget gate's bias {forget:g}: {units.plural(len(sizes) - 1, 'step')} back the gradient "
        f"along c alone is {left:.2g} of what it was."
    )
    named = [("along c alone", back, along_c, {"color": BLUE}),
             ("of h, by all ways", back, every_way, {"color": VERMILLION, "linestyle": "--"})]
    ends = ", ".join(f"{name} from {ys[0]:.2g} to {ys[-1]:.2g}" for name, _, ys, _ in named)
    return log_lines(named, ("steps back from the loss", units.count),
                     ("mean size of the gradient", lambda size: f"{size:.0e}"), ticks=(1, 10, 60),
                     title=title, spoken=f"{ends}.")


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


def bounds(batch: int, hidden: int, dtype: str, sheet) -> dict[str, float]:
    """Seconds that one step's bytes and its arithmetic need at the least, by a card's data sheet.

    u and four sums come in, h and c come in and go out; input products are done before.
    """
    numbers = 4 * hidden * hidden + batch * (4 * hidden + 4 * hidden)
    return {"bytes": numbers * {"float32": 4, "float16": 2}[dtype] / sheet.memory,
            "arithmetic": batch * hidden * (8 * hidden + POINTWISE) / sheet.peaks[dtype]}


def one_step(row, sheet) -> tuple[float, dict[str, float], str]:
    """Of a published sequence of steps: seconds of one, its bounds, and what it waits for. A step
    far above both bounds waits for neither: for latency, then."""
    least = bounds(row.sizes["batch"], row.sizes["hidden"], row.dtype, sheet)
    seconds, longest = row.value / row.sizes["steps"], max(least, key=least.get)
    return seconds, least, longest if seconds < FAR * least[longest] else "latency"


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
