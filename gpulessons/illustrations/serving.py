"""What a request costs, by how many share the GPUs, by their speed, by a day's load."""

import numpy as np

from gpulessons.plots.axes import label_ends, log_axes
from gpulessons.plots.forms import LOOKS, listed, log_lines
from gpulessons.plots.picture import BLUE, GREEN, INK, Picture, blank

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
    return log_lines(named, ("requests sent at once", "{:,.3g}".format), (COST, "{:g}".format),
                     ticks=[n for n in found if n != 100], title=title)


def over_load(bands, api, load, title):
    """{way: (requests a day, least $, most $)} beside an API's, and where a day of yours stands."""
    figure, axes = blank(8.2, 4.2, title)
    log_axes(axes, x=("requests a day, spread evenly", "{:,.0f}".format), y=(COST, "{:g}".format),
             ticks=(3e3, 1e4, 1e5, 1e6))  # fmt: skip
    axes.axhline(api, color=GREEN, linestyle="-.")
    axes.axvline(load, color=INK, linewidth=1)
    ends = []
    for (name, (loads, *band)), look in zip(bands.items(), LOOKS[:2] + LOOKS[3:], strict=False):
        axes.fill_between(loads, *band, color=look["color"], alpha=0.25, linewidth=0)
        axes.plot(loads, band[0], color=look["color"], linestyle=look["linestyle"])
        ends.append((loads[-1], band[0][-1], name, look["color"]))
    label_ends(axes, [*ends, (loads[-1], api, "API", GREEN)])
    said = listed({name: f"${np.interp(load, *each[:2]):.2f}" for name, each in bands.items()})
    return Picture(figure, f"{title}. Modelled, at least, with {load:,.0f} requests a day: {said}.")


def over_speed(points, api):
    """{requests at once: (tokens/s for each user, $)} beside an API's."""
    full = [n for n in points if points[n][0] <= 1.02 * points[max(points)][0]]
    title = "The more requests share the GPUs, the cheaper each is, and the slower"
    figure, axes = blank(8.2, 3.9, title)
    log_axes(axes, y=(COST, "{:g}".format))
    axes.axhline(api, color=GREEN, linestyle="-.")
    axes.plot(*zip(*points.values(), strict=True), color=BLUE, marker="s", fillstyle="none")
    for n in {*points} - {*full[1:]}:
        words = ", ".join(map(str, full)) if n in full else f"{n} at once"
        axes.annotate(words, points[n], (7, -14), textcoords="offset points", color=INK)
    axes.text(1, api * 0.96, "the API, at a speed that it does not state", va="top", color=INK)
    axes.set(xlim=(0, 1.2 * points[min(points)][0]), xlabel="tokens a second for each user",
             ylim=(api / 1.5, 2 * max(price for _, price in points.values())))
    said = listed({f"{n} at once": f"{v:.0f} tokens/s, ${d:.2f}" for n, (v, d) in points.items()})
    return Picture(figure, f"{title}. {said}. The API: ${api:.2f}.")
