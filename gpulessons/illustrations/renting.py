"""Pictures of renting and buying: the same plan over the hours of use, and over the utilization."""

import math

import numpy as np

from gpulessons import units
from gpulessons.money.renting import Plan
from gpulessons.plots.axes import log_axes, written
from gpulessons.plots.picture import BLUE, INK, ORANGE, VERMILLION, Picture, blank
from gpulessons.plots.timings import label_ends


def costs(**numbers):
    """What computing costs who buys and who rents, over the hours of use. numbers: of a Plan.

    Where one is missing, an empty picture asks for it.
    """
    plan = Plan(**numbers)
    if plan.missing:
        return nothing(plan)
    figure, axes = blank(height=4, title=plan.message)
    hours = np.linspace(0, until(plan), 101)
    alive = hours[hours <= plan.useful_hours]
    alive = np.append(alive, min(plan.useful_hours, hours[-1]))
    dead = hours[hours >= plan.useful_hours]
    energy = plan.energy_per_hour * alive
    axes.fill_between(alive, plan.bought(alive) - energy, plan.bought(alive), color=ORANGE,
                      alpha=0.35, linewidth=0)  # fmt: skip
    axes.plot(alive, plan.bought(alive), color=BLUE)
    axes.plot(dead, plan.bought(dead), color=BLUE, linestyle=":")
    axes.plot(hours, plan.rented(hours), color=VERMILLION)
    if math.isfinite(plan.break_even):
        axes.plot(plan.break_even, plan.rented(plan.break_even), "o", color=INK)
    axes.axvline(plan.useful_hours, color=INK, linestyle="--", linewidth=1)
    axes.set(xlim=(0, hours[-1]), xlabel="hours of use", ylabel="cost, in your currency")
    owned, rented = plan.bought(hours[-1]), plan.rented(hours[-1])
    axes.set_ylim(0, 1.05 * max(owned, rented) or 1)
    axes.annotate("support ends", (plan.useful_hours, 1.01), color=INK, fontsize=10,
                  xycoords=axes.get_xaxis_transform(), ha="center")  # fmt: skip
    written(axes.xaxis, units.count)
    written(axes.yaxis, "{:,.12g}".format)
    share = f"{plan.energy_share(plan.useful_hours):.0%}"
    label_ends(axes, [(hours[-1], owned, f"bought; {share}\nenergy, shaded", BLUE),
                      (hours[-1], rented, "rented", VERMILLION)])  # fmt: skip
    return Picture(figure, f"{plan.message} {spoken(plan)}")


def until(plan):
    """Hours that show the end of support and, where it is not too far off, the crossing."""
    shown = [plan.useful_hours]
    if plan.break_even < 4 * plan.useful_hours:
        shown.append(plan.break_even)
    return 1.15 * max(shown)


def per_hour(**numbers):
    """What an hour of use costs over the utilization, for a Plan of these numbers."""
    from matplotlib.ticker import LogLocator  # late, as everywhere: a bare import stays cheap

    plan = Plan(**numbers)
    if plan.missing or not plan.per_useful_hour():  # for nothing: no log axis has a place for it
        return nothing(plan)
    left = min(0.005, plan.utilization)  # an hour a week is 0.6%
    used, needed = np.geomspace(left, 1, 60), plan.break_even_utilization
    title = plan.message
    if plan.rent and needed <= 1:
        times = units.ratio(plan.per_useful_hour() / plan.rent)
        title = (f"Used {percent(plan.utilization)} of its life, an owned hour costs {times} the "
                 f"rent; break-even at {percent(needed)}.")  # fmt: skip
    figure, axes = blank(height=3.6, title=title)
    log_axes(axes, x=("share of its life in which it computes", percent),
             y=("cost of an hour of use", units.three_digits),
             ticks=(0.005, 0.01, 0.03, 0.1, 0.3, 1))  # fmt: skip
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    owned = plan.per_useful_hour(used)
    axes.plot(used, owned, color=BLUE)
    ends = [(1, owned[-1], "bought", BLUE)]
    if plan.rent:
        axes.plot(used, np.full_like(used, plan.rent), color=VERMILLION)
        ends.append((1, plan.rent, "rented", VERMILLION))
    axes.plot(plan.utilization, plan.per_useful_hour(), "o", color=BLUE, markersize=8,
              clip_on=False)  # fmt: skip
    if left <= needed <= 1:
        axes.plot(needed, plan.rent, "o", color=INK)
    axes.set_xlim(left, 1)
    label_ends(axes, ends)
    return Picture(figure, f"{title} {spoken(plan)}")


def percent(share):
    """A share of the life, so small that it needs a digit behind the point, or whole percents."""
    return f"{share:.0%}" if share >= 0.0095 else f"{100 * share:.1g}%"


def nothing(plan):
    """An empty picture that says why, or what is missing."""
    figure, axes = blank(height=1.2, title=plan.message)
    axes.set_axis_off()
    return Picture(figure, plan.message)


def spoken(plan):
    """What a plan's table says, in a line."""
    return "; ".join(f"{name}: {words}" for name, words in plan.rows()) + "."
