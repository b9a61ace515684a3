"""A multiprocessor that hides latency: while one warp waits for memory, another one is issued.

    Little's law: loads in flight = loads started per clock x clocks that each takes
    occupancy = resident warps / warp slots

A multiprocessor has several schedulers, each with warp slots of its own, and in every clock a
scheduler issues one instruction of one of its warps, if one is ready. This is one of them. All
warps run the same loop: some instructions, the last of them a load, whose number the next needs.
"""

import math
import re

from gpulessons.plots.axes import written
from gpulessons.plots.forms import log_lines, span
from gpulessons.plots.picture import (
    BLUE,
    DASH_DOT,
    INK,
    ORANGE,
    SKY,
    VERMILLION,
    Picture,
    blank,
)  # fmt: skip
from gpulessons.units import plural
from warplens.model.devices import named
from warplens.model.occupancy import PARTITIONS, limits_of

GPU = "A100"
SLOTS = limits_of(named(GPU)).warps // PARTITIONS  # of one scheduler
CLOCKS = 80  # that are drawn, or a load and half of them
ISSUES, WAITS, READY = "#", ".", "-"
STATES = {
    ISSUES: ("issued", {"facecolor": SKY, "edgecolor": "none"}),
    WAITS: ("waits for its load", {"facecolor": "none", "edgecolor": ORANGE, "hatch": "/////"}),
    READY: ("ready, another one is issued", {"facecolor": SKY, "edgecolor": "none", "alpha": 0.3}),
}


def run(warps: int, work: int, latency: int, clocks: int = CLOCKS) -> list[str]:
    """A text for each warp, a letter for each clock: "#" issued, "." waits, "-" ready.

    The scheduler stays with a warp while it is ready, then takes the one that is ready longest.
    """
    rows = [""] * warps
    ready, left = [0] * warps, [work] * warps  # from which clock on; instructions before its load
    chosen = 0
    for clock in range(clocks):
        if ready[chosen] > clock:
            chosen = min(range(warps), key=ready.__getitem__)
        for warp in range(warps):
            here = ISSUES if warp == chosen else READY
            rows[warp] += here if ready[warp] <= clock else WAITS
        if ready[chosen] <= clock:
            left[chosen] -= 1
            if not left[chosen]:  # that was the load
                ready[chosen], left[chosen] = clock + 1 + latency, work
    return rows


def steady(warps: int, work: int, latency: int) -> tuple[float, float, float]:
    """(issued per clock, loads started per clock, loads in flight), counted in one later round."""
    clocks = max(work + latency, warps * work)  # of a round: then all is as it was
    rows = [row[clocks:] for row in run(warps, work, latency, 2 * clocks)]
    issued, waiting = ("".join(rows).count(state) for state in (ISSUES, WAITS))
    return issued / clocks, issued / work / clocks, waiting / clocks


def enough(work: int, latency: int) -> int:
    """The least number of warps that leaves no clock empty."""
    return math.ceil((work + latency) / work)


def latency_hiding(warps: int = 4, work: int = 4, latency: int = 36) -> Picture:
    """Resident warps over clocks, the issue slot under them, and its busy share along the warps.

    warps: resident on the scheduler, 1 to SLOTS. work: instructions of a warp before it waits, its
    load among them. latency: clocks from a load to its number. Made for sliders.
    """
    busy, loads, flying = steady(warps, work, latency)
    title = f"{plural(warps, 'warp')}: {message(warps, busy, enough(work, latency))}"
    law = f"{loads:.3f} loads a clock × {latency} clocks = {loads * latency:.1f} in flight"
    share = f"occupancy: {warps} of {SLOTS} warp slots, {warps / SLOTS:.0%}"
    figure, (above, slot, curve) = blank(
        7.6, 6.2, title, nrows=3, height_ratios=(0.2 * SLOTS, 0.34, 1.1)
    )
    draw_warps(above, slot, run(warps, work, latency, max(CLOCKS, latency + CLOCKS // 2)))
    above.set_title(f"Little's law: {law}", loc="left", color=INK, fontsize=10)
    places = range(1, SLOTS + 1)
    curve.plot(places, [steady(n, work, latency)[0] for n in places], color=INK, linewidth=1.4)
    curve.plot(warps, busy, "o", color=VERMILLION, markersize=9)
    curve.set(ylim=(0, 1.12), xlim=(0, SLOTS + 0.4), xlabel="resident warps")
    curve.set(xticks=[1, *range(2, SLOTS + 1, 2)], yticks=[0, 0.5, 1], ylabel="clocks issued")
    written(curve.yaxis, "{:.0%}".format)
    curve.set_title(share, loc="left", color=INK, fontsize=10)
    return Picture(figure, (
        f"{title} {law}; counted in the picture: {flying:.1f}. {share} (of one of the {PARTITIONS} "
        f"schedulers in a multiprocessor of an {GPU})."
    ))


def message(warps, busy, needed):
    """What becomes of the clocks, and how many warps would be enough."""
    if warps > needed:
        return f"an instruction in every clock. {needed} would do; the others queue."
    if warps == needed:
        return "an instruction in every clock. The latency is hidden."
    more = f"{needed} would fill them all" if needed <= SLOTS else f"not even {SLOTS} fill them all"
    return f"an instruction in {busy:.0%} of the clocks; {more}."


def draw_warps(axes, slot, rows):
    """A row for each warp slot, the resident ones filled, with a key; below, who is issued in each
    clock, with the warp's number where there is room."""
    clocks = len(rows[0])
    for warp, row in enumerate(rows):
        for found in re.finditer(r"(.)\1*", row):
            start, length, (_, look) = found.start(), len(found[0]), STATES[found[1]]
            height = 0.44 if found[1] == WAITS else 0.8
            axes.broken_barh([(start, length)], (warp - height / 2, height), linewidth=0, **look)
            if found[1] == ISSUES:
                fits = length > clocks / 60 + (warp > 8)
                span(slot, 0, start, length, SKY, warp + 1 if fits else "")
    for name, look in STATES.values():
        axes.bar(0, 0, label=name, linewidth=0.5, **look)
    axes.legend(loc="upper left", bbox_to_anchor=(0, 0), ncols=3, frameon=False, labelcolor=INK,
                fontsize=10, borderpad=0.2)
    axes.hlines(range(len(rows), SLOTS), 0, clocks, color=INK, linestyle=":", linewidth=0.8)
    axes.set(xlim=(0, clocks), ylim=(SLOTS - 0.4, -0.6), ylabel="warp slots", xticks=[])
    ticks = sorted({1, len(rows), SLOTS})
    axes.set_yticks([tick - 1 for tick in ticks], ticks)
    slot.set(xlim=(0, clocks), ylim=(-0.55, 0.55), xlabel="clocks")
    slot.set_yticks([0], ["issue slot"])
    slot.spines["left"].set_visible(False)


def by_law(measured, flying, rate, title, **more) -> Picture:
    """{name: {in flight: done in a second}}; broken: Little's law, if each took as long as before.

    flying, rate: (what, write(it)). more: as `log_axes` takes it.
    """
    named, looks = [], ({"color": BLUE, "marker": "o"}, {"color": SKY, "marker": "s"})
    for (name, done), look in zip(measured.items(), looks, strict=False):
        first, *_ = there = [*done]
        law = {"color": look["color"], "linestyle": DASH_DOT, "linewidth": 1}
        named += [(name, there, [*done.values()], look),
                  ("Little's law", there, [n * done[first] / first for n in there], law)]
    return log_lines(named, flying, rate, title=title, ticks=there, **more)
