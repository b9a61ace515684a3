"""Pictures for a buyer: one box's numbers, what fits, which limit binds, what a step costs, how
much of its roof anybody reached, when buying pays."""

import math

import numpy as np

from gpulessons import units
from gpulessons.evidence import published
from gpulessons.money.devices import FACTORS, ON_SHEETS
from gpulessons.money.devices import card as card_of
from gpulessons.money.renting import break_even, energy
from gpulessons.money.works import Work, by_width, dense
from gpulessons.plots.axes import beside, log_axes, name_rows, written
from gpulessons.plots.forms import dots, key, lines, listed, percent
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
    """All the FLOP/s that one card's sheet promises, the largest doubled for sparse factors, and
    what the fastest product that anybody found reached.

    reached: the device under which that was published.
    """
    promised = sheet(name)
    (best,) = published("matmul", device=reached, source="ml_engineering")
    rates = dict(sorted(promised.peaks.items(), key=lambda item: item[1]))
    largest = list(rates)[-1]
    rows = [(f"{largest}, half of the factors zero", 2 * rates[largest], {})]
    rows += [(factors, rate, {}) for factors, rate in reversed(rates.items())]
    rows = [(each, rate, {"color": VERMILLION, **OPEN}) for each, rate, _ in rows]
    rows.append((f"bfloat16, the fastest product found\n({best.citation})", best.value,
                 {"color": BLUE, "marker": "D", **OPEN}))
    times = rows[0][1] / rates["float32"]
    title = (f"One box, {len(rows) - 1} numbers: the {name}'s largest is {times:.0f} times its "
             "float32.")
    return dots(rows, "FLOP/s, published; red: its maker's promise", words, title=title)


# -- Does it fit?


def fits(devices, works, factors="16 bits") -> Picture:
    """A dot for the memory of each device, a line for what each work has to hold at once."""
    devices = [d for d in devices if d.memory]
    rooms = [f"{sum(w.fits(d, factors) for d in devices)} for {w.name}" for w in works]
    title = f"Of {len(devices)} cards, so many have room: {', '.join(rooms)}."
    figure, axes = blank(height=1.9 + 0.36 * len(devices), title=title)
    for y, device in enumerate(devices):
        axes.plot(device.memory, y, **{"color": BLUE, "marker": "o", **look(device)})
        beside(axes, units.rate(device.memory, "B"), device.memory, y)
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


def waiting(works, devices, factors):
    """{device: how many of the works wait for its memory}, of those that multiply such numbers."""
    return {d.name: sum(w.limit(d, factors) == "bytes/s" for w in works)
            for d in devices if d.ridge(factors)}


def ridges(groups, devices) -> Picture:
    """Ridge points by the type of the factors, a panel each, and bands where the works stand: left
    of a device's dot a work waits for its bytes, right of it for its arithmetic.

    groups: {name of a band: works}; the title counts the works of the first.
    """
    works = next(iter(groups.values()))
    shown = [factors for factors in FACTORS if waiting(works, devices, factors)]
    counted = f"{len(works)} steps" if len(works) > 1 else "one step"
    title = f"How many of {counted} wait for memory: {ranges(works, devices, shown)}."
    counts = [sum(d.ridge(factors) is not None for d in devices) for factors in shown]
    figure, panels = blank(8.2, 2.2 + 0.28 * sum(counts) + 0.3 * len(shown), title,
                           nrows=len(shown), sharex=True, squeeze=False, height_ratios=counts)
    for axes, factors in zip(panels[:, 0], shown, strict=True):
        draw_ridges(axes, groups, [d for d in devices if d.ridge(factors)], factors)
    every = [work for group in groups.values() for work in group]
    places = [d.ridge(f) for d in devices for f in shown if d.ridge(f)]
    places += [w.intensity(f) for w in every for f in shown]
    axes.set_xlim(min(places) / 2, 2.5 * max(places))
    log_axes(axes, x=("operations a byte; dots: ridge points, bands: the steps", "{:g}".format))
    key(figure, {"measured here": {"color": INK, "marker": "o"},
                 "published": {"color": INK, "marker": "o", "markerfacecolor": "none"}})
    spoken = listed({f"ridge points in {factors}": listed({
        d.name: f"{d.ridge(factors):.3g}" for d in devices if d.ridge(factors)})
        for factors in shown})
    stand = listed({w.name: f"{w.intensity(shown[-1]):.3g}" for w in every})
    return Picture(figure, f"{title} Operations a byte: {spoken}. Steps in {shown[-1]}: {stand}.")


def draw_ridges(axes, groups, devices, factors):
    for name, works in groups.items():
        stand = sorted(work.intensity(factors) for work in works)
        axes.axvspan(stand[0] / 1.06, stand[-1] * 1.06, color=ORANGE, alpha=0.3, linewidth=0)
        axes.annotate(name, (math.sqrt(stand[0] * stand[-1]), 1.02), color=INK, fontsize=9,
                      ha="center", xycoords=axes.get_xaxis_transform())
    for y, device in enumerate(devices):
        axes.plot(device.ridge(factors), y, **{"color": COLORS[factors], "marker": MARKS[factors],
                                               **look(device)})
    name_rows(axes, [device.name for device in devices])
    axes.set_ylabel(factors, color=INK, fontsize=11, fontweight="bold")


def ranges(works, devices, shown):
    """ "2 to 6 in float32, 6 in TF32": over the devices."""
    told = []
    for factors in shown:
        counts = waiting(works, devices, factors).values()
        least, most = min(counts), max(counts)
        told.append(f"{least}{f' to {most}' * (most > least)} in {factors}")
    return ", ".join(told)


# -- What does a step cost?


def prices(works, devices, factors="16 bits", how="bought") -> Picture:
    """A panel for each work, a dot for each device on which it fits: dollars of a million steps."""
    costs = {w.name: {d.name: w.cost(d, factors, how) for d in devices} for w in works}
    best = {name: min((c, d) for d, c in each.items() if c is not None)[1]
            for name, each in costs.items() if any(each.values())}
    title = f"Cheapest {how}: {'; '.join(f'{d} for {name}' for name, d in best.items())}."
    title = title if best else "No card that fits has a price: give one."
    figure, panels = blank(8.6, 1.8 + 0.34 * len(devices), title, ncols=len(works), sharey=True,
                           squeeze=False)
    for axes, work in zip(panels[0], works, strict=True):
        for y, device in enumerate(devices):
            cost = costs[work.name][device.name]
            axes.axhline(y, color=INK, linewidth=0.4, alpha=0.4, zorder=0)
            if cost is None:
                why = "has no price" if work.fits(device, factors) else "does not fit"
                axes.annotate(why, (0.03, y), color=INK, fontsize=8.5, va="center",
                              xycoords=axes.get_yaxis_transform())
            if cost:
                won = device.name == best[work.name]
                axes.plot(1e6 * cost, y, "D" if won else "o",
                          **{**OPEN, "color": VERMILLION if won else BLUE})
        known = [1e6 * cost for cost in costs[work.name].values() if cost] or [1]
        axes.set_xlim(min(known) / 3, 3 * max(known))
        log_axes(axes, x=("$ a million steps", "{:g}".format))
        axes.set_title(work.name.replace(" a 6", "\na 6"), color=INK, fontsize=10, loc="left")
    name_rows(panels[0, 0], [device.name for device in devices])
    spoken = {name: listed({d: f"{1e6 * c:.3g}" for d, c in each.items() if c is not None})
              for name, each in costs.items()}
    return Picture(figure, f"{title} Dollars of a million steps, bounded: {listed(spoken)}.")


# -- How much of the roof is reached?

# A dense layer of 4,096 inputs and outputs, an LSTM of 512 for 16 sequences of 25 steps.
LAYERS = [(card, dtype, batch) for batch in (16, 7000) for dtype in ("float32", "float16")
          for card in ("T4", "V100")]  # fmt: skip
PRODUCTS = {"A100 SXM": "A100 80 GB", "H100": "H200", "B200": "B200"}  # of H100 and H200 one chip


def reached() -> Picture:
    """A dot for each published time, and for the fastest products that anybody found: the share of
    what the card's data sheet allows at best."""
    shares = [*layers_reached(), lstm_reached(), *products_reached()]
    least, most = (end(share for _, share, _ in shares) for end in (min, max))
    title = f"Published times reach {percent(least)} to {percent(most)} of the roof."
    ranked = sorted(shares, key=lambda row: row[1])
    rows = [(what, share, {"color": BLUE, **OPEN}) for what, share, _ in ranked]
    who = dict.fromkeys(row.source.title for *_, row in shares)
    return dots(rows, f"share of the roof; {', '.join(who)}", percent, title=title)


def layers_reached():
    for card, dtype, batch in LAYERS:
        (row,) = published("dense", device=card, dtype=dtype, batch=batch, source="deepbench")
        roof = dense(batch).seconds(card_of(card), ON_SHEETS[dtype])
        yield f"dense layer, batch {batch:,}, {dtype}, {card}", roof / row.value, row


def lstm_reached():
    (row,) = published("lstm", device="V100", dtype="float32", hidden=512, batch=16,
                       what="cuDNN: forward")  # fmt: skip
    flops, weights = 8 * 512**2 * 16 * 25, by_width(4 * 512**2)
    roof = Work("LSTM", flops, weights, weights).seconds(card_of("V100"), "float32")
    return "LSTM, hidden 512, batch 16, float32, V100", roof / row.value, row


def products_reached():
    for name, sheet_of in PRODUCTS.items():
        (row,) = published("matmul", device=name, source="ml_engineering")
        yield (f"fastest product found, bfloat16, {name}",
               row.value / card_of(sheet_of).rates["16 bits"], row)  # fmt: skip


# -- Rent or buy?


def renting(price, rent, hours_per_week, watts=0.0, price_per_kwh=0.0, years=4.0) -> Picture:
    """Dollars over the hours of use, bought and rented, and where they cross."""
    even, life = break_even(price, rent, watts, price_per_kwh), years * 365.25 / 7 * hours_per_week
    when = f"after {units.count(even)} hours" if math.isfinite(even) else "never"
    least = "buying" if even < life else "renting"
    title = (f"Break-even {when}; {hours_per_week:g} hours a week for {years:g} years are "
             f"{units.count(life)}: {least} is cheaper.")
    figure, axes = blank(height=3.6, title=title)
    hours = np.linspace(0, 1.2 * max(life, even if even < 4 * life else life), 60)
    bought = price + energy(watts, price_per_kwh) * hours
    axes.axvline(life, color=INK, linestyle="--", linewidth=1)
    axes.annotate(f"{years:g} years", (life, 1.01), color=INK, fontsize=10, ha="center",
                  xycoords=axes.get_xaxis_transform())
    lines(axes, [("bought", hours, bought, {}),
                 ("rented", hours, rent * hours, {"color": ORANGE, "linestyle": "--"})])
    if even <= hours[-1]:
        axes.plot(even, rent * even, "o", color=INK)
    axes.set(xlim=(0, hours[-1]), xlabel="hours of use", ylabel="dollars")
    axes.set_ylim(0, 1.05 * max(bought[-1], rent * hours[-1]))
    written(axes.xaxis, units.count)
    written(axes.yaxis, "{:,.12g}".format)
    return Picture(figure, title)
