"""Pictures for a buyer: one box's numbers, what fits, which limit binds, what a step costs, how
much of its roof anybody reached, when buying pays."""

import math
from textwrap import fill

import numpy as np

from gpulessons import units
from gpulessons.evidence import published
from gpulessons.money.devices import FACTORS, ON_SHEETS
from gpulessons.money.devices import card as card_of
from gpulessons.money.renting import HOURS, break_even, energy, owned_hour
from gpulessons.money.works import Work, by_width, dense
from gpulessons.plots.axes import beside, label_ends, log_axes, name_rows
from gpulessons.plots.forms import LOOKS, dots, key, listed, percent
from gpulessons.plots.picture import BLUE, GREEN, INK, ORANGE, VERMILLION, Picture, blank
from warplens.model.devices import sheet

COLORS = dict(zip(FACTORS, (BLUE, GREEN, VERMILLION), strict=True))
MARKS = dict(zip(FACTORS, "os^", strict=True))
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


# -- Which limit binds?


def left_of(works, device, factors):
    """How many of the works have fewer operations a byte than a device's ridge point."""
    return sum(work.limit(device, factors) == "bytes/s" for work in works)


def ridges(groups, devices, of) -> Picture:
    """A row for each device with its ridge points, by the type of the factors, and bands where the
    works stand in 16 bits: left of a point a work cannot wait for FLOP/s.

    groups: {name of a band: works}; the title is of the first, on the device called `of`.
    """
    works, (card,) = next(iter(groups.values())), [d for d in devices if d.name == of]
    moved = [f"{left_of(works, card, f)} in {f}" for f in card.rates]
    title = f"Of {len(works)} steps so many stand left of the {of}'s ridge: {', '.join(moved)}."
    figure, axes = blank(8.2, 2.2 + 0.36 * len(devices), title)
    places = draw_bands(axes, groups)
    for y, device in enumerate(devices):
        points = {factors: device.ridge(factors) for factors in device.rates}
        places += points.values()
        axes.plot([*points.values()], [y] * len(points), color=INK, linewidth=0.8)
        for factors, place in points.items():
            axes.plot(place, y, **{"color": COLORS[factors], "marker": MARKS[factors],
                                   **look(device)})
    name_rows(axes, [device.name for device in devices])
    axes.set_xlim(min(places) / 2, 2.5 * max(places))
    log_axes(axes, x=("operations a byte; marks: ridge points, bands: steps in 16 bits",
                      "{:g}".format))  # fmt: skip
    key(figure, {f: {"color": COLORS[f], "marker": MARKS[f], "markerfacecolor": "none"}
                 for f in FACTORS} | {"filled: measured here": {"color": INK, "marker": "o"}})
    spoken = listed({d.name: ", ".join(f"{d.ridge(f):.3g} in {f}" for f in d.rates)
                     for d in devices})
    stand = listed({w.name: f"{w.intensity('16 bits'):.3g}" for g in groups.values() for w in g})
    return Picture(figure, f"{title} Ridge points, operations a byte: {spoken}. Steps in 16 bits: "
                           f"{stand}.")


def draw_bands(axes, groups):
    """Returns where they end."""
    places = []
    for n, (name, works) in enumerate(groups.items()):
        stand = sorted(work.intensity("16 bits") for work in works)
        places += stand
        axes.axvspan(stand[0] / 1.02, stand[-1] * 1.02, color=ORANGE, alpha=0.3, linewidth=0)
        axes.annotate(name, (math.sqrt(stand[0] * stand[-1]), 1), (0, 3 + 12 * (n % 2)),
                      textcoords="offset points", color=INK, fontsize=9, ha="center",
                      xycoords=axes.get_xaxis_transform())
    return places


# -- What does a step cost?


def prices(works, devices, factors="16 bits") -> Picture:
    """A panel for each work, a row for each device: dollars of a million steps by its rent, were
    the roof reached."""
    costs = {w.name: {d.name: w.cost(d, factors) for d in devices} for w in works}
    best = {name: min((c, d) for d, c in each.items() if c is not None)[1]
            for name, each in costs.items() if any(c is not None for c in each.values())}
    title = f"Cheapest by rent: {'; '.join(f'{d} for {name}' for name, d in best.items())}."
    title = title if best else f"No card that fits has both {factors} and a rent."
    figure, panels = blank(8.6, 1.8 + 0.34 * len(devices), title, ncols=len(works), sharey=True,
                           squeeze=False)
    for axes, work in zip(panels[0], works, strict=True):
        draw_prices(axes, work, devices, factors, best.get(work.name))
    name_rows(panels[0, 0], [device.name for device in devices])
    spoken = {name: listed({d: f"{1e6 * c:.3g}" for d, c in each.items() if c is not None})
              for name, each in costs.items()}
    return Picture(figure, f"{title} Dollars of a million steps, modelled: {listed(spoken)}.")


def draw_prices(axes, work, devices, factors, best):
    known = []
    for y, device in enumerate(devices):
        axes.axhline(y, color=INK, linewidth=0.4, alpha=0.4, zorder=0)
        cost = work.cost(device, factors)
        if not cost:
            axes.annotate(why_none(work, device, factors), (0.03, y), color=INK, fontsize=8.5,
                          va="center", xycoords=axes.get_yaxis_transform())
            continue
        known.append(1e6 * cost)
        won = device.name == best
        axes.plot(known[-1], y, "D" if won else "o",
                  **{**OPEN, "color": VERMILLION if won else BLUE})
    axes.set_xlim(min(known, default=1) / 3, 3 * max(known, default=1))
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
    axes.set(xlim=(0, 1.1), xlabel=f"share of the roof; {', '.join(who)}")
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


def renting(devices, years=3.0, host=0.0, price_per_kwh=0.2) -> Picture:
    """Dollars of an hour of use over the share of so many years in which it is used: owned, a band
    that falls, from the least price to the most; rented, a level line.

    host: dollars for the machine around a card.
    """
    shown = [d for d in devices if d.price and d.rent]
    told = ", ".join(f"{d.name} {pays_from(d, years, host, price_per_kwh)}" for d in shown)
    title = f"In use for {years:g} years, a bought card pays: {told}."
    used = np.geomspace(0.02, 1, 60)
    figure, axes = blank(height=4.2, title=title)
    log_axes(axes, x=("share of the years in which it computes", percent),
             y=("$ an hour of use", "{:g}".format), ticks=(0.02, 0.05, 0.1, 0.2, 0.5, 1))
    ends = []
    for device, each in zip(shown, LOOKS, strict=False):
        low, high = (
            owned_hour(price + host, years * HOURS * used, energy(device.watts, price_per_kwh))
            for price in (device.price, device.price_most)
        )
        axes.fill_between(used, low, high, color=each["color"], alpha=0.25, linewidth=0)
        axes.plot(used, low, color=each["color"])
        axes.plot(used, np.full_like(used, device.rent), color=each["color"], linestyle="--")
        ends += [(1, low[-1], f"{device.name}, bought", each["color"]),
                 (1, device.rent, f"{device.name}, rented", each["color"])]
    label_ends(axes, ends)
    return Picture(figure, title)


def pays_from(device, years, host, price_per_kwh):
    """ "from 18% to 26% of the time", or "never": where an owned hour costs what a rented one does,
    by the least price and by the most."""
    meet = [break_even(price + host, device.rent, years, energy(device.watts, price_per_kwh))
            for price in (device.price, device.price_most)]
    if meet[0] > 1:
        return "never"
    least, most = (percent(share) if share <= 1 else "never" for share in meet)
    return f"from {least} of the time" + f" (at most {most})" * (most != least)
