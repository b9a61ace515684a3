"""Pictures of nearest neighbors: the planes of one small tree, and recall against speed."""

from functools import cache

import numpy as np

from gpulessons import units
from gpulessons.ops.forest import Forest, cells_visited, grow
from gpulessons.plots.axes import label_ends, log_axes, two_ticks
from gpulessons.plots.forms import key, percent, write
from gpulessons.plots.picture import BLUE, INK, ORANGE, VERMILLION, Picture, blank

POINTS, LEAF, NEAREST = 120, 8, 5
QUERY = np.array([1, -7], np.float32)
SIDE = 30  # half the picture's side


@cache
def meadow() -> tuple[np.ndarray, Forest]:
    """Some points of the plane, in three clusters and between them, and one tree over them."""
    rng = np.random.default_rng(5)
    centers = np.array([[-14, -10], [12, 12], [10, -14]])[rng.integers(0, 3, POINTS)]
    points = np.rint(centers + rng.normal(0, 7.5, (POINTS, 2)))
    points = np.clip(points, 1 - SIDE, SIDE - 1).astype(np.float32)
    return points, grow(points, trees=1, leaf=LEAF, seed=3)


def cell_shapes(forest: Forest) -> dict[int, np.ndarray]:
    """Each cell of a tree in the plane as a polygon: {cell: (corners, 2)}."""
    square = SIDE * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], float)
    waiting, shapes = [(int(forest.roots[0]), square)], {}
    while waiting:
        node, shape = waiting.pop()
        if node < 0:
            shapes[-1 - node] = shape
        else:
            for side, sign in ((0, -1), (1, 1)):
                part = clipped(shape, sign * forest.normals[node], sign * forest.offsets[node])
                waiting.append((int(forest.children[node, side]), part))
    return shapes


def clipped(shape: np.ndarray, normal: np.ndarray, offset: float) -> np.ndarray:
    """The part of a convex polygon where normal · x is at least the offset."""
    above, corners = shape @ normal - offset, []
    for n in range(len(shape)):
        here, there = above[n - 1], above[n]
        if here * there < 0:
            corners.append(shape[n - 1] + here / (here - there) * (shape[n] - shape[n - 1]))
        if there >= 0:
            corners.append(shape[n])
    return np.array(corners).reshape(-1, 2)


def tree(leaves: int = 1) -> Picture:
    """A query, and the cells that its search visits, numbered in their order."""
    points, forest = meadow()
    cells = [*cells_visited(QUERY, forest, leaves)]
    met = np.concatenate([forest.items[forest.starts[c] : forest.starts[c + 1]] for c in cells])
    near = np.argsort(((points - QUERY) ** 2).sum(axis=1), kind="stable")[:NEAREST]
    title = (f"{units.plural(len(cells), 'cell')} visited, {len(met)} of {POINTS} points met: "
             f"{len(np.intersect1d(near, met))} of the {NEAREST} nearest found.")
    figure, axes = blank(width=5.6, height=5.4, title=title)
    for cell, shape in cell_shapes(forest).items():
        if len(shape) < 3:
            continue
        axes.fill(*shape.T, facecolor=ORANGE if cell in cells else "none", alpha=0.28, linewidth=0)
        axes.plot(*np.vstack([shape, shape[:1]]).T, color=INK, linewidth=0.8)
        if cell in cells:
            write(axes, *shape.mean(axis=0), cells.index(cell) + 1, fontsize=13)
    looks = {
        "points": {"marker": "o", "color": BLUE, "markersize": 3.5},
        f"the {NEAREST} nearest": {"marker": "o", "color": VERMILLION, "markersize": 9,
                                   "markerfacecolor": "none"},
        "query": {"marker": "*", "color": VERMILLION, "markersize": 13},
    }
    for which, look in zip((points, points[near], QUERY), looks.values(), strict=True):
        axes.plot(*which.T, linestyle="none", **look)
    axes.set(xlim=(-SIDE, SIDE), ylim=(-SIDE, SIDE), xticks=[], yticks=[], aspect="equal")
    key(figure, looks)
    return Picture(figure, f"{title} {len(forest.starts) - 1} cells between the lines of a tree.")


def best_of(rows, goal: float = 0.9):
    """The fastest of a frontier's forests that finds enough; or the one that finds most."""
    forest = [row for row in rows if row.leaves]
    enough = [row for row in forest if row.recall >= goal]
    return max(enough or forest, key=lambda row: row.rate if enough else row.recall)


def recall_and_speed(rows) -> Picture:
    """Recall against queries per second: a dot for each of `models.index.frontier`'s rows."""
    (brute,), forest = [r for r in rows if not r.leaves], [r for r in rows if r.leaves]
    best = best_of(rows)
    title = (f"Visiting {best.name}, the forest finds {percent(best.recall)} of the neighbors, at "
             f"{best.rate / brute.rate:.2g} times the speed of brute force.")
    figure, axes = blank(height=4, title=title)
    axes.plot([r.rate for r in forest], [r.recall for r in forest], "o-", color=BLUE, linewidth=1)
    axes.plot(brute.rate, brute.recall, "D", color=VERMILLION, markersize=9, zorder=3)
    log_axes(axes, x=("queries per second", lambda rate: units.count(int(rate))))
    two_ticks(axes.xaxis)
    axes.margins(x=0.2)
    axes.set(ylabel="recall", ylim=(-0.06, 1.14), yticks=[0, 0.25, 0.5, 0.75, 1])
    label_ends(axes, [(r.rate, r.recall, r.name, BLUE) for r in rows])
    told = [f"{r.name}, {percent(r.recall)} at {r.rate:,.0f} queries a second" for r in rows]
    return Picture(figure, f"{title} Live, on every core: {'; '.join(told)}.")
