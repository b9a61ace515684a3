"""Pictures for a buyer: two boxes, one network run in four ways, what fits, what a token costs, how
much of its roof anybody reached, when buying pays."""

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
        told = f"{units.seconds(stage.seconds)}, {stage.limit(device)}"
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


def pays(stages, cheap, dear, rents) -> Picture:
    """A bar for each stage: what a token costs on the dearer card, over what it costs on the other,
    from the lesser ratio of rents to the greater."""
    costs = {stage.name: [rent / stage.gain(cheap, dear) for rent in rents] for stage in stages}
    cheaper = [name for name, (_, most) in costs.items() if most < 1]
    title = (f"A token is cheaper on the {dear.name} in {len(cheaper)} of {len(costs)} ways"
             f"{': ' * bool(cheaper)}{'; '.join(cheaper)}.")  # fmt: skip
    figure, axes = blank(height=1.4 + 0.4 * len(costs), title=title)
    for y, (name, (low, high)) in enumerate(costs.items()):
        color = BLUE if name in cheaper else VERMILLION
        axes.plot([low, high], [y, y], "|-", color=color, linewidth=3, markersize=14)
        beside(axes, f"{low:.2f} to {high:.2f} ×", max(1, high), y)
    axes.axvline(1, color=INK, linewidth=1)
    name_rows(axes, costs)
    axes.set(xlim=(0, 1.3 * max(1, *(most for _, most in costs.values()))),
             xlabel=f"cost of a token on the {dear.name} over the {cheap.name}, modelled")
    return Picture(figure, f"{title} {listed({n: span(ends) for n, ends in costs.items()})}.")


# -- Does it fit?


def fits(devices, works, factors="16 bits") -> Picture:
    """A dot for the memory of each device, a line for what each work has to hold at once."""
    devices = [d for d in devices if d.memory]
    rooms = [f"{sum(w.fits(d, factors) for d in devices)} for {w.name}" for w in works]
    title = f"Of {len(devices)} cards, so many have room: {', '.join(rooms)}."
    figure, axes = blank(height=1.9 + 0.36 * len(devices), title=title)
    for y, device in enumerate(devices):
        axes.plot(device.memory, y, "o", **{**OPEN, "color": BLUE})
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
    log_axes(axes, x=(f"memory; dashed: held in {factors}, at least",
                      lambda size: units.rate(size, "B")))  # fmt: skip
    spoken = listed({d.name: units.rate(d.memory, "B") for d in devices})
    return Picture(figure, f"{title} {spoken}.")


# -- What does a step cost?


def prices(works, devices, factors="16 bits") -> Picture:
    """A panel for each work, a row for each device: dollars of a million tokens at least, from its
    least rent to its most, were the longest bound all."""
    costs = {w.name: {d.name: w.cost(d, factors) for d in devices} for w in works}
    known = {name: {d: c for d, c in each.items() if c} for name, each in costs.items()}
    best = {name: [min(each, key=lambda d, end=end: each[d][end]) for end in (0, 1)]
            for name, each in known.items() if each}  # fmt: skip
    told = "; ".join(f"{name}: {', '.join(dict.fromkeys(two))}" for name, two in best.items())
    title = f"Cheapest, at the least rents and at the most. {told}."
    title = title if best else f"No card that fits has both {factors} and a rent."
    figure, panels = blank(8.8, 2 + 0.34 * len(devices), title, ncols=len(works), sharey=True,
                           squeeze=False)
    for axes, work in zip(panels[0], works, strict=True):
        draw_prices(axes, work, devices, factors, best.get(work.name, ()))
    name_rows(panels[0, 0], [device.name for device in devices])
    spoken = {name: listed({d: f"{1e6 * low:.3g} to {1e6 * high:.3g}"
                            for d, (low, high) in each.items()}) for name, each in known.items()}
    return Picture(figure, f"{title} Dollars of a million tokens, modelled: {listed(spoken)}.")


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
        look = {"color": VERMILLION, "marker": "D"} if device.name in best else {"color": BLUE}
        axes.plot([low, high], [y, y], linewidth=1.5, **{"marker": "|", **look, "markersize": 9,
                                                         "markerfacecolor": "none"})
    axes.set_xlim(min(ends, default=1) / 2, 2 * max(ends, default=1))
    log_axes(axes, x=("$ a million tokens, at least", "{:g}".format))
    axes.set_title(fill(work.name, 26), color=INK, fontsize=10, loc="left")


def why_none(work, device, factors):
    if not work.fits(device, factors):
        return "does not fit"
    if not device.rates.get(factors):
        return f"has no {factors}"
    return "costs nothing" if device.rent == 0 else "has no rent"


# -- How much of the roof is reached?

LAYERS = [(card, dtype, batch) for batch in (16, 7000) for card in ("T4", "V100")
          for dtype in ("float32", "float16")]  # fmt: skip


def reached() -> Picture:
    """A dot for each published time: the share of what the card's data sheet allows at best."""
    shares = [*layers_reached(), lstm_reached(), token_reached(), training_reached()]
    shares.sort(key=lambda row: row[1])
    title = f"Published: {percent(shares[0][1])} to {percent(shares[-1][1])} of a roof."
    figure, axes = blank(height=1.4 + 0.32 * len(shares), title=title)
    for y, (_, share, _) in enumerate(shares):
        axes.plot(share, y, "o", **{**OPEN, "color": BLUE})
        axes.annotate(percent(share), (share + 0.025, y), color=INK, fontsize=9.5, va="center")
    name_rows(axes, [what for what, *_ in shares])
    axes.set(xlim=(0, 1.1), xlabel="share of the roof, published")
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
