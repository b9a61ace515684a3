"""A multiprocessor that hides latency: while one warp waits for memory, another one is issued.

    Little's law: loads in flight = loads started per clock x clocks that each takes
    occupancy = resident warps / warp slots

A multiprocessor has several schedulers, each with warp slots of its own, and in every clock a
scheduler issues one instruction of one of its warps, if one is ready. This is one of them, on a
small scale: a load takes tens of clocks here and hundreds in a GPU. All warps run the same loop:
some instructions, the last of them a load, whose number the next turn needs.
"""

import math
import re

from gpulessons.plots.axes import written
from gpulessons.plots.forms import span
from gpulessons.plots.picture import INK, ORANGE, SKY, VERMILLION, Picture, blank
from gpulessons.units import plural
from warplens.model.devices import named
from warplens.model.occupancy import PARTITIONS, limits_of

GPU = "A100"
SLOTS = limits_of(named(GPU)).warps // PARTITIONS  # of one scheduler
CLOCKS = 80  # that are drawn
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
    load among them. latency: clocks from a load to its number. Made for sliders. Raises ValueError
    for what does not fit.
    """
    if not (1 <= warps <= SLOTS and work >= 1 and latency >= 1):
        raise ValueError(
            f"Give 1 to {SLOTS} warps and at least 1 instruction and 1 clock, not warps={warps}, "
            f"work={work}, latency={latency}."
        )
    _, loads, flying = steady(warps, work, latency)
    title = message(warps, work, latency)
    law = f"{loads:.3f} loads a clock × {latency} clocks = {loads * latency:.1f} in flight"
    share = f"occupancy: {warps} of {SLOTS} warp slots, {warps / SLOTS:.0%}"
    figure, (above, slot, curve) = blank(
        7.6, 6.2, title, nrows=3, height_ratios=(0.2 * SLOTS, 0.34, 1.1)
    )
    rows = run(warps, work, latency)
    draw_warps(above, rows)
    above.set_title(f"Little's law: {law}", loc="left", color=INK, fontsize=10)
    draw_issue_slot(slot, rows)
    draw_curve(curve, warps, work, latency)
    curve.set_title(share, loc="left", color=INK, fontsize=10)
    alt = (
        f"{title} {law}; counted in the picture: {flying:.1f}. {share} (of one of the {PARTITIONS} "
        f"schedulers in a multiprocessor of an {GPU})."
    )
    return Picture(figure, alt)


def message(warps: int, work: int, latency: int) -> str:
    """What becomes of the clocks, and how many warps would be enough."""
    busy, needed = steady(warps, work, latency)[0], enough(work, latency)
    who = plural(warps, "warp")
    if warps > needed:
        return f"{who}: an instruction in every clock. {needed} would do; the others queue."
    if warps == needed:
        return f"{who}: an instruction in every clock. The latency is hidden."
    more = f"{needed} would fill them all" if needed <= SLOTS else f"not even {SLOTS} fill them all"
    return f"{who}: an instruction in {busy:.0%} of the clocks; {more}."


def spans_of(row: str, state: str) -> list[tuple[int, int]]:
    """(first clock, length) wherever that state lasts."""
    return [(found.start(), len(found[0])) for found in re.finditer(f"{re.escape(state)}+", row)]


def draw_warps(axes, rows: list[str]) -> None:
    """A row for each warp slot, the resident ones filled; with a key."""
    for state, (name, look) in STATES.items():
        height = 0.44 if state == WAITS else 0.8
        for at, row in enumerate(rows):
            axes.broken_barh(spans_of(row, state), (at - height / 2, height), linewidth=0, **look)
        axes.bar(0, 0, label=name, linewidth=0.5, **look)
    axes.hlines(range(len(rows), SLOTS), 0, CLOCKS, color=INK, linestyle=":", linewidth=0.8)
    axes.set(xlim=(0, CLOCKS), ylim=(SLOTS - 0.4, -0.6), ylabel="warp slots", xticks=[])
    ticks = sorted({1, len(rows), SLOTS})
    axes.set_yticks([tick - 1 for tick in ticks], ticks)
    axes.legend(loc="upper left", bbox_to_anchor=(0, 0), ncols=3, frameon=False, labelcolor=INK,
                fontsize=10, borderpad=0.2)


def draw_issue_slot(axes, rows: list[str]) -> None:
    """Who is issued in each clock, with the warp's number where there is room."""
    for warp, row in enumerate(rows, 1):
        for first, length in spans_of(row, ISSUES):
            span(axes, 0, first, length, SKY, warp if length > 1 + (warp > 9) else "")
    axes.set(xlim=(0, CLOCKS), ylim=(-0.55, 0.55), xlabel="clocks")
    axes.set_yticks([0], ["issue slot"])
    axes.spines["left"].set_visible(False)


def draw_curve(axes, warps: int, work: int, latency: int) -> None:
    """The share of clocks with an instruction, along the resident warps, and where we are."""
    places = range(1, SLOTS + 1)
    axes.plot(places, [steady(n, work, latency)[0] for n in places], color=INK, linewidth=1.4)
    axes.plot(warps, steady(warps, work, latency)[0], "o", color=VERMILLION, markersize=9)
    axes.set(ylim=(0, 1.12), xlim=(0, SLOTS + 0.4), xlabel="resident warps", ylabel="clocks issued")
    axes.set(xticks=[1, *range(2, SLOTS + 1, 2)], yticks=[0, 0.5, 1])
    written(axes.yaxis, "{:.0%}".format)
