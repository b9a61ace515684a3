"""Nearest neighbors by a forest: look only where the query would have been put.

    margin(q) = (q · normal − offset) / |normal|;   miss of the far side = max(miss, |margin|)

A tree's planes halve the points until a few are left in a cell (forest_growth.py). A query walks
down to its own cell, and its neighbors are there, or just across one of the planes it passed. So
whatever was not taken on the way waits in a queue, by how far the query misses it at least, and is
taken up in that order, until so many cells were visited. Trees that were cut differently miss
different neighbors; all of them share one queue. Only of points met in those cells is the distance
computed: some hundreds instead of a hundred thousand, and perhaps not the right ones. This is the
algorithm of Annoy (Bernhardsson, github.com/spotify/annoy).

A walk is what a GPU likes least: every query goes its own way, and each step waits for the one
before. So a warp walks as one, and its lanes share the coordinates of a plane, and of a point.
"""

import heapq
from functools import cache

import numpy as np
from numba import cuda, float32, get_num_threads, int32, njit, prange

from gpulessons.backends import gpu, host
from gpulessons.operation import Case, op

from .common import FULL_MASK, PARALLEL, SERIAL, WARP, ZERO, ceil_div
from .forest_growth import grow, margin, squared_distance
from .neighbours import DIM, FAR, NEAREST, NONE, QUERIES, clustered, refuse_misfits
from .reduce import warp_reduce_sum


@cache
def wood(count, dim, trees, leaf):
    """Points in clusters, and their forest: grown once, and asked by everybody."""
    points = clustered(count, dim, seed=0)
    return points, grow(points, trees, leaf)


def questions(size, rng, queries=QUERIES, dim=DIM, trees=10, leaf=32, cells=40):
    """Some of `size` points, each moved a little; the points, and their trees of `leaf` points a
    cell at most; k = 10; cells to visit. The points are the same for every seed: an index is built
    once, and asked often.
    """
    points, forest = wood(size, dim, trees, leaf)
    asked = points[rng.integers(0, size, queries)] + rng.integers(-3, 4, (queries, dim))
    return asked.astype(np.float32), points, *forest, min(NEAREST, size), cells


def met(queries, starts, items, leaves):
    """How many points are met in so many cells, at least so many as cells hold on average."""
    cells = len(starts) - 1
    return len(queries) * min(leaves, cells) * len(items) // cells


def operations(
    queries, points, roots, normals, offsets, scales, children, starts, items, k, leaves
):
    """Three a coordinate of each point met; what the planes take is little beside it."""
    return 3 * points.shape[1] * met(queries, starts, items, leaves)


def traffic(queries, points, roots, normals, offsets, scales, children, starts, items, k, leaves):
    """Bytes of the points met, if none is met twice; and of queries and results."""
    row = points.shape[1] * 4
    return row * (met(queries, starts, items, leaves) + len(queries)) + 8 * k * len(queries)


@op(inputs=questions, flops=operations, moved=traffic, sizes=(1_000, 10_000, 100_000), rtol=0,
    unit="points",
    edge_cases=[Case(n, queries=9, dim=37, trees=3, leaf=5, cells=7) for n in (257, 31, 70, 1)],
    signature="(queries, dim), (points, dim), (trees,), (planes, dim), (planes,), (planes,), "
    "(planes, children), (cells,), (items,)")  # fmt: skip
def forest_search(queries, points, roots, normals, offsets, scales, children, starts, items, k,
                  leaves):  # fmt: skip
    """The k nearest among the points that a search of so many cells meets; nearest first.

    queries: (queries, dim), points: (points, dim); roots … items: their Forest. Cells are visited
    in the order of (miss, node), the miss as float32, until `leaves` of them were. Returns indices
    (queries, k) int32, of equals the lower first, and squared distances (queries, k); where fewer
    points were met, −1 and infinity. ValueError for another k or leaves, or NaN in a query.
    """
    refuse_questions(queries, points, k, leaves)
    indices = np.full((len(queries), k), NONE)
    distances = np.full(indices.shape, np.inf, queries.dtype)
    for i, query in enumerate(queries):
        near = candidates(query, roots, normals, offsets, scales, children, starts, items, leaves)
        found = ((query - points[near]) ** 2).sum(axis=1)
        order = np.argsort(found, kind="stable")[:k]
        indices[i, : len(order)], distances[i, : len(order)] = near[order], found[order]
    return indices, distances


def candidates(query, roots, normals, offsets, scales, children, starts, items, leaves):
    """The points in the cells that the search visits: each once, by index."""
    return np.unique(np.concatenate([
        items[starts[cell] : starts[cell + 1]]
        for cell in cells_visited(query, roots, normals, offsets, scales, children, leaves)
    ]))  # fmt: skip


def cells_visited(query, roots, normals, offsets, scales, children, leaves):
    """The numbers of the cells, in the order of the search."""
    queue, cells = [(np.float32(0), int(root)) for root in roots], []
    heapq.heapify(queue)
    while queue and len(cells) < leaves:
        miss, node = heapq.heappop(queue)
        while node >= 0:
            above = np.float32((query @ normals[node] - offsets[node]) * scales[node])
            side = int(above > 0)
            heapq.heappush(queue, (max(miss, abs(above)), int(children[node, 1 - side])))
            node = children[node, side]
        cells.append(-1 - int(node))
    return cells


def refuse_questions(queries, points, k, leaves):
    refuse_misfits(queries, points, k)
    if leaves < 1:
        raise ValueError(f"A search visits 1 cell or more, not {leaves}.")
    if isinstance(queries, np.ndarray) and np.isnan(queries).any():
        row = np.flatnonzero(np.isnan(queries).any(axis=1))[0]
        raise ValueError(f"Query {row} has a coordinate that is NaN: it is near nothing.")


def recall(found, truth):
    """What share of the neighbors that are due was found: distances (queries, k) each, sorted.

    By distance, not by name: of points that are equally far any will do. ValueError where the
    shapes differ.
    """
    if np.shape(found) != np.shape(truth) or np.ndim(found) != 2:
        given = f"{np.shape(found)} and {np.shape(truth)}"
        raise ValueError(f"Both are distances of shape (queries, k), not {given}.")
    return float(np.mean(found <= np.asarray(truth)[:, -1:]))


# -- On the CPU: the queue is a heap, and a stamp says whether this query has met a point before.


@njit(**SERIAL)
def push(misses, nodes, size, miss, node):
    """Into a heap of so many, ordered by (miss, node); there is room."""
    place = size
    while place > 0:
        up = (place - 1) // 2
        if misses[up] < miss or (misses[up] == miss and nodes[up] < node):
            break
        misses[place], nodes[place] = misses[up], nodes[up]
        place = up
    misses[place], nodes[place] = miss, node


@njit(**SERIAL)
def pop(misses, nodes, size):
    """The least of a heap of so many, which then has one less."""
    miss, node = misses[0], nodes[0]
    last_miss, last_node = misses[size - 1], nodes[size - 1]
    place, down = 0, 1
    while down < size - 1:
        right = down + 1
        if right < size - 1 and before(misses, nodes, right, down):
            down = right
        if last_miss < misses[down] or (last_miss == misses[down] and last_node < nodes[down]):
            break
        misses[place], nodes[place] = misses[down], nodes[down]
        place, down = down, 2 * down + 1
    misses[place], nodes[place] = last_miss, last_node
    return miss, node


@njit(**SERIAL)
def before(misses, nodes, i, j):
    return misses[i] < misses[j] or (misses[i] == misses[j] and nodes[i] < nodes[j])


@njit(**SERIAL)
def keep_in_order(distance, index, indices, distances):
    """Into a sorted list, by (distance, index), if it belongs there."""
    place = distances.size
    while place > 0 and (
        distance < distances[place - 1]
        or (distance == distances[place - 1] and index < indices[place - 1])
    ):
        place -= 1
        if place + 1 < distances.size:
            distances[place + 1], indices[place + 1] = distances[place], indices[place]
    if place < distances.size:
        distances[place], indices[place] = distance, index


@njit(**SERIAL)
def search_one(query, points, forest, leaves, stamp, stamps, misses, nodes, indices, distances):
    roots, normals, offsets, scales, children, starts, items = forest
    indices[:], distances[:] = NONE, FAR
    size, visited = 0, 0
    for root in roots:
        push(misses, nodes, size, ZERO, root)
        size += 1
    while size > 0 and visited < leaves:
        miss, node = pop(misses, nodes, size)
        size -= 1
        while node >= 0:
            above = margin(query, normals[node], offsets[node], scales[node])
            side = 1 if above > ZERO else 0
            push(misses, nodes, size, max(miss, abs(above)), children[node, 1 - side])
            size, node = size + 1, children[node, side]
        visited += 1
        for n in range(starts[-1 - node], starts[-node]):
            item = items[n]
            if stamps[item] != stamp:
                stamps[item] = stamp
                distance = squared_distance(query, points[item])
                if distance <= distances[-1]:
                    keep_in_order(distance, item, indices, distances)


def in_groups(queries, points, forest, leaves, groups, indices, distances):
    """A group of queries to a core, with a queue and stamps of its own."""
    for group in prange(groups):
        room = len(forest[0]) + len(forest[1])  # a root or a far side waits once at most
        misses, nodes = np.empty(room, np.float32), np.empty(room, np.int32)
        stamps = np.full(len(points), NONE)
        for i in range(group * len(queries) // groups, (group + 1) * len(queries) // groups):
            search_one(queries[i], points, forest, leaves, i, stamps, misses, nodes, indices[i],
                       distances[i])  # fmt: skip


def numba_search(search, groups):
    """The version: what must be refused is refused first."""

    def launch(queries, points, roots, normals, offsets, scales, children, starts, items, k,
               leaves, out):  # fmt: skip
        refuse_questions(queries, points, k, leaves)
        forest = (roots, normals, offsets, scales, children, starts, items)
        search(queries, points, forest, leaves, groups(), *out)

    return launch


one_core, every_core = njit(**SERIAL)(in_groups), njit(**PARALLEL)(in_groups)
forest_search.version("Numba, one core", on=host)(numba_search(one_core, lambda: 1))
forest_search.version("Numba, every core", on=host)(numba_search(every_core, get_num_threads))


# -- On the GPU. Queue and result are the same thing, a short sorted list in shared memory, kept in
# -- order by the whole warp: the lanes count who comes before a new entry, and all that come after
# -- move on by one. Place n of the queue holds what would be visited as the n-th cell. The first
# -- `head` places are behind us; who falls off the end would not have been visited anyway.

SEARCHES, MOST = 4, 512  # warps in a block, and the longest list: 32 KiB of shared memory


@cuda.jit(device=True)
def insert(values, names, head, size, room, value, name, lane):
    """(value, name) into the list from head to size, of room at most; not twice. Its new size."""
    ahead, known = int32(0), False
    for n in range(head + lane, size, WARP):
        ahead += values[n] < value or (values[n] == value and names[n] < name)
        known = known or names[n] == name
    for step in (16, 8, 4, 2, 1):
        ahead += cuda.shfl_xor_sync(FULL_MASK, ahead, step)
    place = head + ahead
    if cuda.any_sync(FULL_MASK, known) or place >= room:
        return size
    size = min(size + 1, room)
    for last in range(size - 1, place, -WARP):  # from the end, or an entry would be overwritten
        n = last - lane
        moving = n > place
        cuda.syncwarp()
        if moving:
            value_before, name_before = values[n - 1], names[n - 1]
        cuda.syncwarp()
        if moving:
            values[n], names[n] = value_before, name_before
    cuda.syncwarp()
    if lane == 0:
        values[place], names[place] = value, name
    cuda.syncwarp()
    return size


@cuda.jit(device=True)
def warp_dot(x, i, y, j, lane):
    total, c = ZERO, lane
    while c < x.shape[1]:  # not range(): notebook 05 says why
        total += x[i, c] * y[j, c]
        c += WARP
    return warp_reduce_sum(total)


@cuda.jit(device=True)
def warp_distance(x, i, y, j, lane):
    total, c = ZERO, lane
    while c < x.shape[1]:
        difference = x[i, c] - y[j, c]
        total += difference * difference
        c += WARP
    return warp_reduce_sum(total)


@cache
def search_kernel(room):
    """For lists of up to so many: what lies in shared memory needs a size known before."""

    @cuda.jit
    def search(queries, points, roots, normals, offsets, scales, children, starts, items, leaves,
               indices, distances):  # fmt: skip
        all_misses = cuda.shared.array((SEARCHES, room), float32)
        all_nodes = cuda.shared.array((SEARCHES, room), int32)
        all_nearest = cuda.shared.array((SEARCHES, room), float32)
        all_found = cuda.shared.array((SEARCHES, room), int32)
        warp, lane, k = cuda.threadIdx.y, cuda.threadIdx.x & (WARP - 1), indices.shape[1]
        i = cuda.blockIdx.x * SEARCHES + warp
        if i >= queries.shape[0]:
            return  # the whole warp
        misses, nodes = all_misses[warp], all_nodes[warp]
        nearest, found = all_nearest[warp], all_found[warp]
        head, size, count = 0, 0, 0
        for n in range(roots.size):
            size = insert(misses, nodes, head, size, leaves, ZERO, roots[n], lane)
        while head < size:
            miss, node = misses[head], nodes[head]
            head += 1
            while node >= 0:
                above = warp_dot(queries, i, normals, node, lane) - offsets[node]
                above *= scales[node]
                side = 1 if above > ZERO else 0
                far = children[node, 1 - side]
                size = insert(misses, nodes, head, size, leaves, max(miss, abs(above)), far, lane)
                node = children[node, side]
            for n in range(starts[-1 - node], starts[-node]):
                item = items[n]
                distance = warp_distance(queries, i, points, item, lane)
                if count < k or distance <= nearest[k - 1]:
                    count = insert(nearest, found, 0, count, k, distance, item, lane)
        n = lane
        while n < k:
            indices[i, n] = found[n] if n < count else NONE
            distances[i, n] = nearest[n] if n < count else FAR
            n += WARP

    return search


@forest_search.version("CUDA, a warp per query", on=gpu)
def launch_search(queries, points, roots, normals, offsets, scales, children, starts, items, k,
                  leaves, out):  # fmt: skip
    refuse_questions(queries, points, k, leaves)
    longest = max(k, min(leaves, starts.size - 1))
    if longest > MOST:
        raise ValueError(f"A warp's lists have up to {MOST} places; not {longest}.")
    room = max(WARP, 1 << (longest - 1).bit_length())
    grid, block = ceil_div(queries.shape[0], SEARCHES), (WARP, SEARCHES)
    search_kernel(room)[grid, block](
        queries, points, roots, normals, offsets, scales, children, starts, items,
        min(leaves, starts.size - 1), *out,
    )  # fmt: skip
