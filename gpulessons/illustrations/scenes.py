"""Pixels under a shader, the warps that wait for the slowest, and what disorder costs."""

import numpy as np

from gpulessons import units
from gpulessons.ops.common import WARP
from gpulessons.plots.forms import dots, listed
from gpulessons.plots.picture import COLORS, INK, MARKERS, Picture, blank


def warps(orders) -> Picture:
    """A typical warp of each order, {name: turns}: how long its 32 lanes work, how long they wait.

    The shares in the title are those of all warps.
    """
    shares = ", ".join(f"{name} {waiting(turns):.0%}" for name, turns in orders.items())
    title = f"In the loop alone, a warp's lanes wait: {shares}."
    figure, panels = blank(height=3, title=title, ncols=len(orders), sharey=True, squeeze=False)
    for axes, (name, turns) in zip(panels.flat, orders.items(), strict=True):
        lanes, edges = typical(turns), np.arange(WARP + 1) - 0.5
        axes.stairs(lanes, edges, fill=True, color=COLORS["gpu"])
        axes.stairs(np.full(WARP, lanes.max()), edges, color=INK, linewidth=1)
        axes.set_title(f"one warp, {name}", color=INK, fontsize=10, loc="left")
        axes.set(xlabel="lane", xticks=(0, 8, 16, 24, 31))
    panels.flat[0].set_ylabel("iterations: at work\n(filled), waiting (empty)")
    spoken = {name: f"this warp's lanes want {typical(each).min()} to {typical(each).max()}"
              for name, each in orders.items()}
    return Picture(figure, f"{title} {listed(spoken)}.")


def prices(rows) -> Picture:
    """What disorder costs, counted, measured and published: {name: {kind: how many times, or
    None}}."""
    looks = {"iterations, counted": {"marker": "|", "color": INK},
             "time, measured": {"marker": MARKERS["host"], "color": COLORS["host"]}}
    looks["time, published"] = {**looks["time, measured"], "markerfacecolor": "none"}
    spots = [(f"{name}: {kind}", value, looks[kind]) for name, kinds in rows.items()
             for kind, value in kinds.items() if value]
    times = {name: kinds["time, measured"] for name, kinds in rows.items()
             if kinds["time, measured"]}
    ends = [f"{end(times, key=times.get)} ({units.ratio(end(times.values()))})"
            for end in (max, min) if len(times) > 1]
    title = ("Disorder costs most time: {}; least: {}.".format(*ends) if ends else
             "What disorder costs, counted and published; measured here: "
             f"{', '.join(times) or 'nothing, it was too noisy to tell'}.")
    return dots(spots, "shuffled over sorted", units.ratio, one=True, title=title)


def waiting(turns):
    """The share of lane time that is waiting, over all warps: long warps count for more."""
    warps = np.reshape(turns, (-1, WARP))
    return 1 - warps.sum() / (WARP * warps.max(axis=1).sum())


def typical(turns):
    """The warp whose share of waiting is nearest to that of all; within a percent, the busiest."""
    warps = np.reshape(turns, (-1, WARP))
    shares = 1 - warps.mean(axis=1) / warps.max(axis=1)
    gaps = np.abs(shares - waiting(turns)).round(2)
    return warps[np.lexsort([-warps.sum(axis=1), gaps])[0]]
