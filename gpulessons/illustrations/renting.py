"""Pictures of renting and buying: the same plan over the hours of use, and over the utilization."""

import math

import numpy as np

from gpulessons import units
from gpulessons.money.renting import Plan
from gpulessons.plots.axes import two_ticks, written
from gpulessons.plots.forms import lines, listed, log_lines, percent
from gpulessons.plots.picture import BLUE, INK, ORANGE, VERMILLION, Picture, blank


def costs(**numbers) -> Picture:
    """What computing costs who buys and who rents, over the hours of use. numbers: of a Plan;
    where one is missing, an empty picture asks for it."""
    plan = Plan(**numbers)
    if plan.missing:
        return nothing(plan)
    figure, axes = blank(height=4, title=plan.message)
    # The hours show the end of support and, where it is not too far off, the crossing.
    end = plan.useful_hours
    last = 1.15 * (max(end, plan.break_even) if plan.break_even < 4 * end else end)
    alive, dead, hours = (np.linspace(*ends, 60) for ends in ((0, end), (end, last), (0, last)))
    bought = plan.bought(alive)
    axes.fill_between(alive, bought - plan.energy_per_hour * alive, bought, color=ORANGE,
                      alpha=0.35, linewidth=0)
    axes.plot(dead, plan.bought(dead), color=BLUE, linestyle=":")
    if math.isfinite(plan.break_even):
        axes.plot(plan.break_even, plan.rented(plan.break_even), "o", color=INK)
    axes.axvline(end, color=INK, linestyle="--", linewidth=1)
    axes.set(xlim=(0, last), xlabel="hours of use", ylabel="cost, in your currency")
    axes.set_ylim(0, 1.05 * max(plan.bought(last), plan.rented(last)) or 1)
    axes.annotate("support ends", (end, 1.01), color=INK, fontsize=10,
                  xycoords=axes.get_xaxis_transform(), ha="center")
    written(axes.xaxis, units.count)
    written(axes.yaxis, "{:,.12g}".format)
    share = f"{plan.energy_share(end):.0%}"
    lines(axes, [(f"bought; {share}\nenergy, shaded", alive, bought, {}),
                 ("rented", hours, plan.rented(hours), {"color": VERMILLION})])
    return Picture(figure, f"{plan.message} {listed(dict(plan.rows()))}.")


def per_hour(**numbers) -> Picture:
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
    drawn = [("bought", used, plan.per_useful_hour(used), {})]
    if plan.rent:
        drawn.append(("rented", used, np.full_like(used, plan.rent), {"color": VERMILLION}))
    picture = log_lines(drawn, ("share of its life in which it computes", percent),
                        ("cost of an hour of use", units.three_digits), title=title,
                        spoken=f"{listed(dict(plan.rows()))}.",
                        ticks=(0.005, 0.01, 0.03, 0.1, 0.3, 1))
    axes = picture.axes
    axes.plot(plan.utilization, plan.per_useful_hour(), "o", color=BLUE, markersize=8)
    if left <= needed <= 1:
        axes.plot(needed, plan.rent, "o", color=INK)
    two_ticks(axes.yaxis)
    return picture


def nothing(plan):
    """An empty picture that says why, or what is missing."""
    figure, axes = blank(height=1.2, title=plan.message)
    axes.set_axis_off()
    return Picture(figure, plan.message)
