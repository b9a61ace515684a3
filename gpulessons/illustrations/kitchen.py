"""A kitchen, to see latency and throughput in: orders come in, cooks take them in turn.

    latency     minutes from an order to its dish
    throughput  dishes per hour
    Little's law: orders in the kitchen = orders per minute x minutes that each stays

The pictures show who is busy when; the same picture serves cooks, threads and Flynn's four classes.
"""

import heapq
import random
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise

from gpulessons import units
from gpulessons.measure.results import Comparison
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.forms import LOOKS, listed, name_rows, span, timetables
from gpulessons.plots.picture import COLORS, INK, ORANGE, SKY, Picture, blank

from .drawings import drawing

# Flynn's classes as kitchens: what each cook does in the same four minutes.
four_classes = partial(drawing, "four_classes")


@dataclass(frozen=True)
class Dish:
    """One order: minutes since opening, and who cooked it."""

    ordered: float
    cook: int
    started: float
    done: float


@dataclass(frozen=True)
class Shift:
    """All dishes of a shift, in the order of their orders."""

    cooks: int
    minutes: float  # that a dish takes
    dishes: tuple[Dish, ...]

    @property
    def latency(self):
        """Minutes from an order to its dish, on average."""
        return sum(dish.done - dish.ordered for dish in self.dishes) / len(self.dishes)

    @property
    def span(self):
        """Minutes from the first order to the last dish."""
        return max(dish.done for dish in self.dishes) - self.dishes[0].ordered

    @property
    def throughput(self):
        """Dishes per hour."""
        return 60 * len(self.dishes) / self.span

    def levels(self):
        """[(minute, orders inside from then on)]: one up for an order, one down for a dish."""
        ups = [(dish.ordered, 1) for dish in self.dishes]
        downs = [(dish.done, -1) for dish in self.dishes]
        at, steps = zip(*sorted(ups + downs), strict=True)
        return list(zip(at, accumulate(steps), strict=True))

    @property
    def in_kitchen(self):
        """Orders inside, on average over time: read off the levels, without Little's law."""
        steps = pairwise(self.levels())
        return sum(level * (after - before) for (before, level), (after, _) in steps) / self.span


def orders(count: int, per_hour: float, seed: int = 1) -> list[float]:
    """Minutes at which orders come: independent of each other, at random, so many an hour."""
    chance = random.Random(seed)
    return list(accumulate(chance.expovariate(per_hour / 60) for _ in range(count)))


def rush(count: int) -> list[float]:
    """So many orders, all at opening time."""
    return [0.0] * count


def simulate(orders, cooks: int, minutes: float) -> Shift:
    """Each order goes to the cook who is free first and takes so many minutes. Returns a Shift."""
    free = [(0.0, cook) for cook in range(cooks)]  # a heap: who is free, and from when on
    dishes = []
    for ordered in orders:
        idle, cook = heapq.heappop(free)
        started = max(idle, ordered)
        dishes.append(Dish(ordered, cook, started, started + minutes))
        heapq.heappush(free, (started + minutes, cook))
    return Shift(cooks, minutes, tuple(dishes))


def picture(shift: Shift) -> Picture:
    """Below, who cooks when; above, how many orders are inside, and how many of them wait."""
    cooks = units.plural(shift.cooks, "cook")
    title = (
        f"{cooks}, {minutes(shift.minutes)} a dish: {shift.throughput:.1f} dishes an hour, each "
        f"{minutes(shift.latency)} after its order."
    )
    rows = max(0.7, 0.3 * shift.cooks)
    figure, (above, below) = blank(
        height=2.2 + rows, title=title, nrows=2, sharex=True, height_ratios=[1, rows]
    )
    at, level = zip((0, 0), *shift.levels(), strict=True)
    cooked = [min(orders, shift.cooks) for orders in level]
    above.fill_between(at, cooked, level, step="post", color=ORANGE, linewidth=0)
    above.fill_between(at, cooked, step="post", color=SKY, linewidth=0)
    above.axhline(shift.in_kitchen, color=INK, linewidth=1.5, linestyle=":")
    above.set_title("orders inside: being cooked (blue), waiting (orange), on average (dotted) "
                    f"{shift.in_kitchen:.1f}", color=INK, fontsize=10, loc="left")
    above.yaxis.get_major_locator().set_params(integer=True, nbins=4)
    until = max(dish.done for dish in shift.dishes)
    for number, dish in enumerate(shift.dishes, 1):
        has_room = shift.minutes > 0.03 * until
        span(below, dish.cook, dish.started, shift.minutes, SKY, number if has_room else "")
    below.set(ylim=(shift.cooks - 0.4, -0.6), yticks=[], xlim=(0, 1.02 * until))
    below.set(xlabel="minutes since opening", ylabel=cooks)
    return Picture(figure, f"{title} On average {shift.in_kitchen:.1f} orders are in the kitchen.")


def side_by_side(shifts) -> Picture:
    """Shifts over the same minutes, {name: shift}: who serves first, and who is done first."""
    first = {name: shift.dishes[0].done - shift.dishes[0].ordered for name, shift in shifts.items()}
    done = {name: shift.span for name, shift in shifts.items()}
    count = len(next(iter(shifts.values())).dishes)
    title = f"The first portion: {ranked(first)}. All {count}: {ranked(done)}."
    rows = {name: {f"cook {cook + 1}": [
        (dish.started, shift.minutes, SKY, number) for number, dish in enumerate(shift.dishes, 1)
        if dish.cook == cook] for cook in range(shift.cooks)} for name, shift in shifts.items()}
    figure, _ = timetables(rows, "minutes since opening", title=title)
    return Picture(figure, title)


def ranked(times):
    """{name: minutes} as "A 2 min, B 8 min", the quickest first."""
    return ", ".join(f"{name} {minutes(times[name])}" for name in sorted(times, key=times.get))


def minutes(time):
    return f"{time:.1f}".removesuffix(".0") + " min"


def schedule(runs) -> Picture:
    """Programs over time, {name: [(start, end, worked) of each call]} in seconds.

    worked: processor time. A call is filled as high as its share at work; the rest of a program's
    time, between its calls too, is hatched.
    """
    calls = [call for each in runs.values() for call in each]
    origin = min(start for start, _, _ in calls)
    whole = max(end for _, end, _ in calls) - origin
    at_work = sum(worked for _, _, worked in calls) / whole
    doubt = ": the machine was too busy to tell" if at_work < 0.8 else ""
    title = (f"{at_work:.1f} of {len(runs)} programs were at work, on average over "
             f"{units.seconds(whole)}{doubt}.")
    figure, axes = blank(height=1.7 + 0.42 * len(runs), title=title)
    idle = {"facecolor": "none", "edgecolor": ORANGE, "hatch": "/////", "linewidth": 0}
    busy = {"facecolor": SKY, "edgecolor": INK, "linewidth": 0.5}
    for row, each in enumerate(runs.values()):
        first, last = each[0][0] - origin, each[-1][1] - origin
        axes.barh(row, last - first, left=first, height=0.7, **idle)
        for start, end, worked in each:
            height = 0.7 * min(1, worked / (end - start))
            axes.bar(start - origin, height, end - start, row + 0.35 - height, align="edge", **busy)
    name_rows(axes, runs)
    for look, words in ((idle, "waiting"), (busy, "at work, a box for each call")):
        axes.bar(0, 0, 0, label=words, **look)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, labelcolor=INK)
    axes.set_xlabel("time since the first call began")
    written(axes.xaxis, units.seconds)
    worked = {name: f"{units.plural(len(each), 'call')}, "
              f"{units.seconds(sum(worked for _, _, worked in each))} of work"
              for name, each in runs.items()}
    return Picture(figure, f"{title} {listed(worked)}.")


def pace(comparison: Comparison) -> Picture:
    """Left, what a caller waits for one call (latency); right, elements per second (throughput)."""
    timings = comparison.timings
    quickest, busiest = min(timings, key=lambda t: t.wait), max(timings, key=elements_per_second)
    rate = units.rate(elements_per_second(busiest), "elements/s")
    title = (f"{comparison.op}: no call takes less than {units.seconds(quickest.wait)} "
             f"({quickest.version}), and none does more than {rate} ({busiest.version}).")
    figure, (left, right) = blank(height=3.9, title=title, ncols=2)
    for version, look in zip(dict.fromkeys(t.version for t in timings), LOOKS, strict=False):
        own = [t for t in timings if t.version == version]
        look = {"color": COLORS[own[0].backend], "marker": look["marker"], "markersize": 5}
        sizes = [t.size for t in own]
        left.plot(sizes, [t.wait for t in own], label=version, **look)
        right.plot(sizes, [elements_per_second(t) for t in own], **look)
    size = (comparison.unit, units.count)
    log_axes(left, x=size, y=("time of one call", units.seconds))
    log_axes(right, x=size, y=("elements per second", lambda rate: units.rate(rate, "/s")))
    left.legend(frameon=False, labelcolor=INK, fontsize=10)
    waits = {f"{t.version} at {units.count(t.size)}": units.seconds(t.wait) for t in timings}
    return Picture(figure, f"{title} {listed(waits)}.")


def elements_per_second(timing):
    return timing.size / timing.wait
