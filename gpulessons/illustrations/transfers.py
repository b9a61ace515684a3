"""Transfers, from published rates: what crosses the link, and how often.

Each step takes its bytes over a rate: that of the link, or of the GPU's memory. What a transfer and
a launch take beside, some microseconds, is left out, and nothing overlaps.
"""

from collections.abc import Mapping
from typing import NamedTuple

from gpulessons import units
from gpulessons.evidence import published
from gpulessons.plots.forms import dots, log_lines
from gpulessons.plots.picture import BLUE, DASH_DOT, INK, VERMILLION, Picture

GPU = "A100 80 GB"


class Step(NamedTuple):
    what: str  # "transfers" or "kernels"
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


def by_layers(stay: Mapping[str, Mapping[int, float]], drawn: Mapping[float, float]) -> Picture:
    """Times as fast as this CPU, {memory: {layers: times}}, while data stay; as a round trip each,
    which gains nothing by more layers; and the points of a curve that somebody drew."""
    most = max(map(max, stay.values()))
    places = [n for n in range(1, most + 1) if n.bit_count() == 1]  # 1, 2, 4 …
    first = {memory: next((n for n, times in each.items() if times > 1), 0)
             for memory, each in stay.items()}
    ahead = [f"{f'from layer {n} on' if n else f'not before layer {most + 1}'} ({memory})"
             for memory, n in first.items()]
    open_ = {"color": VERMILLION, "linestyle": DASH_DOT, "markerfacecolor": "none"}
    lines = [(memory, places, [each[n] for n in places], {**open_, "marker": mark})
             for (memory, each), mark in zip(stay.items(), "^s", strict=True)]
    lines += [("pageable, a trip each", [1, most], 2 * [stay["pageable"][1]], open_),
              ("this CPU, live", [1, most], [1, 1], {})]
    if drawn:
        own = {"color": INK, "linestyle": ":", "marker": "x"}
        lines.append(("your curve", [*drawn], [*drawn.values()], own))
    title = f"An {GPU} (modelled) is ahead of this CPU {', '.join(ahead)}."
    return log_lines(lines, ("layers", str), ("times as fast as this CPU", units.ratio),
                     title=title, base=2, ticks=places)
