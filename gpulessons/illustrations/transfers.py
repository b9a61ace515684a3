"""Transfers on a timeline, modelled from published figures: what crosses the link, and how often.

    transfer   bytes / the link's rate, by kind of memory and by direction
    kernel     a launch + (bytes read + bytes written) / the rate of the GPU's memory

The model overlaps nothing and lets a transfer start for free. Whoever has a GPU times it instead.
What others timed, of launches and of transfers, is drawn against their size.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gpulessons import units
from gpulessons.evidence import published
from gpulessons.plots.axes import written
from gpulessons.plots.forms import beside, key, listed, log_lines, name_rows
from gpulessons.plots.picture import BLUE, DASH_DOT, HATCH, INK, SKY, VERMILLION, Picture, blank
from gpulessons.plots.published import open_lines
from warplens.model.devices import named
from warplens.model.modelling import LAUNCH

GPU, LINK = "A100", "A100 80 GB"
COLORS = {"to_device": SKY, "kernel": VERMILLION, "copy_to_host": BLUE}


class Step(NamedTuple):
    """One stretch of a timeline."""

    what: str  # of COLORS
    start: float  # seconds
    end: float


def link(memory: str) -> list[float]:
    """Bytes/s to the card, and back, as published; memory: "pageable" or "pinned"."""
    ways = [f"bandwidthTest, {memory}: {way}" for way in ("to the card", "back")]
    return [published("host to device", device=LINK, what=way)[0].value for way in ways]


def timeline(numbers: int = 921_600, layers: int = 10) -> Picture:
    """Layers of one activation on float32 numbers, four ways: pageable memory or pinned, sent and
    fetched for each layer or once for all of them."""
    ways = {"a round trip each": [1] * layers, "data stay": [layers]}
    rows = {f"{memory}, {name}": steps(numbers, trips, memory)
            for memory in ("pageable", "pinned") for name, trips in ways.items()}
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
    memory = units.rate(named(GPU).dram_rate * named(GPU).dram_share, "B/s")
    model = (f"modelled: {units.seconds(LAUNCH)} for each launch, an {GPU}'s memory at {memory}",
             f"published: the link of an {LINK}")
    axes.set_xlabel("\n".join(("time since the start", *model)))
    written(axes.xaxis, units.seconds)
    axes.locator_params(axis="x", nbins=6)
    key(figure, {what: {"color": color} for what, color in COLORS.items()})
    spoken = listed({name: units.seconds(total) for name, total in totals.items()})
    return Picture(figure, f"{title} {units.count(numbers)} numbers. {spoken}. "
                           f"Not measured: {'; '.join(model)}.")


def steps(numbers: int, trips, memory: str) -> list[Step]:
    """The steps of some trips to the GPU and back, `trips` saying how many layers each is for."""
    nbytes, gpu = 4 * numbers, named(GPU)
    there, back = link(memory)
    kernel = LAUNCH + 2 * nbytes / (gpu.dram_rate * gpu.dram_share)
    done, now = [], 0.0
    for layers in trips:
        for what, seconds in [("to_device", nbytes / there), *[("kernel", kernel)] * layers,
                              ("copy_to_host", nbytes / back)]:
            done.append(Step(what, now, now + seconds))
            now += seconds
    return done


def against_size(
    cpu: Mapping[float, float], paper: Mapping[float, Any] = {}, card: str = "H200"
) -> Picture:
    """Kernels of few bytes and transfers, as others timed them, beside this CPU.

    cpu: {bytes that a call reads and writes: seconds}. paper: {bytes: Modelled, for the card}.
    """
    launches = published("launch", device=card, block=256)
    sent = published("host to device", device="V100")
    drawn = [(f"{card}: {name}", x, y, {**look, "color": VERMILLION}) for name, x, y, look in
             open_lines(launches, "bytes", "what", lambda row: row.sizes["bytes"] / row.value)]
    drawn += [("V100: sent and fetched (published)", [2048 * kib for kib in x], y,
               {**look, "color": INK, "marker": "s"}) for _, x, y, look in
              open_lines(sent, "kib", value=lambda row: 2048 * row.sizes["kib"] / row.value)]
    stream, graph = (times[0] for _, _, times, _ in drawn[:2])
    title = (f"A launch takes an {card} {units.seconds(stream)}, in a CUDA graph "
             f"{units.seconds(graph)}.")
    if len(cpu) > 1:
        ours = "this CPU (live)", [*cpu], [*cpu.values()], {"color": BLUE, "marker": "o"}
        wins = "; ".join(f"{name} {ahead(ours, line)}" for name, line in
                         (("in a stream", drawn[0]), ("sent and fetched", drawn[2])))
        title += f" Sooner done than on this CPU: {wins}."
        drawn.append(ours)
    look = {"color": VERMILLION, "linestyle": DASH_DOT, "linewidth": 1}
    times = [one.known for one in paper.values()]
    drawn += [(f"{card}: scale (modelled)", [*paper], times, look)] * bool(paper)
    told = listed({units.size(nbytes): one.words for nbytes, one in paper.items()})
    whose = "; ".join(dict.fromkeys(row.citation for row in (*launches, *sent)))
    picture = log_lines(drawn, (f"published: {whose}\nbytes read and written", units.size),
                        ("time of one call", units.seconds), title=title,
                        ticks=[2**n for n in range(5, 31, 5)],
                        spoken=f"Modelled for an {card}: {told}." * bool(paper))
    ends = zip(*((one.low, one.high or one.known) for one in paper.values()), strict=True)
    picture.axes.fill_between([*paper], *(ends if paper else ([], [])), facecolor="none",
                              edgecolor=VERMILLION, hatch=HATCH, linewidth=0, alpha=0.4)
    return picture


def ahead(slow: tuple, fast: tuple) -> str:
    """From how many bytes on the second line lies below the first, where both have points."""
    least, most = (f(slow[1][end], fast[1][end]) for f, end in ((max, 0), (min, -1)))
    at = np.geomspace(least, most, 200)
    ours, theirs = (np.interp(np.log(at), np.log(x), np.log(y)) for _, x, y, _ in (slow, fast))
    below = np.flatnonzero(theirs < ours)
    if not below.size:
        return f"at no size up to {units.size(most)}"
    return f"from about {units.size(at[below[0]])} on"
