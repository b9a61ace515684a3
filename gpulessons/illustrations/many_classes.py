"""Output layers over many classes: what a step costs, and what it teaches.

Points are those of `models.many_classes`: of a race {layer's name: [Point]}, of times [StepTime].
As in plots, every title is computed and every picture says its message in words too.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
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
from gpulessons.plots.timings import label_ends, round_to_two

NOISE = 0.05  # nats; a smaller lead may be due to chance
KIND = " softmax"  # said once
LOOKS = [(BLUE, "o"), (GREEN, "s"), (PURPLE, "D"), (ORANGE, "v"), (VERMILLION, "^"), (SKY, "P")]


def looks(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """{name: (color, marker)}, in the order of the names."""
    return dict(zip(names, LOOKS, strict=False))


def by_layer(times: Sequence[Any]) -> dict[str, list[Any]]:
    """{layer: its entries, fewest classes first}."""
    layers: dict[str, list[Any]] = {}
    for one in sorted(times, key=lambda one: one.classes):
        layers.setdefault(one.layer, []).append(one)
    order = dict.fromkeys(one.layer for one in times)
    return {name: layers[name] for name in order}


def cost_against_classes(
    times: Sequence[Any], crossover: Callable[[Any, Any], float | None],
    full: str = "full softmax", rival: str = "hierarchical softmax", note: str = "",
) -> Picture:  # fmt: skip
    """Seconds of a training step against the number of classes, both on log scales.

    times: StepTimes; crossover(a, b): from how many classes on b is quicker. Marked is where the
    rival gets ahead of the full softmax. note: of the machine, or that it was measured roughly.
    """
    layers = by_layer(times)
    at = crossover(medians(layers.get(full, ())), medians(layers.get(rival, ())))
    title = crossing(layers, full, rival, at)
    figure, axes = blank(width=7.6, height=4.4, title=title)
    log_axes(axes, x=("classes", units.count), y=("time of a training step", units.seconds),
             ticks=sorted({one.classes for one in times}))  # fmt: skip
    ends = []
    for name, (color, marker) in looks(list(layers)).items():
        entries = layers[name]
        classes = [one.classes for one in entries]
        low, high = zip(*(one.spread.quartiles for one in entries), strict=True)
        axes.plot(classes, medians(entries).values(), color=color, marker=marker, markersize=5)
        axes.fill_between(classes, low, high, color=color, alpha=0.25, linewidth=0)
        ends.append((classes[-1], entries[-1].spread.median, name, color))
    if at and at > min(one.classes for one in times):
        axes.axvline(at, color=INK, linewidth=0.8, linestyle=":")
    label_ends(axes, ends)
    if medians(layers.get(full, ())).keys() & medians(layers.get(rival, ())).keys():
        label_ratios(axes, medians(layers[full]), medians(layers[rival]))
    if note:
        axes.set_xlabel(f"{axes.get_xlabel()}\n{note}", linespacing=1.4)
    spoken = "; ".join(
        f"{name}: " + ", ".join(
            f"{units.seconds(one.spread.median)} at {units.count(one.classes)}" for one in entries
        ) for name, entries in layers.items()
    )  # fmt: skip
    return Picture(figure, f"{title} {spoken}. {note}".strip())


def label_ratios(axes: Any, full: Mapping[int, float], rival: Mapping[int, float]) -> None:
    """How many times as long as its rival the full softmax takes, and a line between the two.

    At the most classes and at 100,000; nothing where the two lie too close for it.
    """
    both = full.keys() & rival.keys()
    for classes in sorted({100_000, max(both)} & both):
        ratio = full[classes] / rival[classes]
        if ratio >= 3:
            axes.vlines(classes, rival[classes], full[classes], color=INK, linewidth=0.6)
            height = full[classes] ** 0.65 * rival[classes] ** 0.35  # below the line that rises
            axes.annotate(units.ratio(ratio), (classes, height), (-5, 0), color=INK, ha="right",
                          va="center", textcoords="offset points", fontsize=10)  # fmt: skip


def medians(entries: Sequence[Any]) -> dict[int, float]:
    """{classes: seconds}"""
    return {one.classes: one.spread.median for one in entries}


def crossing(
    layers: Mapping[str, Sequence[Any]], full: str, rival: str, at: float | None
) -> str:  # fmt: skip
    """Who is ahead, from where, and how far at the end."""
    if not {full, rival} <= set(layers):
        return "What a training step costs, by the number of classes."
    most = min(layers[full][-1].classes, layers[rival][-1].classes)
    one, other = (next(each.spread.quartiles for each in layers[name] if each.classes == most)
                  for name in (full, rival))  # fmt: skip
    if one[0] <= other[1] and other[0] <= one[1]:  # their middle halves meet
        return (f"At {units.count(most)} classes a step of the {full} and one of the {rival} are "
                "too close to tell who is quicker.")  # fmt: skip
    factor = medians(layers[full])[most] / medians(layers[rival])[most]
    if at is None:
        return (f"At {units.count(most)} classes a step of the {rival} still takes "
                f"{units.ratio(1 / factor)} that of the {full}.")  # fmt: skip
    start = min(one.classes for one in layers[full])
    where = "at every size" if at <= start else f"from {units.count(round_to_two(at))} classes on"
    return (f"A step of the {rival} is quicker {where}: {units.ratio(factor)} at "
            f"{units.count(most)} classes.")  # fmt: skip


def losses(runs: Mapping[str, Sequence[Any]], floor: float, blind: float | None = None) -> Picture:
    """Held-out loss against steps and against seconds, and the entropy below which none can go.

    runs: {layer's name: [Point]}. floor: nats. blind: the loss by frequency alone, if it is drawn.
    """
    finite = {name: [p for p in points if p.loss < 1e3] for name, points in runs.items()}
    shown = {name: points for name, points in finite.items() if len(points) > 1}
    title = winners(shown)
    figure, (left, right) = blank(width=8.6, height=4.2, title=title, ncols=2, sharey=True)
    ends = []
    for name, (color, marker) in looks(list(shown)).items():
        points = shown[name]
        steps, seconds, down = zip(*((p.steps, p.seconds, p.loss) for p in points), strict=True)
        look = {"color": color, "marker": marker, "markersize": 3, "linewidth": 1.4}
        left.plot(steps[1:], down[1:], **look)
        right.plot(seconds, down, **look)
        ends.append((seconds[-1], down[-1], name, color))
    log_axes(left, x=("training steps", units.count))
    written(right.xaxis, units.seconds)
    left.set_ylabel("loss of held-out examples, in nats")
    right.set_xlabel("time spent on training steps")
    right.xaxis.get_major_locator().set_params(nbins=4)
    label_ends(right, ends)
    level((left, right), floor, ":", f"entropy, {floor:.2f}", 0.02)
    if blind:
        level((left, right), blind, "--", f"by frequency alone, {blind:.2f}", 0.98)
    spoken = "; ".join(
        f"{name}: {points[-1].loss:.2f} after {units.count(points[-1].steps)} steps in "
        f"{units.seconds(points[-1].seconds)}" for name, points in shown.items()
    )  # fmt: skip
    lost = [name for name in runs if name not in shown]
    spoken += f"; not drawn, as it did not learn: {', '.join(lost)}" if lost else ""
    return Picture(figure, f"{title} {spoken}. No loss goes below {floor:.2f} but by chance.")


def winners(runs: Mapping[str, Sequence[Any]]) -> str:
    """Whose loss is lowest, when all have had as many steps, and as many seconds."""
    if not runs:
        return "Nothing has been learned yet."
    by_step, by_second = per_step(runs), per_second(runs)
    if by_step == by_second:
        return f"Lowest loss after equal steps and after equal seconds: {in_words(by_step)}."
    return (f"Lowest loss after equal steps: {in_words(by_step)}; "
            f"after equal seconds: {in_words(by_second)}.")  # fmt: skip


def level(panels: Sequence[Any], loss: float, style: str, name: str, where: float) -> None:
    """A line across the panels; its name stands in the first, at its left (0) or right (1)."""
    for axes in panels:
        axes.axhline(loss, color=INK, linewidth=0.8, linestyle=style)
    panels[0].annotate(
        name, (where, loss), (0, 3), color=INK, fontsize=10, ha="left" if where < 0.5 else "right",
        xycoords=("axes fraction", "data"), textcoords="offset points",
    )  # fmt: skip


def per_step(runs: Mapping[str, Sequence[Any]]) -> list[str]:
    """The layers with the lowest loss after as many steps as the one with the fewest took."""
    return lowest(runs, lambda point: point.steps)


def per_second(runs: Mapping[str, Sequence[Any]]) -> list[str]:
    """The layers with the lowest loss after as long as the one that trained shortest."""
    return lowest(runs, lambda point: point.seconds)


def lowest(runs, amount):
    """Whose loss is lowest when all have had the same amount: on the line between two Points.

    One beyond noise, or all that are within it of the lowest, the lowest first.
    """
    if not runs:
        return []
    same = min(amount(points[-1]) for points in runs.values())
    at = {name: loss_at(points, amount, same) for name, points in runs.items()}
    return [name for name in sorted(at, key=at.__getitem__) if at[name] <= min(at.values()) + NOISE]


def in_words(names):
    """One layer, or those that are equally good: full and hashed softmax within 0.05 nats."""
    if len(names) == 1:
        return f"the {names[0]}"
    *first, last = [name.removesuffix(KIND) for name in names]
    kind = KIND if names[-1].endswith(KIND) else ""
    return f"{', '.join(first)} and {last}{kind} within {NOISE:g} nats"


def loss_at(points, amount, at):
    """The loss at this amount; between two Points it is taken for a straight line."""
    before = points[0]
    for point in points[1:]:
        if amount(point) >= at:
            way = (at - amount(before)) / ((amount(point) - amount(before)) or 1)
            return before.loss + way * (point.loss - before.loss)
        before = point
    return points[-1].loss


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
