"""Nearest neighbors by brute force: a product, and a selection.

    distance²(q, p) = |q|² − 2 q·p + |p|²;   neighbours(q, points, k) = the k least, nearest first

The product of all queries with all points does the arithmetic, and leaves a matrix of queries ×
points: 400 MB for 1,000 queries and 100,000 points, written, and read again by the selection. But
nobody wants to see it. Of a tile of distances, while it is close, only those count that are below
the k-th best so far: after the first few tiles, hardly any (Johnson, Douze & Jégou 2017,
"Billion-scale similarity search with GPUs").

The op's own coordinates are small whole numbers, as float32: every order of adding them up is then
exact (each sum stays below 2²⁴), equal distances abound, and versions can be held to the very same
indices. Of other numbers the formula above loses what its terms have in common: two points very
close and far from 0 may come out at a distance of less than 0.
"""

import numpy as np
from numba import njit

from gpulessons.backends import host
from gpulessons.operation import Case, op

from .common import SERIAL, ceil_div, run_op

DIM, QUERIES, NEAREST = 64, 64, 10
FAR, NONE = np.float32(np.inf), np.int32(-1)


def clustered(count, dim, seed):
    """count points in clusters: (count, dim) float32 whole numbers, most of them within ±40.

    A cluster holds some 1,000 points, spread by 4 in every coordinate around a center; the centers
    are spread by 8. So neighbors lie close, as in most data that somebody collected.
    """
    rng = np.random.default_rng(seed)
    centers = rng.normal(0, 8, (ceil_div(count, 1000), dim))
    around = centers[rng.integers(0, len(centers), count)]
    return np.rint(around + rng.normal(0, 4, (count, dim))).astype(np.float32)


def uniform(count, dim, seed):
    """count points anywhere: (count, dim) float32 whole numbers, evenly from −32 to 32. In many
    dimensions the nearest are hardly nearer than the rest, and a forest visits most of its cells.
    """
    return np.random.default_rng(seed).integers(-32, 33, (count, dim)).astype(np.float32)


def queries_and_points(points, rng, queries=QUERIES, dim=DIM):
    """queries: (queries, dim), points: (points, dim), whole coordinates from −3 to 3; k = 10."""
    q, p = (rng.integers(-3, 4, (n, dim)).astype(np.float32) for n in (queries, points))
    return q, p, min(NEAREST, points)


@op(inputs=queries_and_points, sizes=(1_000, 10_000, 100_000), rtol=0, unit="points",
    flops=lambda queries, points, k: 2 * queries.size * len(points),
    edge_cases=[Case(n, queries=37, dim=41) for n in (31, 257, 70, 1)],
    signature="(queries, dim), (points, dim)")  # fmt: skip
def neighbours(queries, points, k):
    """The k points nearest to each query, nearest first; of equals, the lower index first.

    queries: (queries, dim), points: (points, dim), floats; 1 ≤ k ≤ points. Returns indices
    (queries, k) int32, and squared distances (queries, k) of their dtype. ValueError for another k;
    on the CPU for a NaN too.
    """
    distances = squared_distances(queries, points, k)
    indices = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return indices.astype(np.int32), np.take_along_axis(distances, indices, axis=1)


def squared_distances(queries, points, k):
    """All of them: (queries, points). ValueError as the op says."""
    lengths = squared_lengths(queries, points, k)
    distances = queries @ (-2 * points.T)
    distances += lengths[0][:, None]
    distances += lengths[1]
    return distances


def squared_lengths(queries, points, k):
    """|q|² of each query and |p|² of each point; a NaN shows in them."""
    check_shapes(queries, points, k)
    lengths = [np.einsum("ij,ij->i", x, x) for x in (queries, points)]
    for what, squares in zip(("Query", "Point"), lengths, strict=True):
        if np.isnan(squares).any():
            row = np.flatnonzero(np.isnan(squares))[0]
            raise ValueError(f"{what} {row} has a coordinate that is NaN: it is near nothing.")
    return lengths


def check_shapes(queries, points, k):
    if not 1 <= k <= len(points):
        raise ValueError(f"k is from 1 to the number of points, here {len(points)}; not {k}.")
    if queries.shape[1] != points.shape[1]:
        given = f"{queries.shape[1]} and {points.shape[1]}"
        raise ValueError(f"Queries and points have as many coordinates each; here {given}.")


@neighbours.version("NumPy, partition", on=host)
def numpy_partition(queries, points, k, out):
    """No sorting of what is far away: the k-th least is found first, and who is within it."""
    rows = squared_distances(queries, points, k)
    for row, indices, distances in zip(rows, *out, strict=True):
        near = np.flatnonzero(row <= np.partition(row, k - 1)[k - 1])  # by index, at least k
        indices[:] = near[np.argsort(row[near], kind="stable")[:k]]
        distances[:] = row[indices]


# -- Only what is below the k-th best so far counts. The list of the best is sorted; a newcomer
# -- moves up past those that are farther, and stays behind its equals: it has the higher index.
# -- NumPy's product, which is BLAS, takes a few thousand points at a time; Numba selects from it
# -- while it is in the cache.

PIECE, TILE = 4096, 256  # points of a product, 1 MB of distances for 64 queries; of a look at them


@njit(**SERIAL)
def keep(distance, index, indices, distances):
    """Put it into a sorted list; it is nearer than the last."""
    place = distances.size - 1
    while place > 0 and distances[place - 1] > distance:
        distances[place], indices[place] = distances[place - 1], indices[place - 1]
        place -= 1
    distances[place], indices[place] = distance, index


@njit(**SERIAL)
def any_below(row, limit):
    """Whether any of a row is: all are looked at, many at a time, which beats stopping early."""
    found = False
    for j in range(row.size):
        found |= row[j] < limit
    return found


@njit(**SERIAL)
def select(found, lengths, first, indices, distances):
    """found: −2 q·p of points first, first + 1, …; indices, distances: the best before."""
    for i in range(len(found)):
        for j in range(0, found.shape[1], TILE):
            near = found[i, j : j + TILE]
            for n in range(near.size):
                near[n] += lengths[first + j + n]
            if any_below(near, distances[i, -1]):
                for n in range(near.size):
                    if near[n] < distances[i, -1]:
                        keep(near[n], first + j + n, indices[i], distances[i])


@neighbours.version("NumPy's product, Numba's selection", on=host)
def product_and_selection(queries, points, k, out):
    (indices, distances), lengths = out, squared_lengths(queries, points, k)
    indices[:], distances[:] = NONE, FAR
    factors = -2 * queries
    for first in range(0, len(points), PIECE):
        found = factors @ points[first : first + PIECE].T
        select(found, lengths[1], first, indices, distances)
    distances += lengths[0][:, None]


if __name__ == "__main__":
    run_op(neighbours)
