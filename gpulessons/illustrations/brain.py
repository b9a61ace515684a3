"""Pictures of the brain's arithmetic: how far its assumptions let it vary, and which of them do."""

import numpy as np

from gpulessons.money import brain
from gpulessons.plots.axes import log_axes
from gpulessons.plots.forms import listed, name_rows
from gpulessons.plots.picture import BLUE, GREEN, INK, ORANGE, SKY, VERMILLION, Picture, blank


def estimates(here=None, drawn=None, **numbers) -> Picture:
    """The draws of a Spread, with others' estimates, the learner's own and this machine above.

    here: FLOP/s of this machine, measured. drawn: a Spread; one is made where none is given.
    numbers: the learner's, by the names of ASSUMPTIONS; the source's where left out.
    """
    drawn = drawn or brain.spread()
    yours = brain.operations_per_second(**numbers)
    marks = [("the source, published", brain.PUBLISHED, VERMILLION),
             ("these numbers", yours, GREEN)]
    marks += [(f"{other.who}, published", other.flops, ORANGE) for other in brain.OTHERS]
    marks += [("this machine, measured", here, BLUE)] if here else []
    title = f"These numbers: {brain.powers(yours)} FLOP/s. {drawn.title}"
    figure, (above, below) = blank(height=4.4, title=title, nrows=2, sharex=True,
                                   height_ratios=(len(marks), 5))
    for row, (_, flops, color) in enumerate(marks):
        above.axhline(row, color=INK, linewidth=0.4, alpha=0.4)
        above.plot(flops, row, "o", color=color, markersize=8)
    name_rows(above, [name for name, *_ in marks])
    above.tick_params(axis="x", which="both", length=0)
    above.spines["bottom"].set_visible(False)
    log_axes(below, x=("FLOP/s", powers_alone))
    first, last = np.floor(np.log10(drawn.values.min())), np.ceil(np.log10(drawn.values.max()))
    bins = np.logspace(first, last, 4 * int(last - first) + 1)  # four to every power of ten
    below.stairs(np.histogram(drawn.values, bins)[0], bins, fill=True, color=SKY)
    below.set_ylim(bottom=0)
    below.axvspan(drawn.low, drawn.high, color=INK, alpha=0.12, linewidth=0)
    below.set_ylabel("draws")
    above_it = listed({name: brain.powers(flops) for name, flops, _ in marks})
    spoken = f"a histogram of the draws, their middle nine tenths shaded; above it: {above_it}."
    return Picture(figure, f"{title} Over FLOP/s on a log axis {spoken}")


def powers_alone(number):
    """1e21 as "10²¹"."""
    return brain.powers(number, 0).removeprefix("1×")


def shares(drawn=None) -> Picture:
    """What each assumption alone does to the estimate, from its least to its most: a tornado.

    Beside it, the share of the draws' variance that is its own. drawn: as for estimates().
    """
    drawn = drawn or brain.spread()
    ranked = sorted(brain.ASSUMPTIONS, key=lambda each: -drawn.shares[each.name])
    middle, first = brain.operations_per_second(), ranked[0]
    named = {each: f"{brain.in_words(each.name)}, {drawn.shares[each.name]:.0%}" for each in ranked}
    title = (f"{drawn.shares[first.name]:.0%} of the spread is one assumption's: "
             f"{brain.in_words(first.name)}, from {first.low:g} to {first.high:g} {first.unit}.")
    figure, axes = blank(width=7.6, height=4.2, title=title)
    for row, each in enumerate(ranked):
        ends = [brain.operations_per_second(**{each.name: n}) for n in (each.low, each.high)]
        axes.plot(ends, [row, row], "-o", color=SKY, linewidth=3, markersize=6)
    axes.axvline(middle, color=GREEN, linewidth=1)
    name_rows(axes, named.values())
    what = f"FLOP/s with one assumption at its ends; green: {brain.powers(middle)}; %: share"
    log_axes(axes, x=(what, powers_alone))
    spoken = "; ".join(named.values())
    return Picture(figure, f"{title} Shares of the variance of the logarithm: {spoken}.")
