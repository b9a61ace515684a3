"""Huffman's tree: the code in which frequent classes have short names.

The two rarest of all nodes become the children of a new one, until one is left (Huffman 1952). A
class's name is its path from the root; its mean length is at least the entropy of the classes, less
than that plus one, and no tree's is shorter.

With the counts in order no heap is needed: the sums come out in order too, so the rarest node is at
the front of one of two queues (van Leeuwen 1976). What was made last is nearest to the root: so,
numbered backwards, inner node 0 is the root, and the nodes that all examples meet lie together.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from .common import SERIAL


class Tree(NamedTuple):
    """A binary tree with the classes as its leaves, and each class's path from the root.

    Inner node 0 is the root, and every child's number is larger than its parent's.
    """

    starts: np.ndarray  # (classes + 1,) int64; class c's path is starts[c]:starts[c + 1] of …
    nodes: np.ndarray  # (steps,) int32: the inner nodes on the path, root first; and of …
    turns: np.ndarray  # (steps,) int8: which child is next, 0 or 1
    longest: int  # the steps of the longest path
    children: np.ndarray  # (classes − 1, 2) int32, the rarer one first: a node, or ~c for class c

    @property
    def paths(self):
        """starts, nodes, turns, longest: what tree_softmax takes."""
        return self[:4]

    @property
    def depths(self):
        """(classes,) int64: the length of each class's path."""
        return np.diff(self.starts)


def huffman(counts):
    """The Tree of these counts: (classes,) integers or floats, none negative, two at least.

    Equal counts: the lower class first, and a class before an inner node, so that the longest path
    is as short as it can be.
    """
    weights = np.asarray(counts, np.float64)
    order = np.argsort(weights, kind="stable")
    children = merged(weights[order], order)
    starts, nodes, turns = paths_of(children)
    return Tree(starts, nodes, turns, int(np.diff(starts).max()), children)


def zipf(classes):
    """Counts as words have them: the second half as frequent as the first, the third a third."""
    return 1 / np.arange(1, classes + 1)


@njit(**SERIAL)
def merged(weights, order):
    """The children of every inner node. weights: in order; order: whose each of them is."""
    classes = weights.size
    children = np.empty((classes - 1, 2), np.int32)
    sums = np.empty(classes - 1)
    leaf, oldest = 0, 0  # the fronts of the two queues
    for made in range(classes - 1):
        total = 0.0
        for turn in range(2):
            if leaf < classes and (oldest == made or weights[leaf] <= sums[oldest]):
                child, weight = ~order[leaf], weights[leaf]
                leaf += 1
            else:
                child, weight = classes - 2 - oldest, sums[oldest]
                oldest += 1
            children[classes - 2 - made, turn] = child
            total += weight
        sums[made] = total
    return children


@njit(**SERIAL)
def paths_of(children):
    """starts, nodes, turns. A parent's number is smaller than its children's: one pass down. Class
    c is child ~c, below 0: so it stands at the end of what has a place for every child.
    """
    inner = len(children)
    parent, depth = np.empty(2 * inner + 1, np.int32), np.zeros(2 * inner + 1, np.int64)
    for node in range(inner):
        for child in children[node]:
            parent[child], depth[child] = node, depth[node] + 1
    starts = np.zeros(inner + 2, np.int64)
    starts[1:] = depth[inner:][::-1].cumsum()
    nodes, turns = np.empty(starts[-1], np.int32), np.empty(starts[-1], np.int8)
    for c in range(inner + 1):
        below = np.int32(~c)
        for step in range(starts[c + 1] - 1, starts[c] - 1, -1):
            node = parent[below]
            nodes[step], turns[step] = node, np.int8(children[node, 1] == below)
            below = node
    return starts, nodes, turns
