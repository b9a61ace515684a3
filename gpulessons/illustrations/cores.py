"""A K80 over this machine, by what one counts: cores, lanes, FLOPs or bytes."""

from gpulessons import units
from gpulessons.plots.axes import log_axes
from gpulessons.plots.picture import BLUE, INK, VERMILLION, Picture, blank


def ratios(cores):
    """A dot for each way of counting, on a log axis, for a money.cores.Cores."""
    found = cores.ratios()
    first, rate = found["cores, as on the box"], found["FLOP/s"]
    title = f"A K80 has {units.ratio(first)} the cores and {units.ratio(rate)} the FLOP/s."
    figure, axes = blank(height=2.6, title=title)
    for row, (name, times) in enumerate(found.items()):
        axes.axhline(row, color=INK, linewidth=0.4, alpha=0.4)
        axes.plot(times, row, "o", color=BLUE if name.endswith("/s") else VERMILLION, markersize=9)
        axes.annotate(units.ratio(times), (times, row), (0, 7), textcoords="offset points",
                      ha="center", color=INK, fontsize=9.5)  # fmt: skip
    axes.axvline(1, color=INK, linestyle="--", linewidth=1)
    axes.set_yticks(range(len(found)), found)
    axes.set_ylim(len(found) - 0.5, -0.7)
    log_axes(axes, x=("K80, published, over this machine, measured", units.ratio))
    axes.set_xlim(min([*found.values(), 1]) / 2, max(found.values()) * 2)
    told = ", ".join(f"{name} {units.ratio(times)}" for name, times in found.items())
    return Picture(figure, f"{title} Over this machine: {told}.")
