"""Pictures of dense layers and the network made of them: batches, parameters, curves, digits."""

import math
from collections import Counter

import numpy as np

from gpulessons import units
from gpulessons.measure.results import Comparison
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import LOOKS, listed, log_lines
from gpulessons.plots.picture import COLORS, DASH_DOT, INK, Picture, blank
from gpulessons.plots.published import open_lines

# Toolkits on one CPU share a backend's color, so a curve has one of its own, and its own dashes.
DASHES = {"live": "-", "recorded": "--", "modelled": DASH_DOT}
TOOLKITS = "NumPy", "CUDA", "PyTorch on CPU", "Numba", "PyTorch on GPU"


def per_example(comparison: Comparison, models=None) -> Picture:
    """Time of one example against the batch it comes in, both on log scales.

    Versions of one backend share its color, and each has its own mark and dashes.
    models: {name: function of the batch's size, in seconds for one call}, drawn as thin lines.
    """
    best = {size: comparison.best(size=size) for size in comparison.sizes}
    best = {size: timing for size, timing in best.items() if timing}
    drawn, of_backend = [], Counter()
    for version in comparison.versions:
        timings = [t for t in comparison.timings if t.version == version]
        if timings:
            backend = timings[0].backend
            look = {**LOOKS[of_backend[backend] % len(LOOKS)], "color": COLORS[backend]}
            of_backend[backend] += 1
            drawn.append((version, [t.size for t in timings], [t.median / t.size for t in timings],
                          look))
    for name, model in (models or {}).items() if best else ():
        sizes = np.geomspace(min(best), max(best), 100)
        each = [model(size) / size for size in sizes]
        drawn.append((name, sizes, each, {"color": INK, "linewidth": 1}))
    return log_lines(
        drawn, ("examples in the batch", units.count), ("time of one example", units.seconds),
        title=batched(best), ticks=sorted(best),
        spoken=f"{comparison.label()}, for one example.",
    )


def on_cards(rows, comparison: Comparison, models) -> Picture:
    """Time of one example against the batch it comes in: by libraries, published; by kernels, as
    measured here, else as modelled for the comparison's first GPU, with the interval.

    rows: published figures of one layer. models: as `per_example` takes them.
    """
    each = open_lines(rows, "batch", lambda row: f"{row.what} on {row.device}, {row.dtype}",
                      lambda row: row.value / row.sizes["batch"])
    paper = comparison.on_paper()
    each += [line for one in (comparison, *comparison.beside, paper) for line in kernels_of(one)]
    batches = sorted({size for _, sizes, *_ in each for size in sizes})
    for name, model in models.items():
        sizes = np.geomspace(batches[0], batches[-1], 100)
        each.append((name, sizes, [model(size) / size for size in sizes],
                     {"color": INK, "linewidth": 1}))
    notes = dict.fromkeys(f"published: {row.citation}" for row in rows)
    notes |= {paper.label(): None} if paper.estimates else {}
    picture = log_lines(each, ("examples in the batch", units.count),
                        ("time of one example", units.seconds), title=growth(rows),
                        ticks=[1, 16, 128, 1024, 7000], spoken=f"{'; '.join(notes)}.")
    picture.axes.set_xlabel("\n".join([picture.axes.get_xlabel(), *notes]), linespacing=1.4)
    for t in paper.estimates:
        ends = [end / t.size for end in t.quartiles]
        picture.axes.vlines(t.size, *ends, color=COLORS[t.backend], linewidth=1)
    return picture


def kernels_of(comparison: Comparison):
    """Each version's time of one example as a line, which shows whether it was measured here."""
    for version, mark in zip(comparison.versions, "vPX*", strict=False):
        times = [t for t in (*comparison.timings, *comparison.estimates) if t.version == version]
        if times:
            color, tier = COLORS[times[0].backend], comparison.tier
            look = {"color": color, "linewidth": 1, "marker": mark, "linestyle": DASHES[tier],
                    "markerfacecolor": color if tier == "live" else "none"}
            each = [t.median / t.size for t in times]
            yield f"{version} ({tier})", [t.size for t in times], each, look


def growth(rows) -> str:
    """How much longer the next to last batch of each published line takes than its first."""
    grown, batches = [], sorted({row.sizes["batch"] for row in rows})
    few, many = batches[0], batches[-2]
    for device, dtype in dict.fromkeys((row.device, row.dtype) for row in rows):
        took = {row.sizes["batch"]: row.value for row in rows
                if (row.device, row.dtype) == (device, dtype)}
        grown.append(f"{took[many] / took[few]:.2g} times on a {device} in {dtype}")
    return (f"For {many / few:g} times the examples, {few} to {many}, a library's time grows "
            f"{', '.join(grown)}.")


def batched(best):
    """What an example takes in the smallest and in the largest batch: {batch: Timing}."""
    each = {size: t.median / size for size, t in best.items() if t.noise != "too noisy"}
    if len(each) < 2:
        return "Too noisy to say what an example takes in a batch."
    alone, most = min(each), max(each)
    few = "Alone" if alone == 1 else f"In a batch of {alone}"
    return (f"{few} an example takes {units.seconds(each[alone])}, in a batch of "
            f"{units.count(most)} it takes {units.seconds(each[most])}.")


def curves(runs) -> Picture:
    """What networks have learned, against epochs and against seconds: {toolkit: its epochs}."""
    lasts = {toolkit: epochs[-1] for toolkit, epochs in runs.items()}
    low, high = (choose(last.accuracy for last in lasts.values()) for choose in (min, max))
    reached = f"{high:.1%}" if high - low < 5e-4 else f"{low:.1%} to {high:.1%}"
    took = [f"{toolkit} {units.seconds(last.seconds)}" for toolkit, last in lasts.items()]
    title = (f"{reached} of the held-out digits after {next(iter(lasts.values())).number} epochs. "
             f"In one run each: {', '.join(took)}.")
    figure, (left, right) = blank(height=3.8, width=8.2, title=title, ncols=2, sharey=True)
    for toolkit, epochs in runs.items():
        look = {**LOOKS[TOOLKITS.index(toolkit)], "marker": "", "linewidth": 2, "label": toolkit}
        shares = [epoch.accuracy for epoch in epochs]
        left.plot([epoch.number for epoch in epochs], shares, **look)
        right.plot([epoch.seconds for epoch in epochs], shares, **look)
    left.set(xlabel="epoch", ylabel="held-out digits read rightly")
    written(left.yaxis, "{:.0%}".format)
    log_axes(right, x=("seconds of training", units.seconds))
    right.legend(frameon=False, labelcolor=INK, fontsize=10, loc="lower right")
    return Picture(figure, f"{title} {listed(lasts)}.")


def wrong(images: np.ndarray, labels: np.ndarray, probabilities: np.ndarray) -> Picture:
    """The digits that a network reads wrongly, twenty at most, those it is surest of first.

    probabilities: (n, 10). Under each: what it is, what the network says, and how sure it is.
    """
    said, sure = probabilities.argmax(1), probabilities.max(1)
    (places,) = np.nonzero(said != labels)
    shown = sorted(places, key=lambda place: -sure[place])[:20]
    title = f"{len(places)} of {len(labels)} held-out digits are read wrongly."
    if len(places) > len(shown):
        title += f" Here are the {len(shown)} it is surest of."
    captions = [f"{labels[n]}, read as {said[n]}\n{sure[n]:.0%} sure" for n in shown]
    return grid(images[shown], captions, title=title, columns=6)


def grid(images: np.ndarray, captions=(), *, title, columns: int = 10) -> Picture:
    """Small pictures in rows, each with its caption: more is darker, as ink on paper."""
    rows = max(1, math.ceil(len(images) / columns))
    tall = 0.95 if captions else 0.72
    figure, axes = blank(height=0.5 + tall * rows * 10 / columns, title=title, nrows=rows,
                         ncols=columns, squeeze=False)
    for one in axes.flat:
        one.set_axis_off()
    for one, image in zip(axes.flat, images, strict=False):
        one.imshow(image, cmap="gray_r")
    for one, caption in zip(axes.flat, captions, strict=False):
        one.set_title(caption, color=INK, fontsize=9, pad=3)
    spoken = "; ".join(caption.replace("\n", ", ") for caption in captions)
    return Picture(figure, f"{title} {spoken}".strip())
