"""Pictures for a buyer: what a number costs, whose roof is where, how wrong a prediction is."""

import math
from textwrap import fill

from gpulessons import units
from gpulessons.money.devices import TF32
from gpulessons.money.throughput import MEASURES, amount
from gpulessons.plots.axes import beside, label_ends, log_axes
from gpulessons.plots.forms import LOOKS, key, listed, name_rows
from gpulessons.plots.picture import BLUE, INK, VERMILLION, Picture, blank

MARKERS = {"live": "o", "recorded": "s", "published": "^", "typed in": "D"}
MEASURED = "live", "recorded"  # these are filled, and their lines solid
LIMITS = {"bytes/s": {"marker": "o", "color": BLUE}, "FLOP/s": {"marker": "s", "color": VERMILLION}}


def dots(costs) -> Picture:
    """A panel for each number of which a cost is known, a row for each device, a dot for its cost.

    costs: a money.throughput.Costs. Filled where the number was measured, open where it is
    published or typed in; the cheapest has its cost beside it.
    """
    devices, known = costs.devices, {}
    for device in devices:
        each = {m: costs.per(m)[device.name] for m in MEASURES}
        words = ", ".join(f"{amount(c)} per {m}" for m, c in each.items() if c is not None)
        known[f"{device.name} ({device.kind})"] = words or "no cost known"
    spoken = f"{costs.verdict} {listed(known)}."
    drawn = [m for m in MEASURES if any(costs.per(m).values())]
    if not drawn:
        figure, axes = blank(height=1.2, title=costs.verdict)
        axes.set_axis_off()
        return Picture(figure, f"{spoken} There is no panel: no cost above 0 is known.")
    names = 1 + 0.08 * max(len(d.name) for d in devices)  # inches
    width = min(max(names + 1.6 * len(drawn), 6), 8.8)
    figure, panels = blank(width=width, height=1.6 + 0.36 * len(devices), title=costs.verdict,
                           ncols=len(drawn), sharey=True, squeeze=False)
    for axes, measure in zip(panels[0], drawn, strict=True):
        draw_costs(axes, costs, measure)
    name_rows(panels[0, 0], [d.name for d in devices])
    key(figure, {d.kind: look(d.kind, INK) for d in devices})
    return Picture(figure, spoken)


def draw_costs(axes, costs, measure):
    per = costs.per(measure)
    # A log axis has no 0. It ends at powers of 1,000: under a slider dots move, and the axis not.
    powers = [math.log10(cost) / 3 for cost in per.values() if cost]
    low = math.floor(min(powers))
    high = max(math.ceil(max(powers)), low + 1)
    for row, device in enumerate(costs.devices):
        cost = per[device.name]
        axes.axhline(row, color=INK, linewidth=0.4, alpha=0.4, zorder=0)
        if cost:
            color = LOOKS[row % len(LOOKS)]["color"]
            axes.plot(cost, row, clip_on=False, **look(device.kind, color))
        if cost and device.name in costs.best(measure):
            right_half = math.log10(cost) / 3 > (low + high) / 2
            beside(axes, amount(cost), cost, row - 0.2, left=right_half)  # where there is room
    log_axes(axes, x=(f"per {measure}", amount))
    axes.set_xlabel(f"per {measure}\n(log scale)")
    axes.set_xlim(1000 ** (low - 0.05 * (high - low)), 1000 ** (high + 0.05 * (high - low)))
    axes.xaxis.get_major_locator().set_params(numticks=3)
    axes.minorticks_off()  # it is drawn for many prices
    axes.tick_params(axis="x", labelsize=9)


def look(kind, color):
    """A dot's marker, filled where its number was measured."""
    fill = color if kind in MEASURED else "none"
    return {"marker": MARKERS[kind], "color": color, "markerfacecolor": fill, "markersize": 7,
            "linestyle": "none"}


def roofs(worth) -> Picture:
    """The roof of each device, and where each step stands: left of a corner bytes are the limit.

    worth: a money.prediction.Worth, whose times are modelled. Devices of which a rate is unknown
    are left out.
    """
    devices = [d for d in worth.devices if d.corner]
    if not devices:
        raise ValueError("No device has both a flop_rate and a bandwidth: type them in.")
    title = whose_limit(worth, devices)
    marks = {w.label.partition(" at ")[0]: w.intensity for w in worth.works if w.flops}
    places = [*marks.values(), *(d.corner for d in devices)]
    left, right = min(0.1, *places), max(300, *(2 * place for place in places))
    figure, axes = blank(width=8.4, height=4.8, title=title)
    log_axes(axes, x=("FLOPs per byte", "{:g}".format),
             y=("FLOP/s at most", lambda rate: units.rate(rate, "FLOP/s")))
    axes.set_xlim(left, right)
    axes.set_ylim(min(left * d.bandwidth for d in devices), 2 * max(d.flop_rate for d in devices))
    ends = []
    boxes = list(dict.fromkeys(d.name.removesuffix(TF32) for d in devices))
    for d in devices:  # a box has one color, whatever numbers it multiplies
        color = LOOKS[boxes.index(d.name.removesuffix(TF32)) % len(LOOKS)]["color"]
        style = "--" if d.kind == "recorded" else ":" if d.name.endswith(TF32) else "-"
        axes.plot([left, d.corner, right], [left * d.bandwidth, d.flop_rate, d.flop_rate], style,
                  color=color, linewidth=1.8 if d.kind in MEASURED else 0.9)
        axes.plot(d.corner, d.flop_rate, **look(d.kind, color))
        ends.append((right, d.flop_rate, f"{d.name} ({d.kind})", color))
    for place in marks.values():
        axes.axvline(place, color=INK, linewidth=0.8, linestyle=":")
    label_ends(axes, ends)
    dotted = fill(f"dotted, from the left: {', '.join(sorted(marks, key=marks.get))}", 100)
    axes.set_xlabel(f"{axes.get_xlabel()}\n{dotted}", linespacing=1.4)
    corners = listed({f"{d.name} ({d.kind})": f"corner at {d.corner:.3g}" for d in devices})
    stand = listed({name: f"{place:.3g}" for name, place in marks.items()})
    return Picture(figure, f"{title} FLOPs per byte. {corners}. Steps: {stand}.")


def whose_limit(worth, devices):
    """Of how many steps bytes are the limit, for each device, in a sentence."""
    total, by_number = len(worth.works), {}
    for d in devices:
        by_number.setdefault(total - worth.limits[d.name], []).append(d.name)
    told = ", ".join(f"of {number or 'none'} on {' and '.join(by_number[number])}"
                     for number in sorted(by_number, reverse=True))
    return f"Modelled: of {units.plural(total, 'step')} memory is the limit {told}."


def hits(*errors) -> Picture:
    """Measured times against predicted ones: on the diagonal a prediction came true.

    errors: of money.errors, a panel for each. The band is a factor of two; a dot for each op, its
    marker says which limit was predicted.
    """
    some = [each for each in errors if each.misses]
    if not some:
        raise ValueError("Nothing to draw: no op was both predicted and measured.")
    notes = dict.fromkeys(f"{each.note.rstrip('.')}." for each in some if each.note)
    told = ["No result:"] if any(e.disturbed for e in some) else map(typical, some)
    title = " ".join([*told, *notes])
    figure, panels = blank(width=4.6 * len(some) if len(some) > 1 else 6.4, height=4.9,
                           title=title, ncols=len(some), squeeze=False)
    for axes, each in zip(panels[0], some, strict=True):
        draw_hits(axes, each)
    key(figure, {f"limit: {limit}": how for limit, how in LIMITS.items()})
    spoken = " ".join(f"{e.device.name} from {e.known}: {'; '.join(map(repr, e.misses))}."
                      for e in some)
    return Picture(figure, f"{title} {spoken}")


def typical(errors):
    """The size of the error, or what the roof leaves, in a sentence short enough for a title."""
    if errors.shares == "reached":
        least = min(errors.misses, key=lambda miss: miss.reached)
        return (f"The roof alone: in the median {errors.reached:.0%} of it is reached, at least "
                f"{least.reached:.0%} ({least.work.name}).")
    return (f"From {errors.known}: typically off by {units.ratio(errors.median)}, at worst "
            f"{errors.worst.was} ({errors.worst.work.name}).")


def draw_hits(axes, errors):
    times = [t for miss in errors.misses for t in (miss.predicted, miss.measured)]
    low, high = min(times) / 3, 3 * max(times)
    axes.fill_between([low, high], [low / 2, high / 2], [2 * low, 2 * high], color=INK, alpha=0.15,
                      linewidth=0)
    axes.plot([low, high], [low, high], color=INK, linewidth=1)
    log_axes(axes, x=("predicted (modelled)", units.seconds),
             y=(f"measured ({errors.device.kind})", units.seconds))
    axes.set(xlim=(low, high), ylim=(low, high))
    axes.set_title(f"{errors.device.name},\nfrom {errors.known}", color=INK, fontsize=10,
                   loc="left")
    points = []
    for miss in errors.misses:
        how = LIMITS[miss.prediction.limit]
        axes.plot(miss.predicted, miss.measured, markersize=6, **how)
        points.append((miss.predicted, miss.measured, miss.work.name, how["color"]))
    label_ends(axes, points)
