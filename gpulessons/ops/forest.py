"""Nearest neighbors by a forest: look only where the query would have been put.

    margin(p) = (p · normal − offset) / |normal|;   miss of the far side = max(miss, |margin|)

A tree halves the points by a plane between two of their clusters, each half again, until a few are
left: a cell. A query walks down to its own cell, and its neighbors are there, or just across one of
the planes it passed. So the side not taken waits in a queue, by how far the query misses it at
least, until so many cells were visited. Trees are cut by chance, each differently, and miss
different neighbors; all of them share the queue. Distances are computed only to the points met in
those cells: some hundreds instead of a hundred thousand, and perhaps not the right ones.

This is how Annoy does it (Bernhardsson, github.com/spotify/annoy); trees of random projections are
due to Dasgupta & Freund 2008. A walk is what a GPU likes least: every query goes its own way, and
each step waits for the one before. Its rival is in neighbours.py.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange

from .common import HALF, ONE, PARALLEL, REASSOCIATING, SERIAL, ZERO
from .neighbours import FAR, NONE, keep
from .rows import dot_of_rows


class Forest(NamedTuple):
    """Trees as arrays. A node is a plane, numbered from 0, or a cell, numbered −1, −2, …"""

    roots: np.ndarray  # (trees,) int32: nodes
    normals: np.ndarray  # (planes, dim) float32
    offsets: np.ndarray  # (planes,) float32
    scales: np.ndarray  # (planes,) float32: 1 / |normal|; 0 where the halves were drawn by lot
    children: np.ndarray  # (planes, 2) int32: nodes, where the margin is at most 0, and above
    starts: np.ndarray  # (cells + 1,) int32: cell −1 − c holds items[starts[c] : starts[c + 1]]
    items: np.ndarray  # (trees × points,) int32: every point once in each tree


@njit(**REASSOCIATING)
def margin(point, normal, offset, scale):
    """How far a point lies above a plane."""
    return (dot_of_rows(point, normal) - offset) * scale


@njit(**REASSOCIATING)
def squared_distance(a, b):
    total = ZERO
    for c in range(a.size):
        difference = a[c] - b[c]
        total += difference * difference
    return total


@njit(**SERIAL)
def cells_visited(query, forest, leaves):
    """Yield the numbers of the cells that a search visits, in order: the walk."""
    roots, normals, offsets, scales, children, starts, _ = forest
    queue = [(ZERO, root) for root in roots]
    heapq.heapify(queue)
    for _ in range(min(leaves, starts.size - 1)):
        miss, node = heapq.heappop(queue)
        while node >= 0:
            above = margin(query, normals[node], offsets[node], scales[node])
            side = 1 if above > ZERO else 0
            heapq.heappush(queue, (max(miss, abs(above)), children[node, 1 - side]))
            node = children[node, side]
        yield -1 - node


@njit(**SERIAL)
def search_one(query, points, forest, leaves, stamp, stamps, indices, distances):
    """One query's nearest. stamps: (points,), who was met for which query: each counts once."""
    starts, items = forest[5:]
    indices[:], distances[:] = NONE, FAR
    for cell in cells_visited(query, forest, leaves):
        for n in range(starts[cell], starts[cell + 1]):
            item = items[n]
            if stamps[item] != stamp:
                stamps[item] = stamp
                distance = squared_distance(query, points[item])
                if distance < distances[-1]:
                    keep(distance, item, indices, distances)


@njit(**PARALLEL)
def search_all(queries, points, forest, leaves, cores, indices, distances):
    """A share of the queries to each core, with stamps of its own."""
    for core in prange(cores):
        stamps = np.full(len(points), NONE)
        for i in range(core * len(queries) // cores, (core + 1) * len(queries) // cores):
            search_one(queries[i], points, forest, leaves, i, stamps, indices[i], distances[i])


def search(forest, points, queries, k, leaves, cores=None):
    """The k nearest among the points that a visit to so many cells (`leaves`) meets, nearest first.

    queries: (queries, dim), points: (points, dim), over which the forest was grown. Returns indices
    (queries, k) int32, and squared distances (queries, k) float32; where fewer points were met, −1
    and infinity. cores: as many as Numba has, unless given.
    """
    found = np.empty((len(queries), k), np.int32), np.empty((len(queries), k), np.float32)
    search_all(queries, points, tuple(forest), leaves, cores or get_num_threads(), *found)
    return found


def recall(found, truth):
    """What share of the neighbors was found, from sorted distances (queries, k) each: of points
    equally far any will do.
    """
    return float(np.mean(found <= truth[:, -1:]))


# -- How it grows: one tree after another, each from its root.

TRIES, LOPSIDED = 3, 0.95  # how often a plane is drawn, and the share on one side that is too much
STEPS = 200  # of 2-means, each with one point


def grow(points, trees=10, leaf=32, seed=0):
    """A Forest over points (points, dim) float32: cells of up to `leaf` of them. The same seed
    gives the same forest.
    """
    roots, planes, cells = [], [], []

    def node_over(items):
        """The number of the node over these items, in whose place they are sorted by its side."""
        if items.size <= leaf:
            cells.append(items)
            return -len(cells)
        *plane, middle = split(points, items)
        planes.append(plane)  # before those below it, whose numbers are higher
        node = len(planes) - 1
        plane.append((node_over(items[:middle]), node_over(items[middle:])))
        return node

    for one in np.random.default_rng(seed).integers(0, 2**32, trees, np.uint32):
        seed_draws(one)
        roots.append(node_over(np.arange(len(points), dtype=np.int32)))
    normals, *rates, children = zip(*planes, strict=True) if planes else ((), (), (), ())
    return Forest(
        np.array(roots, np.int32), np.array(normals, np.float32).reshape(-1, points.shape[1]),
        *(np.array(each, np.float32) for each in rates),
        np.array(children, np.int32).reshape(-1, 2),
        np.cumsum([0, *map(len, cells)], dtype=np.int32), np.concatenate(cells),
    )  # fmt: skip


@njit(**SERIAL)
def seed_draws(seed):
    np.random.seed(seed)  # Numba's draws, which are not NumPy's


@njit(**SERIAL)
def split(points, items):
    """Draw a plane and sort items by its side: (normal, offset, scale, how many are not above it).

    Points that no plane divides well, such as equal ones, are halved by lot: so it always ends.
    """
    for _ in range(TRIES):
        (normal, offset, scale), middle = drawn_plane(points, items), 0
        for n in range(items.size):
            item = items[n]
            if margin(points[item], normal, offset, scale) <= ZERO:  # to the front
                items[n], items[middle] = items[middle], item
                middle += 1
        if max(middle, items.size - middle) <= LOPSIDED * items.size:
            return normal, offset, scale, middle
    np.random.shuffle(items)
    return np.zeros_like(points[0]), ZERO, ZERO, items.size // 2


@njit(**SERIAL)
def drawn_plane(points, items):
    """(normal, offset, scale) of a plane halfway between two means of the items."""
    a, b = two_means(points, items)
    normal = b - a
    squared = dot_of_rows(normal, normal)
    if squared == ZERO:
        return normal, ZERO, ZERO
    return normal, dot_of_rows(normal, a + b) * HALF, np.float32(1 / np.sqrt(squared))


@njit(**SERIAL)
def two_means(points, items):
    """Two means that draw points at random to the nearer of them, the smaller cluster favored."""
    i = np.random.randint(items.size)
    j = (i + 1 + np.random.randint(items.size - 1)) % items.size
    means, counts = np.stack((points[items[i]], points[items[j]])), np.ones(2, np.float32)
    for _ in range(STEPS):
        point = points[items[np.random.randint(items.size)]]
        to_a, to_b = squared_distance(means[0], point), squared_distance(means[1], point)
        n = 0 if counts[0] * to_a < counts[1] * to_b else 1
        means[n] = (means[n] * counts[n] + point) / (counts[n] + ONE)
        counts[n] += ONE
    return means
