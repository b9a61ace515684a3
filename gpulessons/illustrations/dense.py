"""Pictures of dense layers, by the batch."""

from collections import Counter

import numpy as np

from gpulessons import units
from gpulessons.measure.results import Comparison
from gpulessons.plots.forms import LOOKS, log_lines
from gpulessons.plots.picture import BLUE, COLORS, INK, ORANGE, Picture
from gpulessons.plots.published import open_lines


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


def on_cards(rows) -> Picture:
    """The time of one layer against its batch, by libraries on cards and CPUs, as published.

    rows: published figures of one layer, each at the same batches. Tensor cores have a color.
    """
    each = []
    for name, sizes, times, look in open_lines(rows, "batch", told):
        color = ORANGE if "float16" in name else BLUE if "float32" in name else INK
        each.append((name.removesuffix(" (published)"), sizes, times, look | {"color": color}))
    picture = log_lines(each, ("examples in the batch", units.count),
                        ("time of the layer", units.seconds), title=growth(rows),
                        ticks=sorted({row.sizes["batch"] for row in rows}))
    by = {f"{row.source.title}, {row.source.measured[:4]}": None for row in rows}
    picture.axes.set_xlabel(f"{picture.axes.get_xlabel()}\npublished: {'; '.join(by)}")
    return picture


def told(row) -> str:
    """The device, and what it multiplied; a CPU has float32 alone."""
    return f"{row.device}, {row.dtype}" if row.what == "cuBLAS" else f"{row.device}, a CPU"


def growth(rows) -> str:
    """How much longer the largest batch takes than the quickest smaller one (a library may have a
    worse kernel for the smallest), where least and where most, for each kind of numbers."""
    took, grown = {}, {}
    for row in rows:
        took.setdefault((row.dtype, told(row)), {})[row.sizes["batch"]] = row.value
    for (dtype, _), by_batch in sorted(took.items()):
        largest = by_batch.pop(most := max(by_batch))
        grown.setdefault(dtype, []).append(f"{largest / min(by_batch.values()):.2g}")
    said = " and ".join(f"{' to '.join(dict.fromkeys((min(each), max(each))))} times ({dtype})"
                        for dtype, each in grown.items())
    return f"{most} examples take {said} as long as the quickest smaller batch."


def batched(best):
    """What an example takes in the smallest and in the largest batch: {batch: Timing}."""
    each = {size: t.median / size for size, t in best.items() if t.noise != "too noisy"}
    if len(each) < 2:
        return "Too noisy to say what an example takes in a batch."
    alone, most = min(each), max(each)
    few = "Alone" if alone == 1 else f"In a batch of {alone}"
    return (f"{few} an example takes {units.seconds(each[alone])}, in a batch of "
            f"{units.count(most)} it takes {units.seconds(each[most])}.")
