"""A model beside the times that others published: how far off, and where its interval fails."""

from itertools import groupby

from gpulessons.plots.axes import log_axes
from gpulessons.plots.picture import COLORS, INK, Picture, blank

HOLDS, FAILS = "o", "X"
ROW, GAP = 0.21, 1.4  # inches for a kernel; kernels' worth of room above each ladder


def published_times(judged):
    """A row for each published time: modelled over published, with the interval; on the line at 1
    both agree. A cross where the interval misses the published time.

    judged: of warplens.model.published. The title tells the median error and what the interval
    holds; the alt text names every failure.
    """
    height = 1.5 + ROW * (len(judged.rows) + GAP * len(judged.ladders))
    figure, axes = blank(width=8, height=height, title=judged.message)
    log_axes(axes, x=("modelled over published time", times))
    axes.axvline(1, color=INK, linewidth=1)
    y, places, names = 0.0, [], []
    for ladder, rows in groupby(judged.rows, key=lambda row: row.published.ladder):
        y += GAP
        axes.text(0, y - 0.9, ladder, transform=axes.get_yaxis_transform(), color=INK, fontsize=9)
        for row in rows:
            draw(axes, row, y)
            places.append(y)
            names.append(row.published.kernel)
            y += 1
    axes.set_yticks(places, names, fontsize=9)
    axes.set_ylim(y, -0.2)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xticks(ticks(judged.rows))
    key(axes)
    return Picture(figure, f"{judged.message} {described(judged)}")


def draw(axes, row, y):
    """A dot at modelled over published, a line over the interval; to the edge where it is open."""
    published = row.published.seconds
    low = row.modelled.low / published
    if row.modelled.high is None:
        axes.plot([low, row.ratio], [y, y], color=INK, linewidth=1.5)  # that the axis reaches low
        axes.annotate("", (1, y), (low, y), axes.get_yaxis_transform(), "data",
                      {"arrowstyle": "->", "color": INK, "linewidth": 1.5,
                       "shrinkA": 0, "shrinkB": 0})  # fmt: skip
    else:
        high = row.modelled.high / published
        axes.plot([low, high], [y, y], color=INK, linewidth=1.5)
    axes.plot(row.ratio, y, **look(row.holds))
    if not row.holds:
        axes.annotate(f"{row.ratio:.2f}×", (row.ratio, y), (0, 5), textcoords="offset points",
                      ha="center", color=INK, fontsize=9)  # fmt: skip


def look(holds):
    """In the color of GPUs; told apart by shape and filling as well."""
    return {
        "marker": HOLDS if holds else FAILS,
        "markersize": 5 if holds else 7,
        "color": COLORS["gpu"],
        "linestyle": "none",
    }


def key(axes):
    words = {True: "the interval holds the published time", False: "it does not"}
    marks = [axes.plot([], [], label=words[holds], **look(holds))[0] for holds in words]
    legend = axes.legend(handles=marks, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=2,
                         borderaxespad=3.6, frameon=False, fontsize=9)  # fmt: skip
    for text in legend.get_texts():
        text.set_color(INK)


def ticks(rows):
    """Numbers to read the axis by, within what is drawn."""
    shown = [row.modelled.low / row.published.seconds for row in rows]
    shown += [row.ratio for row in rows]
    shown += [
        row.modelled.high / row.published.seconds for row in rows if not row.modelled.at_least
    ]
    usual = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
    return [one for one in usual if one == 1 or min(shown) / 1.2 <= one <= max(shown) * 1.2]


def times(number):
    return f"{number:g}×"


def described(judged):
    """Every failure, the worst first, and the order of each ladder."""
    missed = "; ".join(f"{row.name} at {row.ratio:.2f}" for row in judged.failures)
    orders = " ".join(judged.notes)
    return f"The interval fails for: {missed or 'none'}. {orders}"
