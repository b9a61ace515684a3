"""A picture of hashing by planes: whose codes agree with that of h, and what another table adds."""

import numpy as np

from gpulessons.plots.picture import BLUE, INK, ORANGE, VERMILLION, Picture, blank
from gpulessons.units import plural

CLASSES, PLANES, NEAREST = 24, 4, 4
REACH = 1.25  # of the planes' lines; the class vectors have length 1


def directions() -> np.ndarray:
    """(CLASSES,) the degrees in which the classes' vectors point, in rising order."""
    return np.sort(np.random.default_rng(1).uniform(0, 360, CLASSES))


def planes(table: int) -> np.ndarray:
    """(PLANES,) the degrees of a table's planes: in two dimensions each is a line through 0.

    With so few planes not every seed cuts the circle into pieces of like size; these do.
    """
    return np.sort(np.random.default_rng(50 + table).uniform(0, 180, PLANES))


def codes(degrees: np.ndarray, table: int) -> np.ndarray:
    """(…, PLANES) of 0 and 1: on which side of each plane a vector lies."""
    return (np.sin(np.radians(np.expand_dims(degrees, -1) - planes(table))) > 0).astype(int)


def active(degrees: float, tables: int) -> np.ndarray:
    """The classes that share h's code in one table at least."""
    alike = [(codes(directions(), t) == codes(degrees, t)).all(axis=1) for t in range(tables)]
    return np.flatnonzero(np.any(alike, axis=0))


def nearest(degrees: float) -> np.ndarray:
    """The classes at the smallest angles to h: with vectors of one length, the highest scores."""
    away = np.abs((directions() - degrees + 180) % 360 - 180)
    return np.argsort(away, kind="stable")[:NEAREST]


def buckets(degrees: float = 90, tables: int = 1) -> Picture:
    """h, the planes of the last table, the bucket that h falls into, and the classes looked at.

    degrees: where h points. tables: how many are looked up, each with planes of its own.
    """
    looked, best = active(degrees, tables), nearest(degrees)
    found = len(np.intersect1d(looked, best))
    title = (
        f"{plural(tables, 'table')}: {len(looked)} of {CLASSES} classes looked at, "
        f"{found} of the {NEAREST} nearest to h found."
    )
    figure, axes = blank(width=5.6, height=5.2, title=title)
    lines = np.sort(np.concatenate([planes(tables - 1), planes(tables - 1) + 180]))
    first = (np.searchsorted(lines, degrees % 360) - 1) % len(lines)
    start, stop = lines[first], lines[(first + 1) % len(lines)]
    bucket = np.linspace(start, stop if stop > start else stop + 360, 30)
    axes.fill(*np.hstack([[[0], [0]], REACH * point(bucket)]), color=ORANGE, alpha=0.28,
              linewidth=0)
    for plane in planes(tables - 1):
        axes.plot(*REACH * point(np.array([plane, plane + 180])), color=INK, linewidth=0.8)
    axes.plot(*point(directions()), "o", color=BLUE, markersize=4, label="classes")
    axes.plot(*point(directions()[looked]), "o", color=BLUE, markersize=9, label="looked at")
    axes.plot(*point(directions()[best]), "o", markerfacecolor="none", color=VERMILLION,
              markersize=13, label=f"the {NEAREST} nearest to h")
    arrow = {"arrowstyle": "->", "color": VERMILLION, "linewidth": 1.8}
    axes.annotate("", 0.88 * point(degrees), (0, 0), arrowprops=arrow)
    axes.text(*1.13 * point(degrees), "h", color=INK, fontsize=12, ha="center", va="center")
    axes.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal")
    axes.set_axis_off()
    figure.legend(loc="outside lower center", ncols=3, labelcolor=INK, frameon=False, fontsize=10)
    code = "".join(map(str, codes(degrees, tables - 1)))
    return Picture(figure, f"{title} The last table's code of h: {code}. {PLANES} planes a table.")


def point(degrees: float | np.ndarray) -> np.ndarray:
    """(2, …) on the circle of radius 1."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
