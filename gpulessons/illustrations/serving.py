"""What a request costs, by how many share the GPUs, by their speed, by the way they are had."""

import numpy as np

from gpulessons.plots.axes import beside, label_ends, log_axes, name_rows
from gpulessons.plots.forms import LOOKS, key, listed, log_lines
from gpulessons.plots.picture import BLUE, GREEN, VERMILLION, Picture, blank

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


def ways(costs, api, title):
    """{way: (least $, most $ or inf, $ on a full day or None, words)}, beside an API's."""
    figure, axes = blank(8.2, 1.5 + 0.32 * len(costs), title)
    full_look = {"color": VERMILLION, "marker": "D", "markerfacecolor": "none"}
    for y, (least, most, full, words) in enumerate(costs.values()):
        end = most if most < np.inf else 1.15 * least
        axes.plot([least / 1.03, end * 1.03], [y, y], color=BLUE, linewidth=7)
        axes.plot(full or [], [y] * bool(full), **full_look)
        beside(axes, words + " or more" * bool("(" in words and most == np.inf), end, y)
    axes.axvline(api, color=GREEN, linestyle="-.")
    name_rows(axes, costs)
    log_axes(axes, x=(COST, "{:g}".format), ticks=(0.25, 0.5, 1, 2, 5, 10, 20))
    axes.set_xlim(right=6 * axes.get_xlim()[1])
    key(figure, {"your day": {"color": BLUE}, "a full day": full_look,
                 "the cheapest API": {"color": GREEN, "marker": "", "linestyle": "-."}})
    said = listed({name: f"${least:.2f} to ${most:.2f}{f', full ${full:.2f}' if full else ''}"
                   f"{words and f', pays from {words}'}"
                   for name, (least, most, full, words) in costs.items()})
    return Picture(figure, f"{title}. Modelled: {said}.".replace("$inf", "more"))


def over_use(speeds, line):
    """{lengths: [(tokens/s of the GPUs, of each user), …]}, and line(utilization, alone, full)."""
    ends = {name: (min(found)[1], max(found)[1]) for name, found in speeds.items()}
    points = {name: [(rate / max(each)[0], speed) for rate, speed in each]
              for name, each in speeds.items()}
    off = [line(use, *ends[name]) / speed - 1 for name in points for use, speed in points[name]]
    title = ("Each user's speed falls in a straight line with utilization:\n"
             f"{len(off)} published points are within {max(map(abs, off)):.0%} of it")
    figure, axes = blank(8.2, 4.2, title)
    for name, look in (named := [*zip(points, LOOKS, strict=False)]):
        axes.plot(*zip(*points[name], strict=True), **look | {"linestyle": ""}, fillstyle="none")
        axes.plot((0, 1), ends[name], color=look["color"], linestyle=look["linestyle"])
    label_ends(axes, [(1, ends[name][1], name, look["color"]) for name, look in named])
    axes.set(xlim=(0, 1), ylim=(0, None), xlabel="utilization", ylabel="tokens/s for each user")
    said = listed({name: "{:.0f} to {:.0f}".format(*pair) for name, pair in ends.items()})
    return Picture(figure, f"{title}. {said}.")
