"""Loss on its way down, against updates and against seconds.

A run is anything with a `curve` [(seconds, loss)] and `by_updates` [(updates, loss)].
"""

from gpulessons import units
from gpulessons.plots.axes import written
from gpulessons.plots.forms import LOOKS
from gpulessons.plots.picture import INK, Picture, blank
from gpulessons.workers.programs.hogwild import goal, reached


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
