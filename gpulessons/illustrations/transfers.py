"""Transfers on a timeline, modelled from named figures: what crosses the link, and how often.

    transfer   bytes / the link's rate, by kind of memory and by direction
    kernel     a launch + (bytes read + bytes written) / the rate of the GPU's memory

The model overlaps nothing and lets a transfer start for free. Whoever has a GPU times it instead.
"""

from typing import NamedTuple

from gpulessons import units
from gpulessons.plots.axes import written
from gpulessons.plots.forms import beside, key, listed, name_rows
from gpulessons.plots.picture import BLUE, SKY, VERMILLION, Picture, blank
from warplens.model.devices import named
from warplens.model.modelling import LAUNCH
from warplens.tables import Table

GPU = "A100"
LINK_SOURCE = (
    "CUDA samples' bandwidthTest, 32 MB, an A100-SXM4-80GB in a DGX A100, PCIe 4.0: "
    "github.com/gengwg/gpu, nvda_gpu_benchmark.md"
)
LINKS = {"pageable": (10.0e9, 10.8e9), "pinned": (25.7e9, 25.8e9)}  # bytes/s there, and back
COLORS = {"to_device": SKY, "kernel": VERMILLION, "copy_to_host": BLUE}


class Step(NamedTuple):
    """One stretch of a timeline."""

    what: str  # of COLORS
    start: float  # seconds
    end: float


def figures() -> Table:
    """The figures that the timeline is made of, each with its kind and source."""
    gpu = named(GPU)
    rows = [[f"{memory} memory, there and back",
             " and ".join(units.rate(rate, "B/s") for rate in both), "published", LINK_SOURCE]
            for memory, both in LINKS.items()]
    dram = "; ".join(f"{gpu.sources[each].citation}" for each in ("dram_rate", "dram_share"))
    memory = units.rate(gpu.dram_rate * gpu.dram_share, "B/s")
    rows.append([f"the memory of an {GPU}, 40 GB", memory, "published", dram])
    rows.append(["one launch", units.seconds(LAUNCH), "assumed", "as usual on Linux"])
    return Table("What the timeline is computed from", ["figure", "value", "kind", "source"], rows)


def timeline(numbers: int = 921_600, layers: int = 10) -> Picture:
    """Layers of one activation on float32 numbers, four ways: pageable memory or pinned, sent and
    fetched for each layer or once for all of them."""
    ways = {"a round trip each": [1] * layers, "data stay": [layers]}
    rows = {f"{memory}, {name}": steps(numbers, trips, memory)
            for memory in LINKS for name, trips in ways.items()}
    totals = {name: row[-1].end for name, row in rows.items()}
    each, stay, _, pinned = totals.values()
    title = f"One layer: nothing to save by staying; pinned memory saves {1 - pinned / stay:.0%}."
    if layers > 1:
        title = (f"{layers} layers: data that stay on the GPU save {1 - stay / each:.0%}, "
                 f"and pinned as well {1 - pinned / each:.0%}.")
    figure, axes = blank(height=4, title=title)
    for place, row in enumerate(rows.values()):
        for what, color in COLORS.items():
            spans = [(step.start, step.end - step.start) for step in row if step.what == what]
            axes.broken_barh(spans, (place - 0.36, 0.72), color=color, linewidth=0)
        beside(axes, units.seconds(row[-1].end), row[-1].end, place)
    name_rows(axes, rows)
    axes.set_xlim(0, 1.13 * max(totals.values()))
    axes.set_xlabel(f"time since the start, modelled for an {GPU} of 40 GB on the link of a DGX")
    written(axes.xaxis, units.seconds)
    axes.locator_params(axis="x", nbins=6)
    key(figure, {what: {"color": color} for what, color in COLORS.items()})
    spoken = listed({name: units.seconds(total) for name, total in totals.items()})
    return Picture(figure, f"{title} {units.count(numbers)} numbers. {spoken}. Modelled for an "
                           f"{GPU} of 40 GB on the link of a DGX, not measured.")


def steps(numbers: int, trips, memory: str) -> list[Step]:
    """The steps of some trips to the GPU and back, `trips` saying how many layers each is for."""
    nbytes, gpu = 4 * numbers, named(GPU)
    there, back = LINKS[memory]
    kernel = LAUNCH + 2 * nbytes / (gpu.dram_rate * gpu.dram_share)
    done, now = [], 0.0
    for layers in trips:
        for what, seconds in [("to_device", nbytes / there), *[("kernel", kernel)] * layers,
                              ("copy_to_host", nbytes / back)]:
            done.append(Step(what, now, now + seconds))
            now += seconds
    return done
