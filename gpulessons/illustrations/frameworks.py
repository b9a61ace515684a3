"""Pictures of what a framework does: its layers, a step's floor, who calls whom."""

from functools import partial

from gpulessons import units
from gpulessons.plots import forms
from gpulessons.plots.axes import name_rows, written
from gpulessons.plots.forms import key, percent
from gpulessons.plots.picture import BLUE, COLORS, INK, MARKERS, VERMILLION, Picture, blank

from .drawings import drawing

# From a line of Python down to what computes, one box for each layer.
layers = partial(drawing, "layers")
PRODUCTS = "aten::mm", "aten::addmm"
DEEPEST = 6  # rows of a timeline


def floor(took: dict[int, float], wide: int, narrow: int) -> Picture:
    """Time of a step against the width of its layers, measured: {width: seconds}. Beside it, how
    it would fall if nothing but arithmetic took time."""
    last = max(took)
    by_work = {width: took[last] * (width / last) ** 2 for width in took}
    title = (f"{(wide // narrow) ** 2:,} times less arithmetic: {units.seconds(took[narrow])} "
             f"instead of {units.seconds(took[wide])}.")
    look = {"color": COLORS["torch_cpu"], "marker": MARKERS["torch_cpu"]}
    picture = forms.log_lines(
        [("measured", [*took], [*took.values()], look),
         ("as width²", [*took], [*by_work.values()], {"color": INK, "linestyle": ":"})],
        ("numbers in each layer", units.count), ("time of a step", units.seconds),
        ticks=[*took], title=title)
    picture.axes.axhline(min(took.values()), color=INK, linewidth=0.8, linestyle="--")
    picture.axes.set_ylim(min(took.values()) / 30, 3 * took[last])
    return picture


def ways(took: dict[str, dict[int, float]]) -> Picture:
    """Time of a step against its layers' width, {way: {width: seconds}}; the first way is eager."""
    (first, eager), *others = took.items()
    title = "; ".join(
        f"{units.plural(width, 'number')} a layer: {units.seconds(eager[width])} {first}, "
        f"{units.seconds(min(other[width] for _, other in others))} with fewer calls"
        for width in (min(eager), max(eager)))
    return forms.log_lines(
        [(way, [*each], [*each.values()], look)
         for (way, each), look in zip(took.items(), forms.LOOKS, strict=False)],
        ("numbers in each layer", units.count), ("time of a step", units.seconds),
        ticks=[*eager], title=f"{title}.")


def queue(kernels: int, runs: float, every: float) -> Picture:
    """A step of so many kernels in a row, each of `runs` seconds, launched every `every` seconds:
    when each is launched, and when it runs. A kernel starts when the one before it has ended."""
    asked = [every * (n + 1) for n in range(kernels)]
    starts, ended = [], 0.0
    for moment in asked:
        starts.append(max(moment, ended))
        ended = starts[-1] + runs
    busy = kernels * runs / (ended - every)  # the first launch hides behind the step before
    waits = "the kernels" if runs >= every else "the launches"
    title = (
        f"{units.plural(kernels, 'kernel')} of {units.seconds(runs)}, one launched every "
        f"{units.seconds(every)}: the step waits for {waits}, the GPU is busy {busy:.0%} of it."
    )
    figure, axes = blank(width=7.6, height=2.4, title=title)
    for moment, start in zip(asked, starts, strict=True):
        axes.barh(0, 0.94 * every, left=moment - every, height=0.5, color=INK, alpha=0.35)
        axes.barh(1, 0.94 * runs, left=start, height=0.5, color=BLUE)
    name_rows(axes, ["launches", "the GPU runs"])
    axes.set_xlim(0, max(ended, 41e-6))
    axes.set_xlabel("time (modelled)")
    written(axes.xaxis, units.seconds)
    return Picture(figure, f"{title} All has run after {units.seconds(ended)}.")


def timelines(seen, alone) -> Picture:
    """Steps as torch's profiler saw them, one below the other: {name: profile}. Time to the right;
    a bar below another was called by it; products of matrices in a color of their own.
    alone: {name: seconds, unwatched}."""
    figure, panels = blank(10, 2.4 * len(seen), nrows=len(seen), squeeze=False)
    told = []
    for axes, (name, profile) in zip(panels.flat, seen.items(), strict=True):
        rows = nested(profile.events())
        whole = max(stop for row in rows for _, stop, _ in row)
        for depth, row in enumerate(rows):
            for color, wanted in ((VERMILLION, False), (BLUE, True)):
                bars = [(start, stop - start) for start, stop, called in row
                        if (called in PRODUCTS) is wanted]  # fmt: skip
                axes.broken_barh(bars, (depth - 0.42, 0.84), facecolor=color)
        computing = sum(stop - start for row in rows for start, stop, called in row
                        if called in PRODUCTS)  # fmt: skip
        told.append(f"{percent(computing / whole)} in the {name} step")
        axes.set_yticks([0], ["calls"])
        axes.set_ylim(len(rows) - 0.5, -1.1)
        for words, start, stop in phases(rows, whole):
            if stop - start > 0.05 * whole:
                axes.text((start + stop) / 2, -0.75, words, color=INK, fontsize=9, ha="center")
            axes.axvline(start, color=INK, linewidth=0.5, linestyle=":")
        axes.set_xlim(0, whole)
        took = f"{units.seconds(whole)} watched, {units.seconds(alone[name])} alone"
        axes.set_title(f"{name}: {took}", color=INK, fontsize=10, loc="left")
        written(axes.xaxis, units.seconds)
    title = f"Of the watched time products of matrices take {' and '.join(told)}."
    figure.suptitle(title, color=INK, fontsize=12, x=0.01, ha="left")
    key(figure, {"a product": {"color": BLUE}, "any other operator": {"color": VERMILLION}})
    return Picture(figure, title)


def phases(rows, whole: float):
    """(name, start, stop) of the four lines of a step."""
    spans = sorted(span for row in rows for span in row)
    back = next(start for start, _, name in spans if name.startswith("autograd::engine"))
    (_, ready), (last, _) = ((start, stop) for start, stop, name in spans
                             if name.startswith("Optimizer."))  # fmt: skip
    ends = 0.0, ready, back, last, whole
    return zip(("zero_grad", "forward", "backward", "update"), ends, ends[1:], strict=False)


def nested(events) -> list[list[tuple[float, float, str]]]:
    """(start, stop, name) of a thread's spans in seconds from the first: those that nothing called,
    those that they called, and so on."""
    found = sorted((one.time_range.start, -one.time_range.end, one.name) for one in events
                   if not one.name.startswith("ProfilerStep"))
    rows, around, first = [], [], found[0][0]
    for start, end, name in found:
        while around and around[-1] <= start:
            around.pop()
        if len(around) < DEEPEST:
            if len(around) == len(rows):
                rows.append([])
            rows[len(around)].append((1e-6 * (start - first), 1e-6 * (-end - first), name))
        around.append(-end)
    return rows
