"""What a request costs, by how many share the GPUs, by their speed, by a day's load."""

import numpy as np

from gpulessons.plots.axes import label_ends, log_axes
from gpulessons.plots.forms import LOOKS, listed, log_lines
from gpulessons.plots.picture import INK, Picture, blank

COST = "$ for 1,000 requests"


def over_requests(found, api, title, lines):
    """{requests at once: $}, published, and {name: such a line or points}, beside an API's."""
    fitted = any(len(line) >= 10 for line in lines.values())
    marks = {**LOOKS[0], "markerfacecolor": "none", "linestyle": "none" if fitted else "-"}
    named = [("two rented H100s", [*found], [*found.values()], marks)]
    named += [(each, [*line], [*line.values()],
               {**look, "marker": "D" if len(line) < 10 else ""})
              for (each, line), look in zip(lines.items(), LOOKS[3:], strict=False) if line]
    named += [("API", (1, max(found)), (api, api), {**LOOKS[2], "marker": ""})]
    return log_lines(named, ("requests at once", "{:,.3g}".format), (COST, "{:g}".format),
                     ticks=[n for n in found if n != 100], title=title)


def over_load(bands, load, title):
    """{way: (requests a day, least $ a day, most)}, an API's in green; load: yours."""
    figure, axes = blank(8.2, 4.6, title)
    log_axes(axes, x=("requests a day", "{:,.0f}".format), y=("$ a day", "{:,.0f}".format),
             ticks=(3e3, 1e4, 1e5, 1e6))  # fmt: skip
    axes.axvline(load, color=INK, linewidth=1)
    ends, looks = [], iter(LOOKS[:2] + LOOKS[3:])
    for name, (loads, *band) in bands.items():
        look = LOOKS[2] if name.startswith("API") else next(looks)
        axes.fill_between(loads, *band, color=look["color"], alpha=0.25, linewidth=0)
        axes.plot(loads, band[0], color=look["color"], linestyle=look["linestyle"])
        ends.append((loads[-1], band[0][-1], name, look["color"]))
    label_ends(axes, ends)
    said = listed({name: f"${np.interp(load, *each[:2]):.0f}" for name, each in bands.items()})
    return Picture(figure, f"{title}. Modelled, at least, in $ a day: {said}.")


def over_use(speeds, title):
    """{lengths: [(tokens/s of the GPUs, of each user), …]}, and straight lines between the ends."""
    figure, axes = blank(8.2, 4.2, title)
    ends = []
    for (name, found), look in zip(speeds.items(), LOOKS, strict=False):
        (_, alone), (most, full) = min(found), max(found)
        axes.plot([rate / most for rate, _ in found], [speed for _, speed in found],
                  **look | {"linestyle": ""}, fillstyle="none")
        axes.plot((0, 1), (alone, full), color=look["color"], linestyle=look["linestyle"])
        ends.append((1, full, name, look["color"]))
    label_ends(axes, ends)
    axes.set(xlim=(0, 1), ylim=(0, None), xlabel="utilization", ylabel="tokens/s for each user")
    said = listed({name: f"down to {full:.0f}" for _, full, name, _ in ends})
    return Picture(figure, f"{title}. {said}.")
