"""Pictures of dense layers, by the batch."""

from collections import Counter

import numpy as np

from gpulessons import units
from gpulessons.measure.results import Comparison
from gpulessons.plots.axes import two_ticks
from gpulessons.plots.forms import LOOKS, log_lines
from gpulessons.plots.picture import BLUE, COLORS, INK, ORANGE, Picture
from gpulessons.plots.published import open_lines


def per_example(comparison: Comparison, models=None) -> Picture:
    """Time of one example against the batch it comes in, both on log scales.

    Versions of one backend share its color, and each has its own mark and dashes.
    models: {name: function of the batch's size, in seconds for one call}, drawn as thin lines.
    """
    best = {size: timing for size in comparison.sizes if (timing := comparison.best(size=size))}
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


def on_card(rows, bound) -> Picture:
    """The time of one example against its batch, by a library on one card, as published, each kind
    of numbers with its bound: bound(dtype, batch), in seconds for one call.
    """
    drawn, grown = [], []
    lines = open_lines(rows, "batch", "dtype", lambda row: row.value / row.sizes["batch"])
    for (name, sizes, each, look), color in zip(lines, (BLUE, ORANGE), strict=False):
        dtype = name.removesuffix(" (published)")
        drawn.append((name, sizes, each, look | {"color": color, "linestyle": "none"}))
        through = np.geomspace(sizes[0], sizes[-1], 100)
        limits = [bound(dtype, batch) / batch for batch in through]
        drawn.append((f"bound, {dtype}", through, limits, {"color": color, "linewidth": 1}))
        took = {size: size * time for size, time in zip(sizes, each, strict=True)}
        grown.append(f"{took[128] / took[16]:.2g} times ({dtype})")
    title = f"On a {rows[0].device} 128 examples take {' or '.join(grown)} as long as 16."
    picture = log_lines(drawn, ("examples in the batch", units.count),
                        ("time of one example", units.seconds), title=title, ticks=sizes)
    two_ticks(picture.axes.yaxis)
    picture.axes.set_xlabel(f"{picture.axes.get_xlabel()}\npublished: {rows[0].citation}")
    return picture


def batched(best):
    """What an example takes in the smallest and in the largest batch: {batch: Timing}."""
    each = {size: t.median / size for size, t in best.items() if t.noise != "too noisy"}
    if len(each) < 2:
        return "Too noisy to say what an example takes in a batch."
    alone, most = min(each), max(each)
    few = "Alone" if alone == 1 else f"In a batch of {alone}"
    return (f"{few} an example takes {units.seconds(each[alone])}, in a batch of "
            f"{units.count(most)} it takes {units.seconds(each[most])}.")
