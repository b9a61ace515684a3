"""Output layers over many classes: what a step costs, and what it teaches.

Points are those of `models.many_classes`: of a race {layer's name: [Point]}, of times [StepTime].
"""

import math

import numpy as np

from gpulessons import units
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import LOOKS, lines, listed, log_lines
from gpulessons.plots.picture import INK, Picture, blank
from gpulessons.plots.timings import round_to_two

from .roofs import between, decided, dotted

FULL, RIVAL = "full softmax", "hierarchical softmax"
NOISE = 0.05  # nats; a smaller lead may be due to chance


def cost_against_classes(times, crossover, roofs) -> Picture:
    """Seconds of a training step against the number of classes, both on log scales.

    times: StepTimes; crossover(a, b): from how many classes on b is quicker. Marked is where the
    hierarchical softmax gets ahead of the full one. roofs: {card: seconds(classes)} that a full
    step takes at least; the tree is held against them at its upper quartile.
    """
    layers = {one.layer: {} for one in times}
    for one in sorted(times, key=lambda one: one.classes):
        layers[one.layer][one.classes] = one.spread
    medians = {name: {n: spread.median for n, spread in each.items()}
               for name, each in layers.items()}
    at = crossover(medians.get(FULL, {}), medians.get(RIVAL, {}))
    looks = {name: {**look, "linestyle": "-"} for name, look in zip(layers, LOOKS, strict=False)}
    ticks = sorted({one.classes for one in times})
    fine = np.geomspace(ticks[0], ticks[-1], 200)
    slow = between({n: spread.quartiles[1] for n, spread in layers[RIVAL].items()})
    bounded = decided(roofs, slow, fine, who="this tree",
                      write=lambda n: f"{units.count(round_to_two(n))} classes")
    picture = log_lines(
        [(name, list(medians[name]), list(medians[name].values()), look)
         for name, look in looks.items()] + dotted(roofs, "full", fine),
        ("classes", units.count), ("time of a training step", units.seconds),
        title=f"{crossing(layers, at)} {bounded}", ticks=ticks,
    )
    for name, look in looks.items():
        low, high = zip(*(spread.quartiles for spread in layers[name].values()), strict=True)
        picture.axes.fill_between(list(layers[name]), low, high, color=look["color"], alpha=0.25,
                                  linewidth=0)
    if at and at > min(one.classes for one in times):
        picture.axes.axvline(at, color=INK, linewidth=0.8, linestyle=":")
    return picture


def crossing(layers, at):
    """Who is ahead, from how many classes on, how far at the end; layers: {name: {n: spread}}."""
    if not {FULL, RIVAL} <= set(layers):
        return "What a training step costs, by the number of classes."
    most = max(layers[FULL].keys() & layers[RIVAL].keys())
    one, other = layers[FULL][most], layers[RIVAL][most]
    last = f"{units.count(most)} classes"
    if one.quartiles[0] <= other.quartiles[1] and other.quartiles[0] <= one.quartiles[1]:
        return (f"At {last} a step of the {FULL} and one of the {RIVAL} are too close to tell who "
                "is quicker.")
    factor = one.median / other.median
    if at is None:
        longer = units.ratio(1 / factor)
        return f"At {last} a step of the {RIVAL} still takes {longer} that of the {FULL}."
    start = min(layers[FULL])
    digits = units.count(int(float(f"{at:.2g}")))  # two: a crossover is not known better
    where = "at every size" if at <= start else f"from {digits} classes on"
    return f"A step of the {RIVAL} is quicker {where}: {units.ratio(factor)} at {last}."


def losses(runs, floor: float, blind: float) -> Picture:
    """Held-out loss against steps and against seconds, and the entropy below which none can go.

    runs: {layer's name: [Point]}. floor: nats. blind: the loss by frequency alone.
    """
    drawn = {name: [p for p in points if p.loss < 1e3] for name, points in runs.items()}
    drawn = {name: points for name, points in drawn.items() if len(points) > 1}
    title = winners(drawn)
    figure, (left, right) = blank(width=8.6, height=4.2, title=title, ncols=2, sharey=True)
    at_right = []
    for (name, points), look in zip(drawn.items(), LOOKS, strict=False):
        steps, seconds, down = zip(*((p.steps, p.seconds, p.loss) for p in points), strict=True)
        look = {**look, "markersize": 3, "linestyle": "-"}
        left.plot(steps[1:], down[1:], **look)
        at_right.append((name, seconds, down, look))
    log_axes(left, x=("training steps", units.count))
    written(right.xaxis, units.seconds)
    left.set_ylabel("loss of held-out examples, in nats")
    right.set_xlabel("time spent on training steps")
    right.locator_params(axis="x", nbins=4)
    lines(right, at_right)
    for loss, style, name, x, side in ((floor, ":", "entropy", 0.02, "left"),
                                       (blind, "--", "by frequency alone", 0.98, "right")):
        for axes in (left, right):
            axes.axhline(loss, color=INK, linewidth=0.8, linestyle=style)
        left.annotate(f"{name}, {loss:.2f}", (x, loss), (0, 3), color=INK, fontsize=10, ha=side,
                      xycoords=("axes fraction", "data"), textcoords="offset points")
    ends = {name: f"{points[-1].loss:.2f} after {units.count(points[-1].steps)} steps in "
            f"{units.seconds(points[-1].seconds)}" for name, points in drawn.items()}
    lost = [name for name in runs if name not in drawn]
    spoken = listed(ends) + f"; not drawn, as it did not learn: {', '.join(lost)}" * bool(lost)
    return Picture(figure, f"{title} {spoken}. No loss goes below {floor:.2f} but by chance.")


def winners(runs) -> str:
    """Whose loss is lowest, when all have had as many steps, and as many seconds."""
    if not runs:
        return "Nothing has been learned yet."
    by_step = lowest(runs, lambda point: point.steps)
    by_second = lowest(runs, lambda point: point.seconds)
    if by_step == by_second:
        return f"Lowest loss after equal steps and after equal seconds: {by_step}."
    return f"Lowest loss after equal steps: {by_step}; after equal seconds: {by_second}."


def lowest(runs, amount) -> str:
    """Whose loss is lowest when all have had the same amount, with those within noise of it."""
    same = min(amount(points[-1]) for points in runs.values())
    at = {name: loss_at(points, amount, same) for name, points in runs.items()}
    first, *others = [n for n in sorted(at, key=at.get) if at[n] <= min(at.values()) + NOISE]
    return f"the {' and '.join([first, *others])}" + f" within {NOISE:g} nats" * bool(others)


def loss_at(points, amount, at: float) -> float:
    """The loss at this amount; between two Points it is taken for a straight line."""
    return float(np.interp(at, [amount(p) for p in points], [p.loss for p in points]))


def lookups(layer, angle: float, rng, tries: int = 50) -> tuple[float, float]:
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
