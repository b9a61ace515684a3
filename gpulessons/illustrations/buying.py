"""Pictures for a buyer: one box's numbers, what fits, which limit binds, what a step costs, how
much of its roof anybody reached, when buying pays."""

import math

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
    """{device: how many of the works have fewer operations a byte than its ridge point}, of those
    that multiply such numbers."""
    return {d.name: sum(w.limit(d, factors) == "bytes/s" for w in works)
            for d in devices if d.ridge(factors)}


def ridges(groups, devices, only=()) -> Picture:
    """Ridge points by the type of the factors, a panel each, and bands where the works stand: left
    of a device's dot a work waits for its bytes, right of it for its arithmetic.

    groups: {name of a band: works}; the title counts the works of the first. only: some of FACTORS.
    """
    works = next(iter(groups.values()))
    shown = [factors for factors in only or FACTORS if waiting(works, devices, factors)]
    if not shown:
        raise ValueError("No device has both FLOP/s and bytes/s: give one its rates.")
    counted = f"{len(works)} steps" if len(works) > 1 else "one step"
    title = f"How many of {counted} stand left of a ridge point: {ranges(works, devices, shown)}."
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
    for n, (name, works) in enumerate(groups.items()):
        stand = sorted(work.intensity(factors) for work in works)
        axes.axvspan(stand[0] / 1.02, stand[-1] * 1.02, color=ORANGE, alpha=0.3, linewidth=0)
        axes.annotate(name, (math.sqrt(stand[0] * stand[-1]), 1), (0, 3 + 12 * (n % 2)),
                      textcoords="offset points", color=INK, fontsize=9, ha="center",
                      xycoords=axes.get_xaxis_transform())
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


def prices(works, devices, factors="16 bits", shares=()) -> Picture:
    """A panel for each work, a row for each device: dollars of a million steps by its rent. A dot
    at the roof, and a line to where the step would be at the share of it that somebody reached.

    shares: of the works, in their order; none: no lines.
    """
    costs = {w.name: {d.name: w.cost(d, factors) for d in devices} for w in works}
    best = {name: min((c, d) for d, c in each.items() if c is not None)[1]
            for name, each in costs.items() if any(c is not None for c in each.values())}
    title = f"Cheapest by rent: {'; '.join(f'{d} for {name}' for name, d in best.items())}."
    title = title if best else f"No card that fits has both {factors} and a rent."
    figure, panels = blank(8.6, 1.8 + 0.34 * len(devices), title, ncols=len(works), sharey=True,
                           squeeze=False)
    for n, work in enumerate(works):
        share = shares[n] if shares else 1
        draw_prices(panels[0, n], work, devices, factors, best.get(work.name), share)
    name_rows(panels[0, 0], [device.name for device in devices])
    spoken = {name: listed({d: f"{1e6 * c:.3g}" for d, c in each.items() if c is not None})
              for name, each in costs.items()}
    return Picture(figure, f"{title} Dollars of a million steps, modelled: {listed(spoken)}.")


def draw_prices(axes, work, devices, factors, best, share):
    known = []
    for y, device in enumerate(devices):
        axes.axhline(y, color=INK, linewidth=0.4, alpha=0.4, zorder=0)
        cost = work.cost(device, factors)
        if not cost:
            axes.annotate(why_none(work, device, factors), (0.03, y), color=INK, fontsize=8.5,
                          va="center", xycoords=axes.get_yaxis_transform())
            continue
        known += [1e6 * cost, 1e6 * cost / share]
        won = device.name == best
        color = VERMILLION if won else BLUE
        axes.plot(known[-2:], [y, y], color=color, linewidth=1, linestyle=(0, (4, 2)))
        axes.plot(known[-2], y, "D" if won else "o", **{**OPEN, "color": color})
    axes.set_xlim(min(known, default=1) / 2, 2 * max(known, default=1))
    log_axes(axes, x=("$ a million steps", "{:g}".format))
    axes.set_title(work.name.replace(" a 6", "\na 6"), color=INK, fontsize=10, loc="left")


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
    return ("a token of a 7 B transformer, bfloat16, A100",
            row.value / card_of(row.device).bandwidth, row)  # fmt: skip


def training_reached():
    (row,) = published("training", source="mfu", cards=8192)
    return "training Llama 3 405B (MFU), bfloat16, H100", row.value, row


# -- Rent or buy?


def renting(devices, years=3.0, host=0.0, price_per_kwh=0.2) -> Picture:
    """Dollars of an hour of use over the share of so many years in which it is used: owned, a line
    that falls; rented, one that is level; a dot where they meet.

    host: dollars for the machine around a card.
    """
    shown = [d for d in devices if d.price and d.rent]
    used = np.geomspace(0.02, 1, 60)
    meet = {d.name: break_even(d.price + host, d.rent, years, energy(d.watts, price_per_kwh))
            for d in shown}
    told = ", ".join(f"{name} from {percent(share)}" if share <= 1 else f"{name} never"
                     for name, share in meet.items())
    title = f"In use for {years:g} years, a card pays when bought: {told} of the time."
    figure, axes = blank(height=4.2, title=title)
    log_axes(axes, x=("share of the years in which it computes", percent),
             y=("$ an hour of use", "{:g}".format), ticks=(0.02, 0.05, 0.1, 0.2, 0.5, 1))
    ends = []
    for device, look in zip(shown, LOOKS, strict=False):
        each = energy(device.watts, price_per_kwh)
        owned = owned_hour(device.price + host, years * HOURS * used, each)
        axes.plot(used, owned, color=look["color"])
        axes.plot(used, np.full_like(used, device.rent), color=look["color"], linestyle="--")
        if used[0] <= meet[device.name] <= 1:
            axes.plot(meet[device.name], device.rent, "o", color=look["color"])
        ends += [(1, owned[-1], f"{device.name}, bought", look["color"]),
                 (1, device.rent, f"{device.name}, rented", look["color"])]
    label_ends(axes, ends)
    return Picture(figure, title)
