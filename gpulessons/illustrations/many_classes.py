"""Output layers over many classes: what a step costs, and what it teaches.

Points are those of `models.many_classes`: of a race {layer's name: [Point]}, of times [StepTime].
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import lines, listed
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
from gpulessons.plots.timings import round_to_two

FULL, RIVAL = "full softmax", "hierarchical softmax"
NOISE = 0.05  # nats; a smaller lead may be due to chance
LOOKS = [
    {"color": color, "marker": marker}
    for color, marker in zip((BLUE, GREEN, PURPLE, ORANGE, VERMILLION, SKY), "osDv^P", strict=True)
]


def cost_against_classes(
    times: Sequence[Any], crossover: Callable[[Any, Any], float | None]
) -> Picture:
    """Seconds of a training step against the number of classes, both on log scales.

    times: StepTimes; crossover(a, b): from how many classes on b is quicker. Marked is where the
    hierarchical softmax gets ahead of the full one.
    """
    layers: dict[str, dict[int, Any]] = {}
    for one in sorted(times, key=lambda one: one.classes):
        layers.setdefault(one.layer, {})[one.classes] = one.spread
    at = crossover(medians(layers.get(FULL, {})), medians(layers.get(RIVAL, {})))
    title = crossing(layers, FULL, RIVAL, at)
    figure, axes = blank(width=7.6, height=4.4, title=title)
    log_axes(axes, x=("classes", units.count), y=("time of a training step", units.seconds),
             ticks=sorted({one.classes for one in times}))
    names = list(dict.fromkeys(one.layer for one in times))
    drawn = []
    for name, look in zip(names, LOOKS, strict=False):
        low, high = zip(*(spread.quartiles for spread in layers[name].values()), strict=True)
        axes.fill_between([*layers[name]], low, high, color=look["color"], alpha=0.25, linewidth=0)
        drawn.append((name, [*layers[name]], [*medians(layers[name]).values()], look))
    if at and at > min(one.classes for one in times):
        axes.axvline(at, color=INK, linewidth=0.8, linestyle=":")
    lines(axes, drawn)
    spoken = {
        name: ", ".join(f"{units.seconds(time)} at {units.count(classes)}"
                        for classes, time in medians(layers[name]).items()) for name in names
    }
    return Picture(figure, f"{title} {listed(spoken)}.")


def medians(spreads: Mapping[int, Any]) -> dict[int, float]:
    """{classes: seconds}"""
    return {classes: spread.median for classes, spread in spreads.items()}


def crossing(
    layers: Mapping[str, Mapping[int, Any]], full: str, rival: str, at: float | None
) -> str:
    """Who is ahead, from where, and how far at the end."""
    if not {full, rival} <= set(layers):
        return "What a training step costs, by the number of classes."
    most = max(layers[full].keys() & layers[rival].keys())
    one, other = layers[full][most], layers[rival][most]
    if one.quartiles[0] <= other.quartiles[1] and other.quartiles[0] <= one.quartiles[1]:
        return (f"At {units.count(most)} classes a step of the {full} and one of the {rival} are "
                "too close to tell who is quicker.")
    factor = one.median / other.median
    if at is None:
        return (f"At {units.count(most)} classes a step of the {rival} still takes "
                f"{units.ratio(1 / factor)} that of the {full}.")
    start = min(layers[full])
    where = "at every size" if at <= start else f"from {units.count(round_to_two(at))} classes on"
    return (f"A step of the {rival} is quicker {where}: {units.ratio(factor)} at "
            f"{units.count(most)} classes.")


def losses(runs: Mapping[str, Sequence[Any]], floor: float, blind: float | None = None) -> Picture:
    """Held-out loss against steps and against seconds, and the entropy below which none can go.

    runs: {layer's name: [Point]}. floor: nats. blind: the loss by frequency alone, if it is drawn.
    """
    drawn = {name: [p for p in points if p.loss < 1e3] for name, points in runs.items()}
    drawn = {name: points for name, points in drawn.items() if len(points) > 1}
    title = winners(drawn)
    figure, (left, right) = blank(width=8.6, height=4.2, title=title, ncols=2, sharey=True)
    at_right = []
    for (name, points), look in zip(drawn.items(), LOOKS, strict=False):
        steps, seconds, down = zip(*((p.steps, p.seconds, p.loss) for p in points), strict=True)
        look = {**look, "markersize": 3}
        left.plot(steps[1:], down[1:], **look)
        at_right.append((name, seconds, down, look))
    log_axes(left, x=("training steps", units.count))
    written(right.xaxis, units.seconds)
    left.set_ylabel("loss of held-out examples, in nats")
    right.set_xlabel("time spent on training steps")
    right.locator_params(axis="x", nbins=4)
    lines(right, at_right)
    level((left, right), floor, ":", f"entropy, {floor:.2f}", 0.02)
    if blind:
        level((left, right), blind, "--", f"by frequency alone, {blind:.2f}", 0.98)
    ends = {name: f"{points[-1].loss:.2f} after {units.count(points[-1].steps)} steps in "
            f"{units.seconds(points[-1].seconds)}" for name, points in drawn.items()}
    lost = [name for name in runs if name not in drawn]
    spoken = listed(ends) + f"; not drawn, as it did not learn: {', '.join(lost)}" * bool(lost)
    return Picture(figure, f"{title} {spoken}. No loss goes below {floor:.2f} but by chance.")


def winners(runs: Mapping[str, Sequence[Any]]) -> str:
    """Whose loss is lowest, when all have had as many steps, and as many seconds."""
    if not runs:
        return "Nothing has been learned yet."
    by_step = lowest(runs, lambda point: point.steps)
    by_second = lowest(runs, lambda point: point.seconds)
    if by_step == by_second:
        return f"Lowest loss after equal steps and after equal seconds: {in_words(by_step)}."
    return (f"Lowest loss after equal steps: {in_words(by_step)}; "
            f"after equal seconds: {in_words(by_second)}.")


def level(panels: Sequence[Any], loss: float, style: str, name: str, where: float) -> None:
    """A line across the panels; its name stands in the first, at its left (0) or right (1)."""
    for axes in panels:
        axes.axhline(loss, color=INK, linewidth=0.8, linestyle=style)
    panels[0].annotate(
        name, (where, loss), (0, 3), color=INK, fontsize=10, ha="left" if where < 0.5 else "right",
        xycoords=("axes fraction", "data"), textcoords="offset points",
    )


def lowest(runs: Mapping[str, Sequence[Any]], amount: Callable[[Any], float]) -> list[str]:
    """Whose loss is lowest when all have had the same amount: on the line between two Points.

    One beyond noise, or all that are within it of the lowest, the lowest first.
    """
    same = min(amount(points[-1]) for points in runs.values())
    at = {name: loss_at(points, amount, same) for name, points in runs.items()}
    return [name for name in sorted(at, key=at.__getitem__) if at[name] <= min(at.values()) + NOISE]


def in_words(names: Sequence[str]) -> str:
    """One layer, or those that are equally good."""
    *first, last = names
    if not first:
        return f"the {last}"
    return f"{', '.join(first)} and {last} within {NOISE:g} nats"


def loss_at(points: Sequence[Any], amount: Callable[[Any], float], at: float) -> float:
    """The loss at this amount; between two Points it is taken for a straight line."""
    return float(np.interp(at, [amount(p) for p in points], [p.loss for p in points]))


def lookups(layer: Any, angle: float, rng: Any, tries: int = 50) -> tuple[float, float]:
    """How often a class's row is found by an h at so many degrees to it, and the active classes.

    layer: models.outputs' Hashed. Returns (share of the tries in which it was active, their mean
    number). Each try takes another class, and another h.
    """
    hits, active = 0, 0
    for c in rng.integers(0, layer.classes, tries):
        row = layer.w[c] / np.linalg.norm(layer.w[c])
        aside = rng.standard_normal(row.size)
        aside -= (aside @ row) * row
        aside /= np.linalg.norm(aside)
        h = math.cos(math.radians(angle)) * row + math.sin(math.radians(angle)) * aside
        found = layer.found(h[None].astype(np.float32))
        hits += c in found
        active += len(found)
    return hits / tries, active / tries
