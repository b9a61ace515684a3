"""Pictures for a buyer: two boxes, one network run in four ways, what an hour of a card is worth to
each, what a token costs, when buying pays."""

from textwrap import fill

import numpy as np

from gpulessons import units
from gpulessons.money.chain import UNDECIDED
from gpulessons.money.renting import HOURS, break_even, energy, owned_hour
from gpulessons.plots.axes import beside, log_axes, name_rows
from gpulessons.plots.forms import dots, key, listed, percent
from gpulessons.plots.picture import BLUE, GREEN, INK, VERMILLION, Picture, blank

BOUNDS = {"FLOP/s": {"color": BLUE, "marker": "s"}, "bytes/s": {"color": GREEN, "marker": "o"},
          "launches": {"color": VERMILLION, "marker": "^"}}  # fmt: skip
TAKEN = {"color": INK, "marker": "D", "markersize": 8, "linestyle": "none"}
OPEN = {"markerfacecolor": "none", "linestyle": "none", "markersize": 8}


# -- Two boxes, and one network run in four ways.


def ratios(dear, cheap, rents) -> Picture:
    """How many times the dearer card has of each number on the box; dashed, the least and the most
    that its rent is of the other's."""
    numbers = {
        "FLOP/s in 16 bits": (dear.rates["16 bits"], cheap.rates["16 bits"]),
        "FLOP/s in float32": (dear.rates["float32"], cheap.rates["float32"]),
        "bytes/s": (dear.bandwidth, cheap.bandwidth), "bytes": (dear.memory, cheap.memory),
    }  # fmt: skip
    rows = [(what, more / less, {"color": BLUE}) for what, (more, less) in numbers.items()]
    beyond = [what for what, times, _ in rows if times > rents[1]]
    title = (f"The rent of the {dear.name} is {span(rents)} that of the {cheap.name}. "
             f"More than that it has of {' and '.join(beyond) or 'nothing'}.")  # fmt: skip
    picture = dots(rows, f"{dear.name} over {cheap.name}, by data sheets", "{:.3g} ×".format,
                   title=title, one=True, base=2)
    picture.axes.axvspan(*rents, color=VERMILLION, alpha=0.25, linewidth=0)
    return picture


def span(ends):
    return f"{ends[0]:.2f} to {ends[1]:.2f} times"


def chain(stages, device) -> Picture:
    """A row for each stage: the seconds of its three bounds on a card, and of a published step."""
    works = [stage.work.parts(device, "16 bits") for stage in stages]
    over = f"{stages[0].seconds / max(works[0].values()):.1f} times its longest bound"
    title = f"{stages[0].name}: {over} on the {device.name}."
    figure, axes = blank(8.4, 1.9 + 0.45 * len(stages), title)
    spoken = {}
    for y, (stage, parts) in enumerate(zip(stages, works, strict=True)):
        draw_bounds(axes, y, parts, stage.seconds)
        told = f"{units.seconds(stage.seconds)}: {waited(stage, device)}"
        beside(axes, told, stage.seconds, y)
        spoken[stage.name] = f"{units.seconds(max(parts.values()))} at least, {told}"
    name_rows(axes, spoken)
    axes.set_xlim(min(min(parts.values()) for parts in works) / 2,
                  14 * max(stage.seconds for stage in stages))  # fmt: skip
    log_axes(axes, x=("a step", units.seconds))
    key(figure, {f"its {bound}, at least": {**look, **OPEN} for bound, look in BOUNDS.items()}
        | {"published": TAKEN})
    return Picture(figure, f"{title} Modelled, then published. {listed(spoken)}.")


def draw_bounds(axes, y, parts, taken):
    axes.hlines(y, min(parts.values()), taken, color=INK, linewidth=0.6)
    for bound, seconds in parts.items():
        large = {"markersize": 12, "markeredgewidth": 2.6} if bound == max(
            parts, key=parts.get) else {}  # fmt: skip
        axes.plot(seconds, y, **{**BOUNDS[bound], **OPEN, **large})
    axes.plot(taken, y, **TAKEN)


def waited(stage, device):
    """ "overhead", or "bytes/s, MBU 68%"."""
    limit = stage.limit(device)
    share = {"FLOP/s": "MFU", "bytes/s": "MBU"}.get(limit)
    return f"{limit}, {share} {percent(stage.reached(device))}" if share else limit


def worth(stages, cheap, dear, rents) -> Picture:
    """A bar for each stage: how many hours of the cheaper card an hour of the dearer is worth; the
    band is what it is rented for."""
    bars = {each.name: each.worth(cheap, dear) for each in stages}
    words = [each.verdict(cheap, dear, rents) for each in stages]
    ends = [end for bar in bars.values() for end in bar]
    decided = len(words) - words.count(UNDECIDED)
    title = (f"The rent of the {dear.name} is {span(rents)} that of the {cheap.name}: decided in "
             f"{decided} of {len(words)} ways.")  # fmt: skip
    figure, axes = blank(height=1.7 + 0.4 * len(bars), title=title)
    axes.axvspan(*rents, color=VERMILLION, alpha=0.25, linewidth=0)
    told = {}
    for y, ((name, (low, high)), word) in enumerate(zip(bars.items(), words, strict=True)):
        axes.plot([low, high], [y, y], "|-", color=BLUE, linewidth=3, markersize=14)
        told[name] = f"{low:.2f} to {high:.2f} ×: " * (low < high) + word
        beside(axes, told[name], max(*ends, *rents), y)
    name_rows(axes, bars)
    axes.set(xlim=(0, 1.7 * max(*ends, *rents)),
             xlabel=f"an hour of the {dear.name}, in hours of the {cheap.name}: worth, modelled")
    return Picture(figure, f"{title} {listed(told)}.")


# -- What does a step cost?


def prices(works, devices, factors="16 bits") -> Picture:
    """A panel for each of {name: a work, or what makes one of (device, factors)}, a row for each
    device: dollars of a million tokens at least, from its least rent to its most, were the longest
    bound all."""
    made = {name: [each(d, factors) if callable(each) else each for d in devices]
            for name, each in works.items()}  # fmt: skip
    known = {name: {d.name: cost for d, work in zip(devices, row, strict=True)
                    if (cost := work.cost(d, factors))} for name, row in made.items()}
    best = {name: cheapest(costs) for name, costs in known.items() if costs}
    told = "; ".join(f"{name}: {f'undecided among {len(c)} cards' if c[1:] else c[0]}"
                     for name, c in best.items())  # fmt: skip
    title = (f"Which is cheapest? {told}." if best else
             f"No card that fits has both {factors} and a rent.")
    figure, panels = blank(8.8, 2 + 0.34 * len(devices), title, ncols=len(works), sharey=True,
                           squeeze=False)
    for axes, (name, row) in zip(panels[0], made.items(), strict=True):
        draw_prices(axes, row, devices, factors, best.get(name, ()))
        axes.set_title(fill(name, 26), color=INK, fontsize=10, loc="left")
    name_rows(panels[0, 0], [device.name for device in devices])
    spoken = {name: listed({d: f"{1e6 * low:.3g} to {1e6 * high:.3g}"
                            for d, (low, high) in each.items()}) for name, each in known.items()}
    return Picture(figure, f"{title} Dollars of a million tokens, modelled: {listed(spoken)}.")


def cheapest(costs):
    """Of {card: (least, most)} those that no other undercuts at every rent."""
    bar = min(most for _, most in costs.values())
    return [card for card, (least, _) in costs.items() if least <= bar]


def draw_prices(axes, works, devices, factors, best):
    ends = []
    for y, (work, device) in enumerate(zip(works, devices, strict=True)):
        axes.axhline(y, color=INK, linewidth=0.4, alpha=0.4, zorder=0)
        cost = work.cost(device, factors)
        if not cost or not cost[0]:
            axes.annotate(why_none(work, device, factors), (0.03, y), color=INK, fontsize=8.5,
                          va="center", xycoords=axes.get_yaxis_transform())
            continue
        low, high = (1e6 * end for end in cost)
        ends += [low, high]
        look = {"color": VERMILLION, "marker": "D"} if device.name in best else {"color": BLUE}
        axes.plot([low, high], [y, y], linewidth=1.5, **{"marker": "|", **look, "markersize": 9,
                                                         "markerfacecolor": "none"})
    axes.set_xlim(min(ends, default=1) / 2, 2 * max(ends, default=1))
    log_axes(axes, x=("$ a million tokens, at least", "{:g}".format))


def why_none(work, device, factors):
    if not work.fits(device, factors):
        return "does not fit"
    if not device.rates.get(factors):
        return f"has no {factors}"
    return "costs nothing" if device.rent == 0 else "has no rent"


# -- Rent or buy?


def renting(devices, years=3.0, price_per_kwh=0.2) -> Picture:
    """A panel for each device: dollars of an hour of use over the share of so many years in which
    it is used, owned and rented, each a band from the least that is asked to the most."""
    shown = [d for d in devices if d.price and d.rent]
    told = "; ".join(f"{d.name} {pays_from(d, years, price_per_kwh)}" for d in shown)
    title = f"In use for {years:g} years, buying pays: {told}."
    figure, panels = blank(8.8, 3.6, title, ncols=len(shown), sharey=True, squeeze=False)
    used = np.geomspace(0.02, 1, 60)
    for axes, device in zip(panels[0], shown, strict=True):
        log_axes(axes, x=("share of the time in use", percent), ticks=(0.02, 0.1, 0.3, 1),
                 y=("$ an hour of use", "{:g}".format))  # fmt: skip
        each = energy(device.watts, price_per_kwh)
        owned = (owned_hour(price, years * HOURS * used, each)
                 for price in (device.price, device.price_most))
        axes.fill_between(used, *owned, color=BLUE, alpha=0.5, linewidth=0)
        axes.fill_between(used, device.rent, device.rent_most, facecolor="none", hatch="//",
                          edgecolor=VERMILLION, linewidth=0.8)
        axes.set_title(device.name, color=INK, fontsize=10, loc="left")
        axes.label_outer()
    key(figure, {"bought": {"color": BLUE}, "rented (hatched)": {"color": VERMILLION, **OPEN}})
    return Picture(figure, title)


def pays_from(device, years, price_per_kwh):
    """ "from 18% to 26% of the time", or "never": the share of the time from which an owned hour
    costs less, at the least price and the most rent; and at the most price and the least rent."""
    each = energy(device.watts, price_per_kwh)
    least = break_even(device.price, device.rent_most, years, each)
    most = break_even(device.price_most, device.rent, years, each)
    if least > 1:
        return "never"
    return f"from {percent(least)} of the time" + (f" to {percent(most)}" if most <= 1 else
                                                   " at best, or never")  # fmt: skip
