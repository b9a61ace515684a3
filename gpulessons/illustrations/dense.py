"""Pictures of dense layers, by the batch."""

from collections import Counter

import numpy as np

from gpulessons import units
from gpulessons.measure.results import Comparison
from gpulessons.plots.forms import LOOKS, log_lines
from gpulessons.plots.picture import BLUE, COLORS, GREEN, INK, ORANGE, Picture
from gpulessons.plots.published import open_lines

DTYPES = {"float32": BLUE, "float16": ORANGE, "bfloat16": ORANGE}


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
        drawn.append((name, sizes, [model(n) / n for n in sizes], {"color": INK, "linewidth": 1}))
    return log_lines(
        drawn, ("examples in the batch", units.count), ("time of one example", units.seconds),
        title=batched(best), ticks=sorted(best), spoken=f"{comparison.label()}, for one example.")


def on_cards(rows, bounds) -> Picture:
    """The time of a call against its batch, as published: a line for each device and kind of
    numbers, named with where it grows. bounds: {dtype: seconds of a batch}, thin lines."""
    drawn, growth = [], []
    for name, sizes, each, look in open_lines(rows, "batch", lambda r: f"{r.device}, {r.dtype}"):
        told, took = name.removesuffix(" (published)"), dict(zip(sizes, each, strict=True))
        look["color"] = GREEN if "Xeon" in told else DTYPES[told.split(", ")[1]]
        drawn.append((f"{told}, from {grows(took):,}", sizes, each, look | {"linestyle": ":"}))
        growth.append(took[128] / took[16])
    title = (f"Published: 128 examples take {min(growth):.2g} to {max(growth):.2g} times as long "
             "as 16, not 8.")
    picture = log_lines(drawn, ("examples in the batch", units.count),
                        ("time of a call", units.seconds), title=title, ticks=(1, 16, 128, 7000))
    through = np.geomspace(16, 7000, 100)
    for dtype, bound in bounds.items():
        picture.axes.plot(through, [*map(bound, through)], color=DTYPES[dtype], linewidth=1)
    return picture


def grows(took):
    """The first batch of {batch: seconds} that takes a quarter longer than a smaller one."""
    return next(at for at in took if took[at] > 1.25 * min(took[n] for n in took if n <= at))


def batched(best):
    """What an example takes in the smallest and in the largest batch: {batch: Timing}."""
    each = {size: t.median / size for size, t in best.items() if t.noise != "too noisy"}
    if len(each) < 2:
        return "Too noisy to say what an example takes in a batch."
    alone, most = min(each), max(each)
    few = "Alone" if alone == 1 else f"In a batch of {alone}"
    return (f"{few} an example takes {units.seconds(each[alone])}, in a batch of "
            f"{units.count(most)} it takes {units.seconds(each[most])}.")
