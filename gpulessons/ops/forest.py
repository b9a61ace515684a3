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
each step waits for the one before. The op that it competes with is in neighbours.py.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numba import get_num_threads, njit, prange

from .common import HALF, PARALLEL, REASSOCIATING, SERIAL, ZERO
from .neighbours import FAR, NONE, check_shapes, keep


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
    """How far a point lies above a plane: the one place where something is rounded."""
    total = -offset
    for c in range(point.size):
        total += point[c] * normal[c]
    return total * scale


@njit(**REASSOCIATING)
def squared_distance(a, b):
    total = ZERO
    for c in range(a.size):
        difference = a[c] - b[c]
        total += difference * difference
    return total


def cells_visited(query, forest, leaves):
    """The numbers of the cells that a search visits, in order: the walk, in plain Python."""
    queue, cells = [(np.float32(0), int(root)) for root in forest.roots], []
    heapq.heapify(queue)
    while queue and len(cells) < leaves:
        miss, node = heapq.heappop(queue)
        while node >= 0:
            above = query @ forest.normals[node] - forest.offsets[node]
            above = np.float32(above * forest.scales[node])
            side = int(above > 0)
            heapq.heappush(queue, (max(miss, abs(above)), int(forest.children[node, 1 - side])))
            node = forest.children[node, side]
        cells.append(-1 - int(node))
    return cells


@njit(**SERIAL)
def search_one(query, points, forest, leaves, stamp, stamps, indices, distances):
    """One query's nearest. stamps: (points,), who was met for which query: each counts once."""
    roots, normals, offsets, scales, children, starts, items = forest
    indices[:], distances[:] = NONE, FAR
    queue, visited = [(ZERO, root) for root in roots], 0
    heapq.heapify(queue)
    while len(queue) > 0 and visited < leaves:
        miss, node = heapq.heappop(queue)
        while node >= 0:
            above = margin(query, normals[node], offsets[node], scales[node])
            side = 1 if above > ZERO else 0
            heapq.heappush(queue, (max(miss, abs(above)), children[node, 1 - side]))
            node = children[node, side]
        visited += 1
        for n in range(starts[-1 - node], starts[-node]):
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
    check_shapes(queries, points, k)
    found = np.empty((len(queries), k), np.int32), np.empty((len(queries), k), np.float32)
    search_all(queries, points, tuple(forest), leaves, cores or get_num_threads(), *found)
    return found


def recall(found, truth):
    """What share of the neighbors was found, from sorted distances (queries, k) each: of points
    equally far any will do. ValueError where the shapes differ.
    """
    if np.shape(found) != np.shape(truth) or np.ndim(found) != 2:
        given = f"{np.shape(found)} and {np.shape(truth)}"
        raise ValueError(f"Both are distances of shape (queries, k), not {given}.")
    return float(np.mean(found <= np.asarray(truth)[:, -1:]))


# -- How it grows: one tree after another, into the same arrays.

TRIES, LOPSIDED = 3, 0.95  # how often a plane is drawn, and the share on one side that is too much
STEPS = 200  # of 2-means, each with one point
BITS = 5  # after the leading one, of a normal's coordinate


def grow(points, trees=10, leaf=32, seed=0):
    """A Forest over points (points, dim) float32: cells of up to `leaf` of them. The same seed
    gives the same forest. ValueError where there is nothing to grow, or NaN.
    """
    points = np.ascontiguousarray(points, np.float32)
    if points.ndim != 2 or not points.size or np.isnan(points).any():
        raise ValueError(f"A forest grows over (points, dim), at least one, none of them NaN; not "
                         f"{points.shape}.")  # fmt: skip
    seeds = np.random.default_rng(seed).integers(0, 2**32, trees, np.uint32)
    return Forest(*grown(points, leaf, seeds))


@njit(**SERIAL)
def grown(points, leaf, seeds):
    """What a Forest consists of. Every tree begins with all the points, and a seed of its own."""
    (count, dim), trees = points.shape, seeds.size
    most = trees * count  # of planes there are fewer: each leaves a point on either side
    roots, items = np.empty(trees, np.int32), np.empty(most, np.int32)
    normals, offsets = np.empty((most, dim), np.float32), np.empty(most, np.float32)
    scales, children = np.empty(most, np.float32), np.empty((most, 2), np.int32)
    starts, planes, cells = np.zeros(most + 1, np.int32), 0, 0
    for tree in range(trees):
        np.random.seed(seeds[tree])
        items[tree * count : (tree + 1) * count] = np.arange(count)
        waiting = [(tree * count, (tree + 1) * count, -1, 0)]  # items; parent and side
        while waiting:
            first, last, parent, side = waiting.pop()
            if last - first <= leaf:
                node = np.int32(-1 - cells)
                cells += 1
                starts[cells] = last
            else:
                node = np.int32(planes)
                part = items[first:last]
                offsets[node], scales[node], middle = split(points, part, normals[node])
                waiting.append((first + middle, last, node, 1))
                waiting.append((first, first + middle, node, 0))  # next: so cells lie in order
                planes += 1
            if parent < 0:
                roots[tree] = node
            else:
                children[parent, side] = node
    return (roots, normals[:planes].copy(), offsets[:planes].copy(), scales[:planes].copy(),
            children[:planes].copy(), starts[: cells + 1].copy(), items)  # fmt: skip


@njit(**SERIAL)
def split(points, items, normal):
    """Draw a plane and sort items by its side: (offset, scale, how many are not above it).

    Points that no plane divides well, such as equal ones, are halved by lot: so it always ends.
    """
    for _ in range(TRIES):
        (offset, scale), middle = plane(points, items, normal), 0
        for n in range(items.size):
            item = items[n]
            if margin(points[item], normal, offset, scale) <= ZERO:  # to the front
                items[n], items[middle] = items[middle], item
                middle += 1
        if max(middle, items.size - middle) <= LOPSIDED * items.size:
            return offset, scale, middle
    normal[:] = ZERO
    np.random.shuffle(items)
    return ZERO, ZERO, items.size // 2


@njit(**SERIAL)
def plane(points, items, normal):
    """Fill in the normal of a plane halfway between two means of the items: (offset, scale).

    A normal's coordinates have six bits each: enough for a direction, and of points whose
    coordinates are small whole numbers every margin is exact before it is divided.
    """
    a, b = two_means(points, items)
    largest = ZERO
    for c in range(normal.size):
        normal[c] = b[c] - a[c]
        largest = max(largest, abs(normal[c]))
    if largest == ZERO:
        return ZERO, ZERO
    unit = np.float32(2.0 ** (np.floor(np.log2(largest)) - BITS))
    offset, squares = ZERO, ZERO
    for c in range(normal.size):
        normal[c] = np.rint(normal[c] / unit) * unit
        offset += normal[c] * (a[c] + b[c]) * HALF
        squares += normal[c] * normal[c]
    offset = np.rint(offset / unit) * unit
    return offset, np.float32(1 / np.sqrt(squares))


@njit(**SERIAL)
def two_means(points, items):
    """Two means that draw points at random to the nearer of them, the smaller cluster favored."""
    i = np.random.randint(items.size)
    j = (i + 1 + np.random.randint(items.size - 1)) % items.size
    a, b = points[items[i]].copy(), points[items[j]].copy()
    of_a, of_b = 1, 1
    for _ in range(STEPS):
        point = points[items[np.random.randint(items.size)]]
        to_a, to_b = of_a * squared_distance(a, point), of_b * squared_distance(b, point)
        if to_a < to_b:
            move(a, point, of_a)
            of_a += 1
        elif to_b < to_a:
            move(b, point, of_b)
            of_b += 1
    return a, b


@njit(**SERIAL)
def move(mean, point, count):
    for c in range(mean.size):
        mean[c] = (mean[c] * np.float32(count) + point[c]) / np.float32(count + 1)
