"""Loss on its way down, against updates and against seconds; and what vanishes on the way.

A run is anything with a `curve` [(seconds, loss)] and `by_updates` [(updates, loss)].
"""

from functools import partial
from statistics import median

from gpulessons import units
from gpulessons.plots.axes import beside, log_axes, written
from gpulessons.plots.forms import LOOKS, percent, span, write
from gpulessons.plots.picture import INK, ORANGE, SKY, VERMILLION, Picture, blank
from gpulessons.workers.programs.hogwild import goal, reached

from .drawings import drawing

# Two workers' cells side by side, and two lines of eight cells from each other.
cache_lines = partial(drawing, "cache_lines")


def curves(runs) -> Picture:
    """The runs {name: run} against updates and against seconds, and where they are equally good."""
    target = goal(runs.values())
    times = {name: reached(run.curve, target) for name, run in runs.items()}
    took = "; ".join(f"{name}, {units.seconds(seconds)}" for name, seconds in times.items())
    title = f"To a loss of {target:.3g}: {took}."
    figure, (left, right) = blank(width=8.2, height=4, title=title, ncols=2, sharey=True)
    for (name, run), look in zip(runs.items(), LOOKS, strict=False):
        line = {**look, "marker": "", "linewidth": 1.6}
        left.plot(*zip(*run.by_updates, strict=True), **line, label=name)
        right.plot(*zip(*run.curve, strict=True), **line | {"marker": ".", "markersize": 4})
        left.plot(reached(run.by_updates, target), target, **look)
        right.plot(times[name], target, **look)
    left.set(xlabel="updates of all workers", ylabel="loss of held-out examples")
    written(left.xaxis, lambda updates: units.count(int(updates)))
    right.set_xlabel("time since the start of learning")
    written(right.xaxis, units.seconds)
    for one in (left, right):
        one.xaxis.get_major_locator().set_params(nbins=4)
        one.axhline(target, color=INK, linewidth=0.8, linestyle=":")
    left.legend(labelcolor=INK, frameon=False, fontsize=9.5)
    return Picture(figure, f"{title} Live, by processes sharing one machine.")


def lost_shares(counts) -> Picture:
    """What share of the additions vanished: counts is {number of shared cells: Count}. What has a
    name instead of a number, cells that nobody shares, is left out."""
    shared = {n: one.lost for n, one in counts.items() if isinstance(n, int)}
    told = {n: f"{percent(lost)} of those to {units.plural(n, 'cell')}"
            for n, lost in shared.items()}
    title = f"Of all additions, these vanish: {told[min(told)]}; {told[max(told)]}."
    figure, axes = blank(height=3.4, title=title)
    axes.plot(shared.keys(), shared.values(), "o-", color=VERMILLION)
    for n, lost in shared.items():
        beside(axes, percent(lost), n, lost)
    log_axes(axes, x=("shared cells", units.count), ticks=list(shared))
    axes.set_ylabel("additions lost")
    written(axes.yaxis, percent)
    axes.margins(0.12, 0.15)
    axes.set_ylim(bottom=-0.02 * max(0.01, *shared.values()))
    return Picture(figure, f"{title} Lost, by processes sharing one machine: "
                           f"{'; '.join(told.values())}.")


def seldom(found, told) -> Picture:
    """Accuracy on held-out digits: found is {how the digits are shared: {way: each seed's}}; told:
    the ways that the title compares."""
    best = {share: {way: f"{median(each):.0%}" for way, each in ways.items()}
            for share, ways in found.items()}
    said = [f"{share} " + " and ".join(f"{best[share][way]} by {way}" for way in told)
            for share in found]
    title = f"Digits read, with {'; with '.join(said)}."
    figure, axes = blank(height=3.4, title=title)
    for (share, ways), color, up in zip(found.items(), (SKY, VERMILLION), (0.15, -0.15),
                                        strict=True):  # fmt: skip
        for lane, each in enumerate(ways.values()):
            label = share if lane == 0 else None
            axes.plot(each, [up - lane] * len(each), "o", color=color, alpha=0.7, label=label)
            axes.plot(median(each), up - lane, "|", color=INK, markersize=14)
    axes.set_yticks([-lane for lane in range(len(ways))], [*ways])
    axes.set_xlabel("held-out digits read: a dot for each seed, a bar for their median")
    written(axes.xaxis, percent)
    axes.legend(labelcolor=INK, frameon=False, fontsize=9.5, loc="center left")
    spoken = "; ".join(f"{share}, {way}: {each}" for share, ways in best.items()
                       for way, each in ways.items())
    return Picture(figure, f"{title} Medians of seeds: {spoken}.")


def turns(history) -> Picture:
    """What A and B did in turn: history is [(worker, "reads 0", what the cell then holds)]."""
    made, held = len({who for who, *_ in history}), history[-1][2]
    title = f"{made} workers add one each. The cell holds {held}."
    figure, axes = blank(height=2.3, title=title)
    lanes = {"A": (2, SKY), "B": (1, ORANGE)}
    for at, (who, what, held) in enumerate(history):
        lane, color = lanes[who]
        span(axes, lane, at, 0.94, color, what)
        write(axes, at + 0.94, 0, held, ha="right", fontsize=11)
    axes.set_yticks([2, 1, 0], [*lanes, "the cell"])
    axes.set(xticks=[], xlim=(0, len(history)), ylim=(-0.5, 2.5), xlabel="time")
    spoken = "; ".join(f"{who} {what}, cell {held}" for who, what, held in history)
    return Picture(figure, f"{title} {spoken}.")
