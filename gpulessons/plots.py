"""Pictures of timings: one message each, said in the title, computed and never typed.

Every function takes timings or comparisons and returns a Picture: it displays itself with its alt
text, and its `axes` can be drawn on. One color means one backend in the whole course, and a marker
says it again; live is solid, recorded dashed, published open markers, modelled a thin line.
"""

import base64
import io
from functools import cached_property
from html import escape

import numpy as np

from gpulessons import units

# As far from white as from a dark page (#111): 4.3 to 1 on both.
INK = "#797979"
# Okabe and Ito's palette, told apart by every common kind of color vision.
BLUE, SKY, GREEN, VERMILLION, ORANGE, PURPLE = (
    "#0072B2", "#56B4E9", "#009E73", "#D55E00", "#E69F00", "#CC79A7",
)  # fmt: skip
COLORS = {"host": BLUE, "torch_cpu": GREEN, "gpu": VERMILLION, "torch_gpu": ORANGE}
MARKERS = {"host": "o", "torch_cpu": "s", "gpu": "^", "torch_gpu": "D"}


class Picture:
    """A figure with its message in words. Drawn when first shown, at twice the pixels it covers."""

    def __init__(self, figure, alt):
        self.figure, self.alt = figure, alt
        self.axes = figure.axes[0]

    @cached_property
    def png(self):
        from PIL import Image

        drawn, packed = io.BytesIO(), io.BytesIO()
        self.figure.savefig(drawn, format="png", dpi=200, transparent=True)
        # 256 colors are plenty for a chart, and a notebook a quarter the size is worth it.
        few = Image.open(drawn).quantize(256, Image.Quantize.FASTOCTREE)
        few.save(packed, format="png", optimize=True)
        return base64.b64encode(packed.getvalue()).decode()

    def _repr_html_(self):
        width = round(100 * self.figure.get_figwidth())
        return (
            f'<img src="data:image/png;base64,{self.png}" alt="{escape(self.alt)}" '
            f'width="{width}" style="max-width: 100%; height: auto">'
        )

    def _repr_mimebundle_(self, include=None, exclude=None):
        # HTML, because JupyterLab gives a bare image no alt text; the image, for pages that
        # strip HTML down.
        data = {"text/plain": self.alt, "text/html": self._repr_html_(), "image/png": self.png}
        return data, {"image/png": {"alt": self.alt}}

    def __repr__(self):
        return self.alt


def blank(width=7.2, height=3.6, title="", **subplots):
    """(figure, axes) in the course's style: no box, grey ink, a title as a sentence."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(**subplots)
    for one in getattr(axes, "flat", [axes]):
        restyle(one)
    figure.suptitle(title, color=INK, fontsize=12, x=0.01, ha="left", wrap=True)
    return figure, axes


def restyle(axes):
    """Grey ink and no box, legible on a white page and on a dark one."""
    axes.tick_params(colors=INK, which="both", labelsize=10)
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(INK)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    axes.patch.set_alpha(0)


def scaling(comparison, *, versions=None):
    """Time of one call against size, both on log scales: where a line is flat, size is free."""
    title = fastest(comparison)
    figure, axes = blank(height=4.2, title=title)
    labels = []
    for one in (comparison, *comparison.beside):
        for version in versions or one.versions:
            timings = [t for t in one.timings if t.version == version]
            if timings:
                draw_line(axes, one, timings)
                where = "" if one.tier == "live" else f", {one.label()}"
                labels.append((timings[-1], f"{version}{where}"))
    log_axes(axes)
    label_ends(axes, labels)
    return Picture(figure, f"{title} {words(comparison)}")


def log_axes(axes):
    """Size against time, both on log scales and said so."""
    axes.set(xscale="log", yscale="log")
    axes.set(xlabel="elements (log scale)", ylabel="time of one call (log scale)")
    axes.yaxis.set_major_formatter(lambda seconds, _: units.seconds(seconds))
    axes.xaxis.set_major_formatter(lambda size, _: units.count(int(size)))


def draw_line(axes, comparison, timings):
    """One version over its sizes, with the middle half of its samples as a band."""
    sizes, medians = [t.size for t in timings], [t.median for t in timings]
    low, high = zip(*(t.quartiles for t in timings), strict=True)
    backend = timings[0].backend
    color = COLORS[backend]
    style = "-" if comparison.tier == "live" else "--"
    axes.plot(sizes, medians, style, color=color, marker=MARKERS[backend], markersize=5)
    axes.fill_between(sizes, low, high, color=color, alpha=0.25, linewidth=0)


def label_ends(axes, labels):
    """Each line's name at its right end, moved apart where they would overlap."""
    axes.figure.draw_without_rendering()
    height = axes.bbox.height
    ends = axes.transData.transform([(t.size, t.median) for t, _ in labels])[:, 1] - axes.bbox.y0
    previous = -1e9
    for y, (timing, text) in sorted(zip(ends, labels, strict=True), key=lambda end: end[0]):
        y = max(y, previous + 0.062 * height)
        previous = y
        axes.annotate(
            text, (1.02, y / height), xycoords="axes fraction",
            va="center", fontsize=9.5, color=COLORS[timing.backend], annotation_clip=False,
        )  # fmt: skip


def bars(comparison, size=None, *, title=""):
    """How many times faster than the slowest, at one size, on a log scale; the time at each end."""
    size = comparison.sizes[-1] if size is None else size
    rows = [
        (one, t) for one in (comparison, *comparison.beside) for t in one.timings if t.size == size
    ]
    rows.sort(key=lambda row: -row[1].median)
    title = title or fastest(comparison, size)
    figure, axes = blank(height=0.9 + 0.36 * len(rows), title=title)
    slowest = rows[0][1].median
    for y, (one, timing) in enumerate(rows):
        recorded = one.tier != "live"
        factor = slowest / timing.median
        axes.barh(
            y, factor, left=0, height=0.68, color="none" if recorded else COLORS[timing.backend],
            edgecolor=COLORS[timing.backend], linestyle="--" if recorded else "-",
        )  # fmt: skip
        marks = f" ({timing.noise})" if timing.noise else ""
        label = f" {timing.words}, {units.ratio(factor)}{marks}"
        axes.text(factor, y, label, va="center", fontsize=9.5, color=INK)
    names = [t.version if one.tier == "live" else f"{t.version}\n{one.label()}" for one, t in rows]
    axes.set_yticks(range(len(rows)), names)
    fastest_factor = slowest / min(t.median for _, t in rows)
    axes.set(
        xscale="log",
        xlim=(0.8, 6 * fastest_factor),
        xlabel="times faster than the slowest (log scale)",
    )
    axes.xaxis.set_major_formatter(lambda factor, _: units.ratio(factor))
    return Picture(figure, f"{title} {words(comparison, size)}")


def ceiling(timings, limit, *, name="copy", names=(), title=""):
    """Bytes per second of some timings under the machine's measured ceiling (bytes/s)."""
    timings = list(timings)
    best = max(timings, key=lambda t: t.bandwidth)
    share = best.bandwidth / limit
    title = title or f"{best.version}: {share:.0%} of this machine's {name} speed."
    figure, axes = blank(height=1.2 + 0.36 * len(timings), title=title)
    for y, timing in enumerate(reversed(timings)):
        axes.barh(y, timing.bandwidth, height=0.68, color=COLORS[timing.backend])
        axes.text(timing.bandwidth, y, f" {units.rate(timing.bandwidth, 'B/s')}", va="center",
                  fontsize=9.5, color=INK)  # fmt: skip
    axes.axvline(limit, color=INK, linewidth=1.5)
    axes.text(limit, len(timings) - 0.45, f"{name} ceiling\n{units.rate(limit, 'B/s')}",
              color=INK, fontsize=9.5, ha="center", va="bottom")  # fmt: skip
    axes.set_yticks(range(len(timings)), [t.version for t in reversed(timings)])
    axes.set(xlim=(0, 1.25 * max(limit, best.bandwidth)), xlabel="bytes per second")
    axes.xaxis.set_major_formatter(lambda rate, _: units.rate(rate, "B/s"))
    spoken = "; ".join(f"{t.version} {units.rate(t.bandwidth, 'B/s')}" for t in timings)
    return Picture(figure, f"{title} Ceiling {units.rate(limit, 'B/s')}. {spoken}.")


def stages(timing, label=""):
    """The four times of one use, side by side: first call, send, compute, fetch."""
    parts = {
        "send": timing.send, "compute": timing.wait, "fetch": timing.fetch,
    }  # fmt: skip
    total = sum(parts.values())
    share = timing.wait / total
    title = f"Of one use of {timing.version!r}, {share:.0%} is computing."
    figure, axes = blank(height=1.8, title=title)
    start = 0.0
    for (name, seconds), color in zip(parts.items(), (SKY, VERMILLION, GREEN), strict=True):
        axes.barh(0, seconds, left=start, color=color, height=0.5)
        if seconds > 0.08 * total:
            axes.text(start + seconds / 2, 0.36, f"{name}\n{units.seconds(seconds)}", ha="center",
                      va="bottom", fontsize=9.5, color=INK)  # fmt: skip
        start += seconds
    axes.set(
        yticks=[],
        ylim=(-0.3, 0.9),
        xlabel=f"time; the first call took {units.seconds(timing.first)} {label}",
    )
    axes.xaxis.set_major_formatter(lambda seconds, _: units.seconds(seconds))
    spoken = ", ".join(f"{name} {units.seconds(seconds)}" for name, seconds in parts.items())
    return Picture(figure, f"{title} {spoken}; first call {units.seconds(timing.first)}.")


def crossover(comparison, model):
    """The CPU's best time at each size, and modelled ones: model is {name: function of size}.

    The title says from which size on each model is below the CPU, or that it never is.
    """
    sizes = np.geomspace(comparison.sizes[0], comparison.sizes[-1], 200)
    best = [comparison.best("host", "torch_cpu", size=size) for size in comparison.sizes]
    cpu = np.exp(
        np.interp(np.log(sizes), np.log(comparison.sizes), np.log([t.median for t in best]))
    )
    wins = {
        name: first_below(sizes, np.array([time(n) for n in sizes]), cpu)
        for name, time in model.items()
    }
    title = "; ".join(f"{name}: {win}" for name, win in wins.items())
    figure, axes = blank(
        height=3.8, title=f"Where the GPU gets ahead. {title[:1].upper()}{title[1:]}."
    )
    axes.plot(sizes, cpu, color=BLUE, linewidth=2)
    axes.plot(comparison.sizes, [t.median for t in best], "o", color=BLUE, markersize=5)
    axes.annotate("this CPU, measured", (sizes[0], cpu[0]), (4, -4), textcoords="offset points",
                  color=BLUE, va="top", fontsize=9.5)  # fmt: skip
    for (name, time), style in zip(model.items(), ("-", "--", ":"), strict=False):
        times = [time(n) for n in sizes]
        axes.plot(sizes, times, style, color=VERMILLION, linewidth=1)
        axes.annotate(
            f"{name}, modelled", (sizes[-1], times[-1]), (4, 0), textcoords="offset points",
            color=VERMILLION, va="center", fontsize=9.5, annotation_clip=False,
        )  # fmt: skip
    log_axes(axes)
    return Picture(figure, f"{figure.get_suptitle()} {words(comparison)}")


def first_below(sizes, model, measured):
    """In words: from which size on the model is faster."""
    below = np.flatnonzero(model < measured)
    if below.size == 0:
        return "never, at these sizes"
    return (
        "at every size" if below[0] == 0 else f"from {units.count(round_to_two(sizes[below[0]]))}"
    )


def round_to_two(value):
    """Two digits: a crossover is not known better."""
    return int(float(f"{value:.2g}"))


def images(named, title=""):
    """Pictures side by side, each under its name. Values in 0…1, (rows, columns[, 3])."""
    import matplotlib

    figure, axes = blank(height=3.4, title=title, ncols=len(named), squeeze=False)
    for one, (name, image) in zip(axes.flat, named.items(), strict=True):
        one.imshow(image, cmap=matplotlib.colormaps["gray"], vmin=0, vmax=1)
        one.set_axis_off()
        one.set_title(name, color=INK, fontsize=11)
    return Picture(figure, f"{title} Side by side: {', '.join(named)}.".strip())


def fastest(comparison, size=None):
    """The message of a comparison in one sentence."""
    size = comparison.sizes[-1] if size is None else size
    timings = [t for t in comparison.timings if t.size == size]
    if not timings:
        return f"Nothing of {comparison.op} was measured at {units.count(size)} elements."
    best, worst = (choose(timings, key=lambda t: t.median) for choose in (min, max))
    gain = units.ratio(worst.median / best.median)
    what = f"{comparison.op}, {units.count(size)} elements"
    return f"{what}: {best.version} is fastest, {gain} {worst.version}."


def words(comparison, size=None):
    """Every figure of a picture, for those who cannot see it."""
    chosen = [t for t in comparison.timings if size in (None, t.size)]
    return "; ".join(f"{t.version} at {units.count(t.size)}: {t.words}" for t in chosen) + "."
