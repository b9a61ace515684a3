"""A kitchen, to see latency and throughput in: each guest orders again when the last dish comes.

    latency     minutes from an order to its dish
    throughput  dishes per hour
    Little's law: orders in the kitchen = orders per minute x minutes that each stays

The same picture serves chains of additions and warps.
"""

from collections import deque
from typing import NamedTuple

from gpulessons import units
from gpulessons.plots.forms import span
from gpulessons.plots.picture import INK, SKY, VERMILLION, Picture, blank

DRAWN = 24  # minutes of a shift
MOST = 12  # guests that the curve has


class Dish(NamedTuple):
    """One order, in minutes since opening: whose it was, and who cooked it."""

    guest: int
    cook: int
    ordered: float
    started: float
    done: float


class Shift(NamedTuple):
    """All dishes, in the order of their start, and what is counted of them in one round of the
    guests, `guests` dishes' time long, after a first one: then all is as it was."""

    dishes: list[Dish]
    throughput: float  # dishes per hour
    latency: float  # minutes from an order to its dish, on average
    in_kitchen: float  # orders inside, on average over time: counted without Little's law


def lunch(guests: int, cooks: int, minutes: float) -> Shift:
    """Each guest orders, and again when the dish comes; the oldest order has the next free cook."""
    orders = deque((0.0, guest) for guest in range(guests))  # since when, and whose
    free = [0.0] * cooks  # from when on
    dishes: list[Dish] = []
    while orders[0][0] <= max(2 * guests * minutes, DRAWN):
        ordered, guest = orders.popleft()
        cook = min(range(cooks), key=lambda cook: max(free[cook], ordered))
        started = max(ordered, free[cook])
        free[cook] = started + minutes
        orders.append((free[cook], guest))
        dishes.append(Dish(guest, cook, ordered, started, free[cook]))
    length = guests * minutes
    waits = [dish.done - dish.ordered for dish in dishes if length < dish.done <= 2 * length]
    stays = sum(max(min(dish.done, 2 * length) - max(dish.ordered, length), 0) for dish in dishes)
    return Shift(dishes, 60 * len(waits) / length, sum(waits) / len(waits), stays / length)


def picture(guests: int = 1, cooks: int = 4, minutes: float = 4) -> Picture:
    """Who cooks for whom when; below, dishes an hour by the number of guests. Made for sliders."""
    shift = lunch(guests, cooks, minutes)
    told = f"{units.plural(guests, 'guest')}, {units.plural(cooks, 'cook')}"
    title = (f"{told}: {shift.throughput:.0f} dishes an hour, each {shift.latency:.3g} minutes "
             "after its order.")
    figure, (above, curve) = blank(7.2, 2.6 + 0.32 * cooks, title, nrows=2,
                                   height_ratios=(0.32 * cooks, 1.2))
    for dish in shift.dishes:
        if dish.started < DRAWN:
            span(above, dish.cook, dish.started, minutes, SKY, dish.guest + 1)
    above.hlines(range(cooks), 0, DRAWN, color=INK, linestyle=":", linewidth=0.8, zorder=0)
    above.set(xlim=(0, DRAWN), ylim=(cooks - 0.4, -0.6), yticks=[], ylabel="cooks")
    above.set_xlabel("minutes since opening; in each box the guest")
    places = range(1, MOST + 1)
    curve.plot(places, [lunch(n, cooks, minutes).throughput for n in places], color=INK)
    curve.plot(guests, shift.throughput, "o", color=VERMILLION, markersize=9)
    curve.set(xlim=(0, MOST + 0.4), xticks=places, xlabel="guests", ylabel="dishes/h")
    curve.set_ylim(0, 1.15 * 60 * cooks / minutes)
    return Picture(figure, f"{title} On average {shift.in_kitchen:.1f} orders are in the kitchen.")
