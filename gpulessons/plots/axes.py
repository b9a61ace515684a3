"""Log axes, set up in one way: said to be logarithmic, and numbered as people read numbers."""


def log_axes(axes, *, x=None, y=None, ticks=None, base=10):
    """Put one axis or both on a log scale; `x` and `y` are (what it is, write(number) of a tick).

    ticks: where the x axis is numbered, for values that were chosen. Between ticks nothing is
    numbered: those labels would run into each other.
    """
    for axis, told in ((axes.xaxis, x), (axes.yaxis, y)):
        if told:
            what, write = told
            getattr(axes, f"set_{axis.axis_name}scale")("log", base=base)
            axis.set_label_text(f"{what} (log scale)")
            written(axis, write)
            axis.set_minor_formatter("")
    if ticks is not None:
        axes.set_xticks(ticks, map(x[1], ticks))
        axes.set_xticks([], minor=True)


def written(axis, write):
    """Label each tick of an axis with write(its number)."""
    axis.set_major_formatter(lambda number, _: write(number))
