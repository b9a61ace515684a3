"""Pictures for a buyer: one network run in four ways, and when renting or buying pays."""

import numpy as np

from gpulessons import units
from gpulessons.money.renting import HOURS, break_even, energy, owned_hour
from gpulessons.plots.axes import beside, log_axes, name_rows
from gpulessons.plots.forms import key, listed, percent
from gpulessons.plots.picture import BLUE, GREEN, INK, VERMILLION, Picture, blank

BOUNDS = {"FLOP/s": {"color": BLUE, "marker": "s"}, "bytes/s": {"color": GREEN, "marker": "o"},
          "launches": {"color": VERMILLION, "marker": "^"}}  # fmt: skip
TAKEN = {"color": INK, "marker": "D", "markersize": 8, "linestyle": "none"}
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


# -- Rent or buy?


def bill(device, rate, quote, years=3.0, by_token=(), price_per_kwh=0.2) -> Picture:
    """Dollars of a million tokens over the share of the time in which a device makes so many a
    second: rented by the second, an hour for what was quoted, rented for all hours, and owned for
    so many years, a band from the least that is asked to the most; by_token, what sellers of an API
    ask, at least and at most. In use it is at full batch: that is right for a queue that is worked
    off, and not for requests that come one by one."""
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
    for asked in by_token:
        axes.axhline(asked, color=INK, linestyle=":")
    log_axes(axes, x=("share of the time in use, at full batch", percent),
             ticks=(0.05, 0.1, 0.2, 0.5, 1),
             y=("$ a million tokens", "{:g}".format))  # fmt: skip
    key(figure, {"owned": {"color": BLUE}, "rented, always on": {"color": GREEN, "linestyle": "--"},
                 "rented by the second": {"color": VERMILLION}}
        | ({"by the token: the least and the most": {"color": INK, "linestyle": ":"}}
           if by_token else {}))  # fmt: skip
    full = (device.rent / tokens, quote / tokens)
    return Picture(figure, f"{title}. In use all the time a million tokens cost {full[0]:.2f} "
                           f"dollars always on, {full[1]:.2f} by the second.")  # fmt: skip


def pays_from(device, quote, years, price_per_kwh):
    """The shares of the time from which an owned hour costs less than what was quoted for one by
    the second: at the least price, and at the most."""
    each = energy(device.watts, price_per_kwh)
    return tuple(break_even(price, quote, years, each)
                 for price in (device.price, device.price_most))
