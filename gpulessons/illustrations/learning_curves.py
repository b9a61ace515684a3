"""Loss on its way down, against updates and against seconds; and what vanishes on the way.

A run is anything with a `curve` [(seconds, loss)] and `by_updates` [(updates, loss)].
"""

from collections.abc import Mapping, Sequence
from typing import Any

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import listed, span
from gpulessons.plots.picture import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    Picture,
    blank,
)
from gpulessons.workers.programs.hogwild import goal, reached

from .drawings import Drawing, drawing

LOOKS = [(BLUE, "-", "o"), (VERMILLION, "--", "^"), (GREEN, "-.", "s"), (PURPLE, ":", "D")]


def curves(runs: Mapping[str, Any]) -> Picture:
    """The runs {name: run} against updates and against seconds, and where they are equally good."""
    target = goal(runs.values())
    times = {name: reached(run.curve, target) for name, run in runs.items()}
    took = "; ".join(f"{name}, {units.seconds(seconds)}" for name, seconds in times.items())
    title = f"To a loss of {target:.3g}: {took}."
    figure, (left, right) = blank(width=8.2, height=4, title=title, ncols=2, sharey=True)
    for (name, run), (color, line, marker) in zip(runs.items(), LOOKS, strict=False):
        look = {"color": color, "linestyle": line, "linewidth": 1.6}
        left.plot(*zip(*run.by_updates, strict=True), label=name, **look)
        right.plot(*zip(*run.curve, strict=True), marker=".", markersize=4, **look)
        left.plot(reached(run.by_updates, target), target, marker, color=color)
        right.plot(times[name], target, marker, color=color)
    left.set(xlabel="updates of all workers", ylabel="loss of held-out examples")
    written(left.xaxis, lambda updates: units.count(int(updates)))
    left.xaxis.get_major_locator().set_params(nbins=4)
    written(right.xaxis, units.seconds)
    right.xaxis.get_major_locator().set_params(nbins=5)
    right.set_xlabel("time since the start of learning")
    for one in (left, right):
        one.axhline(target, color=INK, linewidth=0.8, linestyle=":")
    left.legend(labelcolor=INK, frameon=False, fontsize=9.5)
    return Picture(figure, f"{title} Live, by processes sharing one machine.")


def lost_shares(counts: Mapping[Any, Any]) -> Picture:
    """What share of the additions vanished: counts is {number of shared cells: Count}.

    What has a name instead of a number, cells that nobody shares, is left out.
    """
    shared = {n: one.lost for n, one in counts.items() if isinstance(n, int)}
    few, many = min(shared), max(shared)
    few_lost, many_lost = percent(shared[few]), percent(shared[many])
    title = f"Of all additions to {cells(few)}, {few_lost} vanish; "
    title += f"of those to {cells(many)}, {many_lost}."
    figure, axes = blank(height=3.4, title=title)
    axes.plot(shared.keys(), [100 * lost for lost in shared.values()], "o-", color=VERMILLION)
    for n, lost in shared.items():
        axes.annotate(percent(lost), (n, 100 * lost), (5, 5), color=INK,
                      textcoords="offset points", ha="left", fontsize=9.5)
    log_axes(axes, x=("shared cells", units.count), ticks=list(shared))
    axes.set_ylabel("additions lost, in percent")
    axes.margins(0.12, 0.15)
    axes.set_ylim(bottom=-0.02 * max(1, *(100 * lost for lost in shared.values())))
    spoken = listed({cells(n): percent(lost) for n, lost in shared.items()})
    return Picture(figure, f"{title} Share lost, by processes sharing one machine: {spoken}.")


def cache_lines() -> Drawing:
    """Two workers' cells side by side, and two lines of eight cells from each other."""
    return drawing("cache_lines")


def percent(share):
    return f"{float(f'{100 * share:.2g}'):g}%" if share else "none"


def cells(n):
    return "one cell" if n == 1 else f"{units.count(n)} cells"


def descent(values: Sequence[float], goal: float) -> Picture:
    """A weight on its way to the goal, step by step; its last third tells how it ends."""
    third, off = max(1, len(values) // 3), [abs(value - goal) for value in values]
    before, late = max(off[third:-third], default=0), max(off[-third:])
    ends = "arrives" if late <= 0.1 * off[0] else (
        "is thrown out" if late > max(before, off[0]) else "is still under way")
    title = f"The weight {ends}: at most {late:.2g} from the minimum in the last {third} steps."
    figure, axes = blank(height=3.2, title=title)
    axes.axhline(goal, color=INK, linewidth=0.8, linestyle=":")
    axes.plot(values, color=ORANGE, marker=".")
    axes.set(xlabel="steps", ylabel="weight")
    return Picture(figure, f"{title} From {values[0]:.3g} toward {goal:.3g}; simulated.")


def turns(
    history: Sequence[tuple[str, str, float]], workers: Sequence[str] = ("A", "B")
) -> Picture:
    """Who did what in turn: history is [(worker, "reads 0", what the cell then holds)]."""
    made, held = len({who for who, *_ in history}), history[-1][2]
    title = f"{made} workers add one each. The cell holds {held}."
    figure, axes = blank(height=2.3, title=title)
    lanes = {who: (SKY, 2) if who == workers[0] else (ORANGE, 1) for who in workers}
    for at, (who, what, cell) in enumerate(history):
        color, lane = lanes[who]
        span(axes, lane, at, 0.94, color, what)
        axes.text(at + 0.94, 0, cell, color=INK, ha="right", va="center", fontsize=11)
    axes.set_yticks([2, 1, 0], [*workers, "the cell"])
    axes.set(xticks=[], xlim=(0, len(history)), ylim=(-0.5, 2.5), xlabel="time")
    spoken = "; ".join(f"{who} {what}, cell {cell}" for who, what, cell in history)
    return Picture(figure, f"{title} {spoken}.")
