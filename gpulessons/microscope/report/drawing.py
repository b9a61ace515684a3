"""What the microscope's pictures share: a blank sheet, a cell, the colors of an access."""

from gpulessons.plots.picture import GREEN, INK, ORANGE, SKY, Picture

GRAY = "#8C8C8C"
ACCESS_COLORS = {"read": SKY, "write": ORANGE, "atomic": GREEN}


def blank(width, height):
    """A figure with one empty drawing area."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="tight")
    axes = figure.subplots()
    axes.set_axis_off()
    return figure, axes


def finish(figure, axes, title, alt):
    axes.set_title(title, loc="left", fontsize=11, color=INK)
    return Picture(figure, alt)


def cell(axes, x, y, width, height, color=None, edge=None, alpha=1.0):
    from matplotlib.patches import Rectangle

    edge = edge or INK
    patch = Rectangle(
        (x, y), width, height, facecolor=color or "none", edgecolor=edge, linewidth=0.8, alpha=alpha
    )
    axes.add_patch(patch)


def write(axes, x, y, text, align="center", size=7, color=INK, **look):
    """Words at a place of the drawing, centered on its height unless told."""
    axes.text(x, y, text, **{"ha": align, "va": "center", "fontsize": size, "color": color, **look})
