"""Pictures for a buyer: one box, what fits, which bound is the longest, what a step costs,
how much of its roof anybody reached, when buying pays."""

from textwrap import fill

import numpy as np

from gpulessons import units
from gpulessons.evidence import published
from gpulessons.money.devices import ON_SHEETS
from gpulessons.money.devices import card as card_of
from gpulessons.money.renting import HOURS, break_even, energy, owned_hour
from gpulessons.money.works import Work, by_width, dense
from gpulessons.plots.axes import beside, log_axes, name_rows
from gpulessons.plots.forms import dots, key, listed, percent
from gpulessons.plots.picture import BLUE, GREEN, INK, VERMILLION, Picture, blank
from warplens.model.devices import sheet

BOUNDS = {"FLOP/s": {"color": BLUE, "marker": "s"}, "bytes/s": {"color": GREEN, "marker": "o"},
          "launches": {"color": VERMILLION, "marker": "^"}}  # fmt: skip
OPEN = {"markerfacecolor": "none", "linestyle": "none", "markersize": 8}
LIVE = {"markersize": 8, "linestyle": "none"}


def words(rate):
    return units.rate(rate, "FLOP/s")


# -- The numbers on one box.


def box(name="H200", reached="H100") -> Picture:
    """The FLOP/s that one card's sheet promises on tensor cores and in float32, the largest doubled
    for 2:4 sparsity, and what the fastest product that anybody found reached.

    reached: the device under which that was published.
    """
    promised = sheet(name)
    (best,) = published("matmul", device=reached, source="ml_engineering")
    rates = dict(sorted(promised.peaks.items(), key=lambda item: -item[1]))
    largest = next(iter(rates))
    told = {f"{largest}, 2:4 sparse": 2 * rates[largest], **rates}
    rows = [(each, rate, {"color": VERMILLION, **OPEN}) for each, rate in told.items()]
    rows.append((f"bfloat16, the fastest product found,\n{best.citation}", best.value,
                 {"color": BLUE, "marker": "D", **OPEN}))
    times = 2 * rates[largest] / rates["float32"]
    title = f"One box: the {name}'s largest FLOP/s are {times:.0f} times its float32."
    return dots(rows, "FLOP/s, published; circles: its maker's promise", words, title=title)


# -- Does it fit?


def fits(devices, works, factors="16 bits") -> Picture:
    """A dot for the memory of each device, a line for what each work has to hold at once."""
    devices = [d for d in devices if d.memory]
    rooms = [f"{sum(w.fits(d, factors) for d in devices)} for {w.name}" for w in works]
    title = f"Of {len(devices)} cards, so many have room: {', '.join(rooms)}."
    figure, axes = blank(height=1.9 + 0.36 * len(devices), title=title)
    for y, device in enumerate(devices):
        axes.plot(device.memory, y, **{"color": BLUE, "marker": "o", **look(device)})
        near = any(1 < work.held[factors] / device.memory < 1.8 for work in works)
        beside(axes, units.rate(device.memory, "B"), device.memory, y, left=near)
    for work in works:
        need = work.held[factors]
        axes.vlines(need, -0.5, len(devices) - 0.5, color=VERMILLION, linestyle="--", linewidth=1.2)
        axes.annotate(f"{work.name}:\n{units.rate(need, 'B')}", (need, -0.7), color=INK, fontsize=9,
                      ha="center", va="bottom")
    name_rows(axes, [device.name for device in devices])
    axes.set_ylim(len(devices) - 0.5, -1.6)
    places = [w.held[factors] for w in works] + [d.memory for d in devices]
    axes.set_xlim(min(places) / 3, 4 * max(places))
    log_axes(axes, x=(f"memory; dashed: held in {factors}", lambda size: units.rate(size, "B")))
    spoken = listed({d.name: units.rate(d.memory, "B") for d in devices})
    return Picture(figure, f"{title} {spoken}.")


def look(device):
    """Filled where its numbers were measured."""
    return LIVE if device.kind == "live" else OPEN


# -- Which bound is the longest?


def waiting(works, device, factors):
    """{bound: how many of the works take longest for it}, none left out."""
    return {bound: sum(work.limit(device, factors) == bound for work in works) for bound in BOUNDS}


def bounds(works, device) -> Picture:
    """A panel for each type of factors, a row for each work: the seconds of its three bounds, the
    longest large."""
    kinds = [*device.rates]
    told = [f"{n} for {bound}" for bound, n in waiting(works, device, kinds[-1]).items()]
    title = f"{device.name}, {kinds[-1]}: of {len(works)} steps wait {', '.join(told)}."
    figure, panels = blank(9.2, 1.9 + 0.34 * len(works), title, ncols=len(kinds), sharey=True,
                           sharex=True, squeeze=False)
    times = {kind: [work.parts(device, kind) for work in works] for kind in kinds}
    every = [t for parts in times.values() for each in parts for t in each.values() if t]
    for axes, kind in zip(panels[0], kinds, strict=True):
        axes.set_xlim(min(every) / 2, 9 * max(every))
        log_axes(axes, x=("at least", units.seconds))
        axes.set_title(kind, color=INK, fontsize=10, loc="left")
        for y, parts in enumerate(times[kind]):
            draw_bounds(axes, y, parts)
    name_rows(panels[0, 0], [work.name for work in works])
    key(figure, {f"its {bound}": {**look, **OPEN} for bound, look in BOUNDS.items()})
    spoken = (f"{kind}: " + ", ".join(
        f"{work.name} {units.seconds(max(parts.values()))} for {max(parts, key=parts.get)}"
        for work, parts in zip(works, times[kind], strict=True)) for kind in kinds)
    return Picture(figure, f"{title} The longest bound. {'; '.join(spoken)}.")


def draw_bounds(axes, y, parts):
    longest = max(parts, key=parts.get)
    seen = {bound: seconds for bound, seconds in parts.items() if seconds}
    axes.hlines(y, min(seen.values()), parts[longest], color=INK, linewidth=0.6)
    for bound, seconds in seen.items():
        large = {"markersize": 12, "markeredgewidth": 2.6} if bound == longest else {}
        axes.plot(seconds, y, **{**BOUNDS[bound], **OPEN, **large})
    beside(axes, units.seconds(parts[longest]), parts[longest], y)


# -- What does a step cost?


def prices(works, devices, factors="16 bits") -> Picture:
    """A panel for each work, a row for each device: dollars of a million steps, from its least rent
    to its most, were the longest bound all."""
    costs = {w.name: {d.name: w.cost(d, factors) for d in devices} for w in works}
    known = {name: {d: c for d, c in each.items() if c} for name, each in costs.items()}
    best = {name: min(each, key=lambda d: each[d][0]) for name, each in known.items() if each}
    title = f"Cheapest at its least rent: {'; '.join(f'{d} for {n}' for n, d in best.items())}."
    title = title if best else f"No card that fits has both {factors} and a rent."
    figure, panels = blank(8.8, 2 + 0.34 * len(devices), title, ncols=len(works), sharey=True,
                           squeeze=False)
    for axes, work in zip(panels[0], works, strict=True):
        draw_prices(axes, work, devices, factors, best.get(work.name))
    name_rows(panels[0, 0], [device.name for device in devices])
    spoken = {name: listed({d: f"{1e6 * low:.3g} to {1e6 * high:.3g}"
                            for d, (low, high) in each.items()}) for name, each in known.items()}
    return Picture(figure, f"{title} Dollars of a million steps, modelled: {listed(spoken)}.")


def draw_prices(axes, work, devices, factors, best):
    ends = []
    for y, device in enumerate(devices):
        axes.axhline(y, color=INK, linewidth=0.4, alpha=0.4, zorder=0)
        cost = work.cost(device, factors)
        if not cost or not cost[0]:
            axes.annotate(why_none(work, device, factors), (0.03, y), color=INK, fontsize=8.5,
                          va="center", xycoords=axes.get_yaxis_transform())
            continue
        low, high = (1e6 * end for end in cost)
        ends += [low, high]
        look = {"color": VERMILLION, "marker": "D"} if device.name == best else {"color": BLUE}
        axes.plot([low, high], [y, y], linewidth=1.5, **{"marker": "|", **look, "markersize": 9,
                                                         "markerfacecolor": "none"})
    axes.set_xlim(min(ends, default=1) / 2, 2 * max(ends, default=1))
    log_axes(axes, x=("$ a million steps", "{:g}".format))
    axes.set_title(fill(work.name, 26), color=INK, fontsize=10, loc="left")


def why_none(work, device, factors):
    if not work.fits(device, factors):
        return "does not fit"
    if not device.rates.get(factors):
        return f"has no {factors}"
    return "costs nothing" if device.rent == 0 else "has no rent"


# -- How much of the roof is reached?

# Large layers and small ones; an LSTM whose steps wait for each other; a token; a training run.
LAYERS = [(card, dtype, batch) for batch in (16, 7000) for card in ("T4", "V100")
          for dtype in ("float32", "float16")]  # fmt: skip


def reached() -> Picture:
    """A dot for each published time: the share of what the card's data sheet allows at best."""
    shares = [*layers_reached(), lstm_reached(), token_reached(), training_reached()]
    least, most = (end(share for _, share, _ in shares) for end in (min, max))
    title = f"Published times reach {percent(least)} to {percent(most)} of the roof."
    figure, axes = blank(height=1.4 + 0.32 * len(shares), title=title)
    shares.sort(key=lambda row: row[1])
    for y, (_, share, _) in enumerate(shares):
        axes.plot(share, y, "o", **{**OPEN, "color": BLUE})
        axes.annotate(percent(share), (share + 0.025, y), color=INK, fontsize=9.5, va="center")
    name_rows(axes, [what for what, *_ in shares])
    who = dict.fromkeys(row.source.title for *_, row in shares)
    axes.set(xlim=(0, 1.1), xlabel=fill(f"share of the roof; {', '.join(who)}", 50))
    axes.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    return Picture(figure, f"{title} {listed({what: percent(s) for what, s, _ in shares})}.")


def layers_reached():
    for card, dtype, batch in LAYERS:
        (row,) = published("dense", device=card, dtype=dtype, batch=batch, source="deepbench")
        roof = dense(batch).seconds(card_of(card), ON_SHEETS[dtype])
        yield f"dense layer, batch {batch:,}, {dtype}, {card}", roof / row.value, row


def lstm_reached():
    """Its weights fit on the chip, and are counted once."""
    (row,) = published("lstm", device="V100", dtype="float32", hidden=512, batch=16,
                       what="cuDNN: forward")  # fmt: skip
    flops, weights = 8 * 512**2 * 16 * 25, by_width(4 * 512**2)
    roof = Work("LSTM", flops, weights, weights).seconds(card_of("V100"), "float32")
    return "LSTM, 25 steps, batch 16, float32, V100", roof / row.value, row


def token_reached():
    (row,) = published("decoding", source="gpt_fast", unit="GB/s")
    return ("a token of a 7 B transformer, bfloat16, A100 at 330 W",
            row.value / card_of(row.device).bandwidth, row)  # fmt: skip


def training_reached():
    (row,) = published("training", source="mfu", cards=8192)
    return "training Llama 3 405B (MFU), bfloat16, 8,192 H100", row.value, row


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
