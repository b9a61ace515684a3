"""Transfers on a timeline, from published rates: what crosses the link, and how often.

A transfer takes a fixed time and its bytes over the link's rate; a kernel a launch, and its bytes
over the rate of the GPU's memory. The model overlaps nothing.
"""

from typing import NamedTuple

from gpulessons import units
from gpulessons.evidence import published
from gpulessons.plots.axes import written
from gpulessons.plots.forms import beside, key, listed, name_rows
from gpulessons.plots.picture import BLUE, HATCH, INK, SKY, VERMILLION, Picture, blank
from warplens.model.modelling import LAUNCH

GPU = "A100 80 GB"
COLORS = {"transfers": SKY, "kernels": VERMILLION, "this CPU": BLUE}


class Step(NamedTuple):
    what: str  # of COLORS
    start: float  # seconds
    end: float


def link(memory: str) -> list[float]:
    """Bytes/s to the card, and back, as published; memory: "pageable" or "pinned"."""
    ways = [f"bandwidthTest, {memory}: {way}" for way in ("to the card", "back")]
    return [published("host to device", device=GPU, what=way)[0].value for way in ways]


def fixed() -> float:
    """Seconds that next to nothing takes to cross: the smallest transfer published, 4 KiB to a
    V100, the host's wait included. Other hosts wait less, so it is taken for the most."""
    row, *_ = published("host to device", device="V100")
    return 1024 * row.sizes["kib"] / row.value


def timeline(numbers: int, layers: int, cpu: tuple[float, float] | None = None) -> Picture:
    """Layers of one activation on float32 numbers, sent and fetched once, or for each layer; beside
    a CPU that needs so many seconds for the first layer, and for each further one."""
    rows = {f"A100, {memory}": steps(numbers, [layers], memory)
            for memory in ("pageable", "pinned")}
    title = units.plural(layers, "layer") + ", data stay" * (layers > 1)
    if cpu:
        whole = cpu[0] + (layers - 1) * cpu[1]
        told = " and ".join(f"{units.ratio(row[-1].end / whole)} ({name.split()[-1]})"
                            for name, row in rows.items())
        title += f": on the GPU {told} as long as on this CPU"
        rows["this CPU"] = [Step("this CPU", 0, whole)]
    if layers > 1:
        rows = {"A100, pageable, a round trip each": steps(numbers, [1] * layers, "pageable"),
                **rows}
    figure, axes = blank(height=1.7 + 0.5 * len(rows), title=f"{title}.")
    for place, row in enumerate(rows.values()):
        for what, color in COLORS.items():
            spans = [(step.start, step.end - step.start) for step in row if step.what == what]
            axes.broken_barh(spans, (place - 0.36, 0.72), facecolor=color, edgecolor=INK,
                             hatch=HATCH * (what != "this CPU"), linewidth=0)
        beside(axes, units.seconds(row[-1].end), row[-1].end, place)
    name_rows(axes, rows)
    axes.set_xlim(0, 1.13 * max(row[-1].end for row in rows.values()))
    whose = (f"hatched: modelled for an {GPU}, its link and memory at published rates,\n"
             f"{units.seconds(LAUNCH)} assumed for each launch, {units.seconds(fixed())} for each "
             "transfer, as of a V100")
    axes.set_xlabel(f"time since the start\n{whose}")
    written(axes.xaxis, units.seconds)
    axes.locator_params(axis="x", nbins=6)
    key(figure, {what: {"color": color} for what, color in COLORS.items()
                 if cpu or what != "this CPU"})
    alt = listed({name: units.seconds(row[-1].end) for name, row in rows.items()})
    return Picture(figure, f"{title}. {units.count(numbers)} numbers. {alt}. {whose}.")


def steps(numbers: int, trips: list[int], memory: str) -> list[Step]:
    """The steps of some trips to the GPU and back, `trips` saying how many layers each is for."""
    nbytes, (there, back) = 4 * numbers, link(memory)
    own = published("bandwidth by occupancy", device=GPU, what="scale")[-1]  # the fastest
    kernel = LAUNCH + 2 * nbytes / own.value
    done, now = [], 0.0
    for layers in trips:
        for what, seconds in [("transfers", fixed() + nbytes / there),
                              *[("kernels", kernel)] * layers,
                              ("transfers", fixed() + nbytes / back)]:
            done.append(Step(what, now, now + seconds))
            now += seconds
    return done
