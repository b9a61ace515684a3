"""A model beside the times that others published: how far off, and where its interval fails."""

from statistics import median

from gpulessons import units
from gpulessons.plots.axes import name_rows, written
from gpulessons.plots.forms import SPOTS, listed
from gpulessons.plots.picture import COLORS, DASH_DOT, INK, Picture, blank

RUNG = {**SPOTS, "marker": "^"}


def rungs(rows, floor: float) -> Picture:
    """A ladder of kernels on one card: each rung's published time, open, and its modelled interval.

    rows: of warplens.model.published. floor: seconds below which the data sheet lets nobody come.
    """
    rows = list(rows)
    first, last = rows[0].published, rows[-1].published
    title = (f"On an {first.gpu} the last rung is {units.ratio(first.seconds / last.seconds)} as "
             "fast as the first (published).")
    figure, axes = blank(height=1.4 + 0.36 * len(rows), title=title)
    axes.axvline(floor, color=INK, linestyle=":")
    most = max(row.published.seconds for row in rows)
    right = max([1.25 * most, *(1.03 * row.modelled.high for row in rows if row.modelled.high)])
    for y, row in enumerate(rows):
        low, high = row.modelled.low, row.modelled.high or 2 * right
        axes.plot([low, high], [y, y], color=INK, linewidth=1, linestyle=DASH_DOT)
        axes.plot(row.published.seconds, y, color=COLORS["gpu"], markerfacecolor="none", **RUNG)
    name_rows(axes, [row.published.kernel.partition(", ")[2] for row in rows])
    where = f"dotted: at least, by its data sheet; broken: modelled\npublished: {first.source}"
    axes.set(xlim=(0, right), xlabel=f"time\n{where}")
    written(axes.xaxis, units.seconds)
    told = {row.published.kernel: f"{units.seconds(row.published.seconds)} published, "
            f"{row.modelled.words} modelled" for row in rows}
    least = units.seconds(floor)
    return Picture(figure, f"{title} {listed(told)}. By the data sheet: at least {least}.")


def climbed(shown: dict[str, float]) -> Picture:
    """Bounds in seconds, as far as they are known, as bars: the longest is filled."""
    longest = max(shown, key=shown.__getitem__)
    title = f"So far at least {units.seconds(shown[longest])}: {longest}."
    figure, axes = blank(height=1.3 + 0.34 * len(shown), title=title)
    for y, (part, seconds) in enumerate(shown.items()):
        axes.barh(y, seconds, height=0.62, edgecolor=COLORS["gpu"],
                  color=COLORS["gpu"] if part == longest else "none")
    name_rows(axes, [f"{part}, {units.seconds(seconds)}" for part, seconds in shown.items()])
    axes.set_xlabel("bounded: alone it takes at least")
    written(axes.xaxis, units.seconds)
    told = {part: units.seconds(seconds) for part, seconds in shown.items()}
    return Picture(figure, f"{title} {listed(told)}.")


def kinds(rows) -> dict[str, list]:
    """All that every rule says something of; apart, those that shaped the model and those that did
    not; by what they wait for."""
    found = {"all": [row for row in rows if row.high and row.roofline]}
    for write in ("{0.role} it", "limited by {0.limiter}"):
        for row in found["all"]:
            found.setdefault(write.format(row), []).append(row)
    return found


def missed_by(rule: str, rows) -> float:
    return median(abs(getattr(row, rule) / row.published - 1) for row in rows)
