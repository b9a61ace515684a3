"""What a request costs, by how many share the GPUs, by their speed, by the way they are had."""


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
    return log_lines(named, ("requests at once", "{:,.3g}".format), (COST, "{:g}".format),
                     ticks=[n for n in found if n != 100], title=title)


def ways(costs, api, title):
    """{way: (least $, most $, $ when full or None, words)} of a day of yours, beside an API's."""
    figure, axes = blank(8.2, 1.5 + 0.32 * len(costs), title)
    full_look = {"color": VERMILLION, "marker": "D", "markerfacecolor": "none"}
    for y, (least, most, full, words) in enumerate(costs.values()):
        axes.plot([least, most], [y, y], color=BLUE, linewidth=7, marker="|", markersize=7)
        axes.plot(full or [], [y] * bool(full), **full_look)
        beside(axes, words and f"pay {words}", most, y)
    axes.axvline(api, color=GREEN, linestyle="-.")
    name_rows(axes, costs)
    log_axes(axes, x=(COST, "{:g}".format), ticks=(0.25, 0.5, 1, 2, 5, 10, 20))
    axes.set_xlim(right=6 * axes.get_xlim()[1])
    key(figure, {"your day": {"color": BLUE}, "full, within your limits": full_look,
                 "the cheapest API": {"color": GREEN, "marker": "", "linestyle": "-."}})
    said = listed({name: f"${a:.2f} to ${b:.2f} {pays}" for name, (a, b, _, pays) in costs.items()})
    return Picture(figure, f"{title}. Modelled: {said}.")


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
