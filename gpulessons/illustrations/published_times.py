"""A model beside the times that others published: how far off, and where its interval fails."""

from gpulessons.plots.axes import log_axes, name_rows
from gpulessons.plots.picture import COLORS, INK, Picture, blank

KEY = "at 1 both agree; ○ the interval holds the published time, × it does not"


def published_times(judged) -> Picture:
    """A row for each published time: modelled over published, with the interval; on the line at 1
    both agree. A cross where the interval misses the published time.

    judged: of warplens.model.published. Where only the low end is known, no line is drawn to the
    right.
    """
    rows = judged.rows
    figure, axes = blank(width=8, height=1.5 + 0.21 * len(rows), title=judged.message)
    axes.axvline(1, color=INK, linewidth=1)
    for y, row in enumerate(rows):
        ends = [end / row.published.seconds for end in (row.modelled.low, row.modelled.high) if end]
        axes.plot([*ends, row.ratio], [y] * (len(ends) + 1), color=INK, linewidth=1.5)
        axes.plot(row.ratio, y, "o" if row.holds else "X", color=COLORS["gpu"],
                  markersize=5 if row.holds else 7)
    name_rows(axes, [row.name for row in rows])
    axes.tick_params(axis="y", length=0, labelsize=9)
    log_axes(axes, x=("modelled over published time", "{:g}×".format), ticks=(0.2, 0.5, 1, 2, 5))
    axes.set_xlabel(f"{axes.get_xlabel()}\n{KEY}", linespacing=1.4)
    missed = "; ".join(f"{row.name} at {row.ratio:.2f}" for row in judged.failures)
    alt = f"{judged.message} The interval fails for: {missed or 'none'}. {' '.join(judged.notes)}"
    return Picture(figure, alt)
