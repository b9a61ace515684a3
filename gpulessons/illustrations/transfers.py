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
MEMORIES = "pageable", "pinned, staged", "pinned"


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


def timeline(
    numbers: int = 921_600, layers: int = 10, cpu: tuple[float, float] | None = None,
    copying: float = 0,
) -> Picture:
    """Layers of one activation on float32 numbers, sent and fetched once, or for each layer; beside
    a CPU that needs so many seconds for a layer, from its caches and from memory."""
    stay = ", data stay" * (layers > 1)
    rows = {f"{memory}{stay}": steps(numbers, [layers], memory, copying) for memory in MEMORIES}
    if layers > 1:
        rows = {"pageable, a round trip each": steps(numbers, [1] * layers, "pageable"), **rows}
    totals = {name: row[-1].end for name, row in rows.items()}
    title = f"{units.plural(layers, 'layer')}: {told([*totals.values()], layers, cpu)}."
    for seconds, place in zip(cpu or (), ("its caches", "memory"), strict=False):
        rows[f"this CPU, from {place}"] = [Step("this CPU", 0, layers * seconds)]
        totals[f"this CPU, from {place}"] = layers * seconds
    figure, axes = blank(height=1.7 + 0.5 * len(rows), title=title)
    for place, row in enumerate(rows.values()):
        for what, color in COLORS.items():
            spans = [(step.start, step.end - step.start) for step in row if step.what == what]
            axes.broken_barh(spans, (place - 0.36, 0.72), facecolor=color, edgecolor=INK,
                             hatch=HATCH * (what != "this CPU"), linewidth=0)
        beside(axes, units.seconds(row[-1].end), row[-1].end, place)
    name_rows(axes, rows)
    axes.set_xlim(0, 1.13 * max(totals.values()))
    whose = (f"hatched: modelled for an {GPU}, its link and memory at published rates,\n"
             f"{units.seconds(LAUNCH)} assumed for each launch, {units.seconds(fixed())} for each "
             "transfer, as of a V100")
    axes.set_xlabel(f"time since the start\n{whose}")
    written(axes.xaxis, units.seconds)
    axes.locator_params(axis="x", nbins=6)
    key(figure, {what: {"color": color} for what, color in COLORS.items()
                 if cpu or copying or what != "this CPU"})
    alt = listed({name: units.seconds(total) for name, total in totals.items()})
    return Picture(figure, f"{title} {units.count(numbers)} numbers. {alt}. {whose}.")


def told(times: list[float], layers: int, cpu: tuple[float, float] | None) -> str:
    """What `timeline` shows, of its times: the least and the most of data that stay."""
    stay = times[-len(MEMORIES):]
    if not cpu:
        return f"on the GPU {units.seconds(min(stay))} to {units.seconds(max(stay))}"
    low, high = (units.ratio(each / layers) for each in (min(stay) / cpu[1], max(stay) / cpu[0]))
    return f"on the GPU {low} to {high} as long as on this CPU"


def steps(numbers: int, trips: list[int], memory: str, copying: float = 0) -> list[Step]:
    """The steps of some trips to the GPU and back, `trips` saying how many layers each is for.

    memory: "pageable", "pinned", or "pinned, staged": the numbers lie in pageable memory, and this
    CPU takes `copying` seconds to copy them into pinned memory, and as many to copy them back.
    """
    nbytes, (there, back) = 4 * numbers, link(memory.partition(",")[0])
    staging = [("this CPU", copying)] * memory.endswith("staged")
    own = published("bandwidth by occupancy", device=GPU, what="scale")[-1]  # the fastest
    kernel = LAUNCH + 2 * nbytes / own.value
    done, now = [], 0.0
    for layers in trips:
        for what, seconds in [*staging, ("transfers", fixed() + nbytes / there),
                              *[("kernels", kernel)] * layers,
                              ("transfers", fixed() + nbytes / back), *staging]:
            done.append(Step(what, now, now + seconds))
            now += seconds
    return done
