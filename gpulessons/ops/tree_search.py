"""The most likely class of a tree softmax: a search, for nobody says the path beforehand.

    log p(class) = sum over its path of log σ(±score)

No class below a node is likelier than the node is. So walk down, at every node to the likelier
child, and note the other one with its probability; a leaf is a candidate, and a node no likelier
than the candidate is dropped with all below it (branch and bound, Land & Doig 1960). The answer is
exact. Its price is not log(classes): where the probabilities are flat, most of the tree is
visited, and each visit waits for the one before.

Of classes with one and the same probability the lowest wins.
"""

import math

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host
from gpulessons.operation import op

from .common import PARALLEL, SERIAL, WARP, ZERO, ceil_div
from .rows import NOTHING, dot_of_rows, warp_per_row
from .tree_softmax import DIM, EXAMPLES, NAN, tree_softmax, warp_dot, zipf_tree

CERTAIN = 4  # the score, more or less, along the path of an example that has learned its class


def learned(classes, rng, examples=EXAMPLES, dim=DIM):
    """h: (examples, dim), w: (classes − 1, dim), children, longest: examples of a model that has
    learned, each with its path's rows in it; but every 7th knows nothing. Two classes at least.
    """
    classes = max(2, classes)
    tree = zipf_tree(classes)
    w = rng.standard_normal((classes - 1, dim), np.float32) / np.float32(math.sqrt(dim))
    h = rng.standard_normal((examples, dim), np.float32)
    for e, label in enumerate(rng.integers(0, classes, examples)):
        path = slice(tree.starts[label], tree.starts[label + 1])
        certain = CERTAIN if e % 7 else 0
        h[e] += certain * ((1 - 2 * tree.turns[path]) @ w[tree.nodes[path]])
    return h, w, tree.children, tree.longest


def operations(h, w, children, longest):
    """A product and a logarithm at each node that the search visits; without it, at all."""
    return int(nodes_visited(h, w, children, longest).sum()) * (2 * h.shape[1] + 5)


def bytes_visited(h, w, children, longest):
    """h, the results, and what the example that visits most must see: others may meet it there."""
    rows = int(nodes_visited(h, w, children, longest).max())
    return h.nbytes + len(h) * (4 + h.itemsize) + rows * (w.itemsize * w.shape[1] + 8)


@op(inputs=learned, flops=operations, moved=bytes_visited, sizes=(1_000, 31_000, 310_000),
    rtol=3e-5, unit="classes", edge_cases=tree_softmax.edge_cases,
    signature="(examples, dim), (inner, dim), (inner, two)")  # fmt: skip
def tree_search(h, w, children, longest):
    """Each example's most likely class: (examples,) int32, and its log-probability: (examples,).

    h: (examples, dim), w: (inner nodes, dim), floats; children: (inner nodes, 2) and longest as in
    a Tree, `tree_search(h, w, tree.children, tree.longest)`. Here, the specification, every class
    of every example, a level of the tree at a time. An h with a NaN: class −1, and NaN.
    """
    chances = np.empty((len(h), len(w) + 1), h.dtype)
    level, reached = np.zeros(1, np.int32), np.zeros((len(h), 1), h.dtype)
    while level.size:
        scores = h @ w[level].T
        below = children[level].T.ravel()  # all first children, then all second ones
        ways = np.logaddexp(0, -scores), np.logaddexp(0, scores)
        reached = np.concatenate([reached - loss for loss in ways], axis=1)
        leaf = below < 0
        chances[:, ~below[leaf]] = reached[:, leaf]
        level, reached = below[~leaf], reached[:, ~leaf]
    best = chances.max(axis=1)
    classes = np.where(np.isnan(best), -1, chances.argmax(axis=1))
    return classes.astype(np.int32), best


# -- On the CPU. What was noted last is looked at first, so one note per level is room enough.


def ways(score):
    """−log p of the likelier child, and of the other."""
    near = math.log1p(math.exp(-abs(score)))
    return near, near + abs(score)


host_ways = njit(**SERIAL)(ways)
device_ways = cuda.jit(device=True)(ways)


@njit(**SERIAL)
def search(h, w, children, longest):
    """One example's (class, log-probability, nodes visited)."""
    noted, bounds = np.empty(longest, np.int32), np.empty(longest, np.float32)
    best, found, visited, notes = NOTHING, np.int32(-1), 0, 0
    node, reached = np.int32(0), ZERO
    while True:
        while node >= 0 and reached >= best:
            visited += 1
            score = dot_of_rows(w[node], h)
            near, far = host_ways(score)
            turn = 0 if score >= ZERO else 1
            noted[notes], bounds[notes] = children[node, 1 - turn], reached - far
            node, reached = children[node, turn], reached - near
            notes += 1
        if node < 0 and (reached > best or (reached == best and ~node < found)):
            best, found = reached, np.int32(~node)
        if notes == 0:
            return found, best if found >= 0 else NAN, visited
        notes -= 1
        node, reached = noted[notes], bounds[notes]


def searches(h, w, children, longest, classes, chances):
    for e in prange(h.shape[0]):
        found, best, _ = search(h[e], w, children, longest)
        classes[e], chances[e] = found, best


serial_searches = njit(**SERIAL)(searches)
parallel_searches = njit(**PARALLEL)(searches)


@tree_search.version("Numba, one core", on=host)
def one_core(h, w, children, longest, out):
    serial_searches(h, w, children, longest, *out)


@tree_search.version("Numba, every core", on=host)
def every_core(h, w, children, longest, out):
    parallel_searches(h, w, children, longest, *out)


@njit(**SERIAL)
def nodes_visited(h, w, children, longest):
    """How many inner nodes the search visits for each example: (examples,) int64."""
    visited = np.empty(h.shape[0], np.int64)
    for e in range(h.shape[0]):
        visited[e] = search(h[e], w, children, longest)[2]
    return visited


# -- On the GPU. A thread has no memory of its own that a number could index, but for memory: the
# -- notes lie in arrays as long as the tree is deep, side by side for the threads of a warp.


@cuda.jit
def thread_kernel(h, w, children, noted, bounds, classes, chances):
    e = cuda.grid(1)
    if e < h.shape[0]:
        best, found, notes, searching = NOTHING, -1, 0, True
        node, reached = 0, ZERO
        while searching:
            while node >= 0 and reached >= best:
                score, j = ZERO, 0
                while j < h.shape[1]:  # not range(): notebook 05 says why
                    score += w[node, j] * h[e, j]
                    j += 1
                near, far = device_ways(score)
                turn = 0 if score >= ZERO else 1
                noted[notes, e], bounds[notes, e] = children[node, 1 - turn], reached - far
                node, reached = children[node, turn], reached - near
                notes += 1
            if node < 0 and (reached > best or (reached == best and ~node < found)):
                best, found = reached, ~node
            searching = notes > 0
            if searching:
                notes -= 1
                node, reached = noted[notes, e], bounds[notes, e]
        classes[e], chances[e] = found, best if found >= 0 else NAN


@cuda.jit
def warp_kernel(h, w, children, noted, bounds, classes, chances):
    e, lane = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y, cuda.threadIdx.x
    if e >= h.shape[0]:
        return
    best, found, notes, searching = NOTHING, -1, 0, True
    node, reached = 0, ZERO
    while searching:  # all lanes agree at every turn
        while node >= 0 and reached >= best:
            score = warp_dot(w[node], h[e])
            near, far = device_ways(score)
            turn = 0 if score >= ZERO else 1
            if lane == 0:
                noted[e, notes], bounds[e, notes] = children[node, 1 - turn], reached - far
            node, reached = children[node, turn], reached - near
            notes += 1
        if node < 0 and (reached > best or (reached == best and ~node < found)):
            best, found = reached, ~node
        searching = notes > 0
        if searching:
            notes -= 1
            cuda.syncwarp()  # the first lane's note is there
            node, reached = noted[e, notes], bounds[e, notes]
            cuda.syncwarp()  # all have read it: it may be overwritten
    if lane == 0:
        classes[e], chances[e] = found, best if found >= 0 else NAN


@tree_search.version("CUDA, a thread per example", on=gpu, prepares=True)
def launch_thread(h, w, children, longest, out):
    notes = gpu.empty((longest, len(h)), np.int32), gpu.empty((longest, len(h)), np.float32)
    grid = ceil_div(len(h), WARP), WARP
    return lambda: thread_kernel[grid](h, w, children, *notes, *out)


@tree_search.version("CUDA, a warp per example", on=gpu, prepares=True)
def launch_warp(h, w, children, longest, out):
    notes = gpu.empty((len(h), longest), np.int32), gpu.empty((len(h), longest), np.float32)
    return lambda: warp_kernel[warp_per_row(len(h))](h, w, children, *notes, *out)
