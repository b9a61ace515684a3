"""A K80 over this machine, by what one counts: cores, lanes, FLOPs or bytes."""

from gpulessons import units
from gpulessons.plots.axes import log_axes
from gpulessons.plots.picture import BLUE, INK, VERMILLION, Picture, blank

COUNTED = {"places that compute": VERMILLION, "per second": BLUE}  # what a row counts


def ratios(cores):
    """A dot for each way of counting, on a log axis, for a money.cores.Cores."""
    from matplotlib.lines import Line2D

    found = cores.ratios()
    first, rate = found["cores, as on the box"], found["FLOP/s"]
    title = f"A K80 has {units.ratio(first)} the cores and {units.ratio(rate)} the FLOP/s."
    title = f"No result: {cores.doubt}." if cores.doubt else title
    figure, axes = blank(height=3.4, title=title)
    for row, (name, times) in enumerate(found.items()):
        axes.axhline(row, color=INK, linewidth=0.4, alpha=0.4)
        color = COUNTED["per second" if name.endswith("/s") else "places that compute"]
        axes.plot(times, row, "o", color=color, markersize=9)
        axes.annotate(units.ratio(times), (times, row), (0, 7), textcoords="offset points",
                      ha="center", color=INK, fontsize=10)  # fmt: skip
    axes.axvline(1, color=INK, linestyle="--", linewidth=1)
    axes.set_yticks(range(len(found)), found)
    axes.set_ylim(len(found) - 0.5, -0.7)
    log_axes(axes, x=("K80, published, over this machine, measured", units.ratio))
    axes.set_xlim(min([*found.values(), 1]) / 2, max(found.values()) * 2)
    key = [Line2D([], [], marker="o", linestyle="none", color=color, markersize=9, label=what)
           for what, color in COUNTED.items()]  # fmt: skip
    figure.legend(handles=key, loc="outside lower center", ncols=2, frameon=False, labelcolor=INK)
    told = ", ".join(f"{name} {units.ratio(times)}" for name, times in found.items())
    return Picture(figure, f"{title} Over this machine: {told}.")
