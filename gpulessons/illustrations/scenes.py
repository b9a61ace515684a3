"""Scenes: pixels under a shader, points c = x + iy of the plane, and warps that wait for one."""

import numpy as np

from gpulessons import units
from gpulessons.ops.common import WARP
from gpulessons.plots.axes import log_axes, two_ticks
from gpulessons.plots.forms import LOOKS, dots, lines, listed
from gpulessons.plots.picture import COLORS, DASH_DOT, HATCH, INK, MARKERS, Picture, blank


def window(x: float, y: float, zoom: float, shape=(256, 384)) -> tuple[np.ndarray, np.ndarray]:
    """The pixels of a picture around (x, y), row by row: two float32 arrays of rows × columns.

    At zoom 1 the picture is 3 units wide.
    """
    rows, columns = shape
    pixel = 3 / zoom / columns
    across = x + pixel * (np.arange(columns) + 0.5 - columns / 2)
    down = y - pixel * (np.arange(rows) + 0.5 - rows / 2)
    plane = np.meshgrid(across, down)
    return tuple(values.ravel().astype(np.float32) for values in plane)


def pixels(turns: np.ndarray, limit: int, shape=(256, 384), note: str = "") -> Picture:
    """A picture of turns until escape (rows × columns); those that never escape are dark."""
    title = f"{turns.size:,} pixels, {turns.sum():,} iterations{note}."
    figure, axes = blank(height=4.4, title=title)
    shade = np.log1p(turns - turns.min() + 1)  # most pixels leave early: spread those
    light = np.where(turns < limit, shade / max(shade.max(), 1), 0)
    axes.imshow(light.reshape(shape), cmap="inferno", vmin=0, vmax=1, interpolation="nearest")
    axes.set_axis_off()
    inside = (turns == limit).mean()
    spoken = f"Light where a pixel takes many turns; {inside:.0%} never escape, and are dark."
    return Picture(figure, f"{title} {spoken}")


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
    """What disorder costs: {name: (iterations, counted; time, measured, or None)}."""
    looks = {"iterations, counted": {"marker": "|", "color": INK},
             "time, measured": {"marker": MARKERS["host"], "color": COLORS["host"]}}
    spots = [(f"{name}: {kind}", value, looks[kind]) for name, values in rows.items()
             for value, kind in zip(values, looks, strict=True) if value]
    times = {name: time for name, (_, time) in rows.items() if time}
    least, *_, most = sorted(times, key=times.get)
    return dots(spots, "shuffled over sorted", units.ratio, one=True,
                title=f"Disorder takes most time here: {most}; least: {least}.")


def sides(rounds, curves) -> Picture:
    """What agreement is worth: {kernel: a Modelled for each of rounds}, with their intervals."""
    worst = {at: max(curves, key=lambda name: curves[name][at].known) for at in (0, -1)}
    title = "; ".join(f"{units.plural(rounds[at], 'round')}: {name.replace('_', ' ')} takes longest"
                      for at, name in worst.items())
    figure, axes = blank(height=4.1, title=f"{title} (modelled).")
    log_axes(axes, x=("rounds of each side", units.count), y=("time", units.seconds), ticks=rounds)
    two_ticks(axes.yaxis)
    looks = dict(zip(curves, LOOKS, strict=False))
    for name, curve in curves.items():
        axes.fill_between(rounds, [each.low for each in curve], [each.high for each in curve],
                          facecolor="none", edgecolor=looks[name]["color"], hatch=HATCH, alpha=0.3)
    lines(axes, [(name.replace("_", " "), rounds, [each.known for each in curve],
                  {**looks[name], "linestyle": DASH_DOT, "markerfacecolor": "none"})
                 for name, curve in curves.items()])
    spoken = {name: ", ".join(each.words for each in curve) for name, curve in curves.items()}
    return Picture(figure, f"{title}, modelled. {listed(spoken)}.")


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
