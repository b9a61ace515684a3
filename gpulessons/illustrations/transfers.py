"""Transfers on a timeline, from published rates: what crosses the link, and how often.

Each step takes its bytes over a rate: that of the link, or of the GPU's memory. What a transfer and
a launch take beside, some microseconds, is left out, and nothing overlaps.
"""

from typing import NamedTuple

from gpulessons import units
from gpulessons.evidence import published
from gpulessons.plots.axes import written
from gpulessons.plots.forms import beside, dots, key, listed, name_rows
from gpulessons.plots.picture import BLUE, HATCH, INK, SKY, VERMILLION, Picture, blank

GPU = "A100 80 GB"
COLORS = {"transfers": SKY, "kernels": VERMILLION, "this CPU": BLUE}
WHOSE = f"hatched: modelled for an {GPU},\nbytes over the published rates of its link and memory"


class Step(NamedTuple):
    what: str  # of COLORS
    start: float  # seconds
    end: float


def link(memory: str) -> list[float]:
    """Bytes/s to the card, and back, as published; memory: "pageable" or "pinned"."""
    ways = [f"bandwidthTest, {memory}: {way}" for way in ("to the card", "back")]
    return [published("host to device", device=GPU, what=way)[0].value for way in ways]


def own() -> float:
    """Bytes/s that the GPU reads and writes in its own memory, at best, as published."""
    return published("bandwidth by occupancy", device=GPU, what="scale")[-1].value


def rates(cpu: float) -> Picture:
    """What a GPU's link and its memory move in a second, beside a CPU's memory, at `cpu` B/s."""
    ways = {f"link, {memory} (published)": 2 / sum(1 / rate for rate in link(memory))
            for memory in ("pageable", "pinned")}
    ways |= {"this CPU's memory (live)": cpu, f"{GPU}, its memory (published)": own()}
    pageable, pinned, _, memory = (units.ratio(rate / cpu) for rate in ways.values())
    title = (f"Over this CPU's memory: the link {pageable} (pageable) or {pinned} (pinned), the "
             f"GPU's memory {memory}.")
    gpu = {"color": VERMILLION, "markerfacecolor": "none", "marker": "^"}
    rows = [(name, rate, {"color": BLUE} if "live" in name else gpu) for name, rate in ways.items()]
    return dots(rows, "bytes a second, sent and fetched, or read and written",
                lambda rate: units.rate(rate, "B/s"), title=title)


def steps(numbers: int, trips: list[int], memory: str) -> list[Step]:
    """The steps of some trips to the GPU and back, `trips` saying how many layers each is for."""
    nbytes, (there, back) = 4 * numbers, link(memory)
    done, now = [], 0.0
    for layers in trips:
        trip = [("kernels", 2 * nbytes / own())] * layers
        for what, seconds in (("transfers", nbytes / there), *trip, ("transfers", nbytes / back)):
            done.append(Step(what, now, now := now + seconds))
    return done


def timeline(numbers: int, layers: int, cpu: float | None = None) -> Picture:
    """Layers of one activation on float32 numbers, sent and fetched once, or for each layer; beside
    a CPU that needs so many seconds for each."""
    rows = {f"A100, {memory}": steps(numbers, [layers], memory)
            for memory in ("pageable", "pinned")}
    title = units.plural(layers, "layer") + ", data stay" * (layers > 1)
    if cpu:
        told = " and ".join(f"{units.ratio(row[-1].end / layers / cpu)} ({name.split()[-1]})"
                            for name, row in rows.items())
        title += f": on the GPU {told} as long as on this CPU"
        rows["this CPU"] = [Step("this CPU", 0, layers * cpu)]
    if layers > 1:
        rows = {"A100, pageable, a round trip each": steps(numbers, [1] * layers, "pageable"),
                **rows}
    figure, axes = blank(height=1.6 + 0.5 * len(rows), title=f"{title}.")
    for place, row in enumerate(rows.values()):
        for what, color in COLORS.items():
            spans = [(step.start, step.end - step.start) for step in row if step.what == what]
            axes.broken_barh(spans, (place - 0.36, 0.72), facecolor=color, edgecolor=INK,
                             hatch=HATCH * (what != "this CPU"), linewidth=0)
        beside(axes, units.seconds(row[-1].end), row[-1].end, place)
    name_rows(axes, rows)
    axes.set_xlim(0, 1.13 * max(row[-1].end for row in rows.values()))
    axes.set_xlabel(f"time since the start\n{WHOSE}")
    written(axes.xaxis, units.seconds)
    axes.locator_params(axis="x", nbins=6)
    key(figure, {what: {"color": color} for what, color in COLORS.items()
                 if cpu or what != "this CPU"})
    alt = listed({name: units.seconds(row[-1].end) for name, row in rows.items()})
    return Picture(figure, f"{title}. {units.count(numbers)} numbers. {alt}. {WHOSE}.")
