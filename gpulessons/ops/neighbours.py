"""Nearest neighbors by brute force: a product, and a selection.

    distance²(q, p) = |q|² − 2 q·p + |p|²;   nearest(queries, points, k) = the k least

The product of all queries with all points does the arithmetic, and leaves a matrix of queries ×
points: 400 MB for 1,000 queries and 100,000 points, written, and read again by the selection. But
nobody wants to see it. Of a tile of distances, while it is close, only those count that are below
the k-th best so far: after the first few tiles, hardly any (Johnson, Douze & Jégou 2017,
"Billion-scale similarity search with GPUs").

The points made here have small whole numbers for coordinates, as float32: every order of adding up
is then exact, and a forest can be held to the very same distances.
"""

import numpy as np
from numba import njit

from .common import SERIAL, ceil_div

FAR, NONE = np.float32(np.inf), np.int32(-1)
PIECE, TILE = 4096, 256  # points of a product, 1 MB of distances for 64 queries; of a look at them


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


def nearest(queries, points, k):
    """The k points nearest to each query, nearest first; of equals, the lower index first.

    queries: (queries, dim), points: (points, dim), float32. Returns indices (queries, k) int32, and
    squared distances (queries, k). NumPy's product, which is BLAS, takes a few thousand points at a
    time; Numba selects from it while it is in the cache.
    """
    of_queries, of_points = (np.einsum("ij,ij->i", x, x) for x in (queries, points))
    indices = np.full((len(queries), k), NONE)
    distances = np.full((len(queries), k), FAR)
    factors = -2 * queries
    for first in range(0, len(points), PIECE):
        found = factors @ points[first : first + PIECE].T
        select(found, of_points, first, indices, distances)
    distances += of_queries[:, None]
    return indices, distances


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


@njit(**SERIAL)
def any_below(row, limit):
    """Whether any of a row is: all are looked at, many at a time, which beats stopping early."""
    found = False
    for j in range(row.size):
        found |= row[j] < limit
    return found


@njit(**SERIAL)
def keep(distance, index, indices, distances):
    """Put it into a sorted list; it is nearer than the last, and stays behind its equals."""
    place = distances.size - 1
    while place > 0 and distances[place - 1] > distance:
        distances[place], indices[place] = distances[place - 1], indices[place - 1]
        place -= 1
    distances[place], indices[place] = distance, index
