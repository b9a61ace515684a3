"""Scenes: corners under a matrix, pixels under a shader, and warps that wait for a pixel.

The two halves of what a graphics card does. Corners are rows (x, y, z, w) as vertex_transform takes
them; pixels are points c = x + iy of the plane, as shade takes them.
"""

import numpy as np

from gpulessons import units
from gpulessons.ops.common import WARP
from gpulessons.plots.axes import log_axes, two_ticks
from gpulessons.plots.forms import LOOKS, dots, lines, listed
from gpulessons.plots.picture import (
    BLUE,
    COLORS,
    DASH_DOT,
    HATCH,
    INK,
    MARKERS,
    Picture,
    blank,
)

DEPTHS = 8  # shades of near and far


def torus() -> tuple[np.ndarray, np.ndarray]:
    """(points, edges) of a ring of radius 1: (n, 4) float32 with w = 1, and (2 n, 2) indices."""
    rings, sides, thickness = 24, 14, 0.4
    ring, side = np.divmod(np.arange(rings * sides), sides)
    around, across = 2 * np.pi * ring / rings, 2 * np.pi * side / sides
    radius = 1 + thickness * np.cos(across)
    columns = radius * np.cos(around), radius * np.sin(around), thickness * np.sin(across)
    points = np.column_stack([*columns, np.ones(ring.size)]).astype(np.float32)
    here = ring * sides + side
    next_ring, next_side = (ring + 1) % rings * sides + side, ring * sides + (side + 1) % sides
    return points, np.concatenate([np.c_[here, next_ring], np.c_[here, next_side]])


def wireframe(corners: np.ndarray, edges: np.ndarray) -> Picture:
    """The edges between transformed corners (n, 4), each divided by its w; near ones are stronger.

    Edges of about one depth are one shape, so that the picture stays small.
    """
    flat = corners[:, :3] / corners[:, 3:]
    depth = flat[edges, 2].mean(axis=1)
    near = (depth - depth.min()) / max(np.ptp(depth), 1e-6)
    title = f"{len(corners):,} corners, {len(edges):,} edges, one 4 × 4 matrix."
    figure, axes = blank(height=4, title=title)
    shades = (near * (DEPTHS - 1)).round() / (DEPTHS - 1)
    for share in np.unique(shades):  # the nearest are drawn last
        ends = flat[edges[shades == share], :2]
        apart = np.concatenate([ends, np.full_like(ends[:, :1], np.nan)], axis=1).reshape(-1, 2)
        axes.plot(*apart.T, color=BLUE, alpha=0.35 + 0.65 * share, linewidth=0.5 + 1.1 * share,
                  solid_capstyle="round")
    axes.set(xlim=(-2.4, 2.4), ylim=(-1.4, 1.4), aspect="equal")
    axes.set_axis_off()
    across, up = np.ptp(flat[:, 0]), np.ptp(flat[:, 1])
    return Picture(figure, f"{title} The wireframe is {across:.2f} wide, {up:.2f} high.")


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
