"""Pictures of renting and buying: the same plan over the hours of use, and over the utilization."""

import math

import numpy as np

from gpulessons import units
from gpulessons.money.renting import Plan
from gpulessons.plots.axes import log_axes, two_ticks, written
from gpulessons.plots.forms import lines, listed
from gpulessons.plots.picture import BLUE, INK, ORANGE, VERMILLION, Picture, blank


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
                      alpha=0.35, linewidth=0)
    axes.plot(dead, plan.bought(dead), color=BLUE, linestyle=":")
    if math.isfinite(plan.break_even):
        axes.plot(plan.break_even, plan.rented(plan.break_even), "o", color=INK)
    axes.axvline(plan.useful_hours, color=INK, linestyle="--", linewidth=1)
    axes.set(xlim=(0, hours[-1]), xlabel="hours of use", ylabel="cost, in your currency")
    axes.set_ylim(0, 1.05 * max(plan.bought(hours[-1]), plan.rented(hours[-1])) or 1)
    axes.annotate("support ends", (plan.useful_hours, 1.01), color=INK, fontsize=10,
                  xycoords=axes.get_xaxis_transform(), ha="center")
    written(axes.xaxis, units.count)
    written(axes.yaxis, "{:,.12g}".format)
    share = f"{plan.energy_share(plan.useful_hours):.0%}"
    lines(axes, [(f"bought; {share}\nenergy, shaded", alive, plan.bought(alive), {}),
                 ("rented", hours, plan.rented(hours), {"color": VERMILLION})])
    return Picture(figure, f"{plan.message} {spoken(plan)}")


def until(plan):
    """Hours that show the end of support and, where it is not too far off, the crossing."""
    shown = [plan.useful_hours]
    if plan.break_even < 4 * plan.useful_hours:
        shown.append(plan.break_even)
    return 1.15 * max(shown)


def per_hour(**numbers):
    """What an hour of use costs over the utilization, for a Plan of these numbers."""
    plan = Plan(**numbers)
    if plan.missing or not plan.per_useful_hour():  # for nothing: no log axis has a place for it
        return nothing(plan)
    left = min(0.005, plan.utilization)  # an hour a week is 0.6%
    used, needed = np.geomspace(left, 1, 60), plan.break_even_utilization
    title = plan.message
    if plan.rent and needed <= 1:
        times = units.ratio(plan.per_useful_hour() / plan.rent)
        title = (f"Used {percent(plan.utilization)} of its life, an owned hour costs {times} the "
                 f"rent; break-even at {percent(needed)}.")
    figure, axes = blank(height=3.6, title=title)
    log_axes(axes, x=("share of its life in which it computes", percent),
             y=("cost of an hour of use", units.three_digits),
             ticks=(0.005, 0.01, 0.03, 0.1, 0.3, 1))
    drawn = [("bought", used, plan.per_useful_hour(used), {})]
    if plan.rent:
        drawn.append(("rented", used, np.full_like(used, plan.rent), {"color": VERMILLION}))
    axes.plot(plan.utilization, plan.per_useful_hour(), "o", color=BLUE, markersize=8,
              clip_on=False)
    if left <= needed <= 1:
        axes.plot(needed, plan.rent, "o", color=INK)
    axes.set_xlim(left, 1)
    lines(axes, drawn)
    two_ticks(axes.yaxis)
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
    return f"{listed(dict(plan.rows()))}."
