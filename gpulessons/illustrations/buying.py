"""Pictures for a buyer: one network run in four ways, what a token costs, when buying pays."""

from textwrap import fill

import numpy as np

from gpulessons import units
from gpulessons.money.renting import HOURS, break_even, energy, owned_hour
from gpulessons.plots.axes import beside, log_axes, name_rows
from gpulessons.plots.forms import key, listed, percent
from gpulessons.plots.picture import BLUE, GREEN, INK, VERMILLION, Picture, blank

BOUNDS = {"FLOP/s": {"color": BLUE, "marker": "s"}, "bytes/s": {"color": GREEN, "marker": "o"},
          "launches": {"color": VERMILLION, "marker": "^"}}  # fmt: skip
TAKEN = {"color": INK, "marker": "D", "markersize": 8, "linestyle": "none"}
FLOATS = {"8 bits": "FP8", "4 bits": "FP4"}
UNSURE = 1.1  # a card holds some 7 % more than its box says, and driver and program keep some
OPEN = {"markerfacecolor": "none", "linestyle": "none", "markersize": 8}


# -- One network run in four ways.


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
    told = "; ".join(f"{name}: {' or '.join(cards)}" for name, cards in best.items())
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
        over = work.held[factors] / device.memory
        return "fits barely, if at all" if over < UNSURE else "does not fit"
    if not device.rates.get(factors):
        return f"no {FLOATS[factors]}" if factors in FLOATS else f"no FLOP/s in {factors}"
    return "costs nothing" if device.rent == 0 else "has no rent"


# -- Rent or buy?


def bill(device, rate, quote, years=3.0, price_per_kwh=0.2) -> Picture:
    """Dollars of a million tokens over the share of the time in which a device makes so many a
    second: rented by the second, an hour for what was quoted, rented for all hours, and owned for
    so many years, a band from the least that is asked to the most. In use it is at full batch: that
    is right for a queue that is worked off, and not for requests that come one by one."""
    used, each = np.geomspace(0.05, 1, 60), energy(device.watts, price_per_kwh)
    owned = [owned_hour(price, years * HOURS * used, each)
             for price in (device.price, device.price_most)]
    least, most = pays_from(device, quote, years, price_per_kwh)
    never = "" if least <= 1 else ", so never"
    title = (f"{device.name}, cheaper than by the second: owned for {years:g} years from "
             f"{percent(least)} to {percent(most)}\nof the time in use{never}; always on from "
             f"{percent(device.rent / quote)}")  # fmt: skip
    figure, axes = blank(8.4, 3.6, title)
    tokens = rate * 3600 / 1e6  # millions in an hour of use
    axes.fill_between(used, *(hour / tokens for hour in owned), color=BLUE, alpha=0.5, linewidth=0)
    axes.plot(used, device.rent / used / tokens, color=GREEN, linestyle="--")
    axes.plot(used, 0 * used + quote / tokens, color=VERMILLION)
    log_axes(axes, x=("share of the time in use, at full batch", percent),
             ticks=(0.05, 0.1, 0.2, 0.5, 1),
             y=("$ a million tokens", "{:g}".format))  # fmt: skip
    key(figure, {"owned": {"color": BLUE}, "rented, always on": {"color": GREEN, "linestyle": "--"},
                 "rented by the second": {"color": VERMILLION}})  # fmt: skip
    full = (device.rent / tokens, quote / tokens)
    return Picture(figure, f"{title}. In use all the time a million tokens cost {full[0]:.2f} "
                           f"dollars always on, {full[1]:.2f} by the second.")  # fmt: skip


def pays_from(device, quote, years, price_per_kwh):
    """The shares of the time from which an owned hour costs less than what was quoted for one by
    the second: at the least price, and at the most."""
    each = energy(device.watts, price_per_kwh)
    return tuple(break_even(price, quote, years, each)
                 for price in (device.price, device.price_most))
