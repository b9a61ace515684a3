"""A picture of hashing by planes: whose codes agree with that of h, and what another table adds."""

import numpy as np

from gpulessons.plots.forms import key, write
from gpulessons.plots.picture import BLUE, INK, ORANGE, VERMILLION, Picture, blank
from gpulessons.units import plural

CLASSES, PLANES, NEAREST = 24, 4, 4
REACH = 1.25  # of the planes' lines; the class vectors have length 1
DIRECTIONS = np.sort(np.random.default_rng(1).uniform(0, 360, CLASSES))  # degrees, of the classes


def planes(table: int) -> np.ndarray:
    """(PLANES,) the degrees of a table's planes: in two dimensions each is a line through 0.

    With so few planes not every seed cuts the circle into pieces of like size; these do.
    """
    return np.sort(np.random.default_rng(50 + table).uniform(0, 180, PLANES))


def codes(degrees, table: int) -> np.ndarray:
    """(…, PLANES) of 0 and 1: on which side of each plane a vector lies."""
    return (np.sin(np.radians(np.expand_dims(degrees, -1) - planes(table))) > 0).astype(int)


def buckets(degrees: float = 90, tables: int = 1) -> Picture:
    """h, the planes of the last table, the bucket that h falls into, and the classes looked at:
    those that share h's code in one table at least.

    degrees: where h points. tables: how many are looked up, each with planes of its own.
    """
    alike = [(codes(DIRECTIONS, t) == codes(degrees, t)).all(axis=1) for t in range(tables)]
    looked = np.flatnonzero(np.any(alike, axis=0))
    # At the smallest angles to h: with vectors of one length, the highest scores.
    away = np.abs((DIRECTIONS - degrees + 180) % 360 - 180)
    best = np.argsort(away, kind="stable")[:NEAREST]
    title = (f"{plural(tables, 'table')}: {len(looked)} of {CLASSES} classes looked at, "
             f"{len(np.intersect1d(looked, best))} of the {NEAREST} nearest to h found.")
    figure, axes = blank(width=5.6, height=5.2, title=title)
    lines = np.sort(np.concatenate([planes(tables - 1), planes(tables - 1) + 180]))
    first = (np.searchsorted(lines, degrees % 360) - 1) % len(lines)
    start, stop = lines[first], lines[(first + 1) % len(lines)]
    bucket = np.linspace(start, stop if stop > start else stop + 360, 30)
    axes.fill(*np.hstack([[[0], [0]], REACH * point(bucket)]), color=ORANGE, alpha=0.28,
              linewidth=0)
    for plane in planes(tables - 1):
        axes.plot(*REACH * point(np.array([plane, plane + 180])), color=INK, linewidth=0.8)
    looks = {
        "classes": {"marker": "o", "color": BLUE, "markersize": 4},
        "looked at": {"marker": "o", "color": BLUE, "markersize": 9},
        f"the {NEAREST} nearest to h": {"marker": "o", "color": VERMILLION, "markersize": 13,
                                        "markerfacecolor": "none"},
    }
    for who, look in zip((slice(None), looked, best), looks.values(), strict=True):
        axes.plot(*point(DIRECTIONS[who]), linestyle="none", **look)
    arrow = {"arrowstyle": "->", "color": VERMILLION, "linewidth": 1.8}
    axes.annotate("", 0.88 * point(degrees), (0, 0), arrowprops=arrow)
    write(axes, *1.13 * point(degrees), "h", fontsize=12)
    axes.set(xlim=(-REACH, REACH), ylim=(-REACH, REACH), aspect="equal")
    axes.set_axis_off()
    key(figure, looks)
    code = "".join(map(str, codes(degrees, tables - 1)))
    return Picture(figure, f"{title} The last table's code of h: {code}. {PLANES} planes a table.")


def point(degrees) -> np.ndarray:
    """(2, …) on the circle of radius 1."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))])
