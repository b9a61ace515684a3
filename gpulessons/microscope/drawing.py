"""What all pictures share: color-blind safe colors, cells, titles, alt texts.

Colors are Okabe and Ito's, which color-blind readers tell apart; ink and paper follow Matplotlib's
own settings, so a dark style gives dark pictures.
"""

from __future__ import annotations

BLUE, SKY, ORANGE, VERMILLION = "#0072B2", "#56B4E9", "#E69F00", "#D55E00"
GREEN, PURPLE, GRAY = "#009E73", "#CC79A7", "#8C8C8C"
ACCESS_COLORS = {"read": SKY, "write": ORANGE, "atomic": GREEN}


def blank(width, height):
    """A figure with one empty drawing area."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(width, height))
    axes.set_axis_off()
    return figure, axes


def ink() -> str:
    import matplotlib

    return matplotlib.rcParams["text.color"]


def finish(figure, axes, title, alt):
    axes.set_title(title, loc="left", fontsize=11, color=ink())
    figure.alt_text = alt
    figure.set_layout_engine("tight")
    return figure


def cell(axes, x, y, width, height, color=None, edge=None, alpha=1.0):
    from matplotlib.patches import Rectangle

    edge = edge or ink()
    patch = Rectangle(
        (x, y), width, height, facecolor=color or "none", edgecolor=edge, linewidth=0.8, alpha=alpha
    )
    axes.add_patch(patch)


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
