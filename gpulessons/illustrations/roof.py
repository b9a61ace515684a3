"""Bytes per second under a ceiling of this machine's memory, all on arrays that no cache holds."""

from collections.abc import Mapping

from gpulessons import units
from gpulessons.plots.axes import written
from gpulessons.plots.picture import BLUE, INK, Picture, blank


def under_the_roof(
    rates: Mapping[str, float], roof: float, name: str, marks: Mapping[str, float] | None = None,
    about: str = "",
) -> Picture:  # fmt: skip
    """{what: bytes/s} as bars, the ceiling (bytes/s) of this name as a line; marks are dotted ones.

    about: the one that the title speaks of, the fastest unless told.
    Raises ValueError where there is nothing to draw.
    """
    if not rates:
        raise ValueError("Give at least one rate: {what it is: bytes per second}.")
    about = about or max(rates, key=lambda what: rates[what])
    title = f"{about}: {rates[about] / roof:.0%} of this machine's {name} ceiling."
    lines = {f"{name} ceiling, {units.rate(roof, 'B/s')}": (roof, "-")}
    lines |= {words: (rate, ":") for words, rate in (marks or {}).items()}
    figure, axes = blank(height=1.5 + 0.34 * len(rates) + 0.2 * len(lines), title=title)
    for y, rate in enumerate(rates.values()):
        axes.barh(y, rate, height=0.68, color=BLUE)
    # The lowest rate's words stand lowest: no line runs through words.
    for row, (words, (rate, style)) in enumerate(sorted(lines.items(), key=lambda line: line[1])):
        foot = -0.9 - 0.62 * row
        axes.plot([rate, rate], [len(rates) - 0.5, foot], style, color=INK, linewidth=1.5)
        axes.text(rate, foot, f"{words} ", ha="right", va="center", color=INK, fontsize=10)
    rows = [f"{what}, {units.rate(rate, 'B/s')}" for what, rate in rates.items()]
    axes.set_yticks(range(len(rates)), rows)
    axes.set(xlim=(0, 1.05 * max(roof, *rates.values())), xlabel="bytes per second, as counted",
             ylim=(len(rates) - 0.5, -1.2 - 0.62 * (len(lines) - 1)))  # fmt: skip
    axes.spines["left"].set_bounds(len(rates) - 0.5, -0.5)
    axes.xaxis.get_major_locator().set_params(nbins=5)  # "25 GB/s" is wide
    written(axes.xaxis, lambda rate: units.rate(rate, "B/s"))
    return Picture(figure, f"{title} {'; '.join([*rows, *lines])}.")
