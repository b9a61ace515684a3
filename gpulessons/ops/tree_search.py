"""The most likely class of a tree softmax: a search, for no label says the path beforehand.

    log p(class) = sum over its path of log σ(±score)

No class below a node is likelier than the node is. So walk down, at every node to the likelier
child, and put the other one on a stack with its probability; a leaf is a candidate, and a node no
likelier than the candidate is dropped with all below it (branch and bound, Land & Doig 1960). The
answer is exact, and of equals the lowest class. Its price is not log(classes): where the
probabilities are flat, most of the tree is visited, and each visit waits for the one before.
"""

import math

import numpy as np
from numba import njit

from .common import SERIAL, ZERO
from .rows import NOTHING, dot_of_rows
from .tree_softmax import NAN


@njit(**SERIAL)
def search(h, w, children, longest):
    """One example's (class, log-probability, nodes visited). An h with a NaN: class −1, and NaN.

    h: (dim,), w: (inner nodes, dim) float32; children and longest as in a Tree: the stack never
    holds more than a node for each level.
    """
    stack, bounds = np.empty(longest, np.int32), np.empty(longest, np.float32)
    best, found, visited, size = NOTHING, np.int32(-1), 0, 0
    node, reached = np.int32(0), ZERO
    while True:
        while node >= 0 and reached >= best:
            visited += 1
            score = dot_of_rows(w[node], h)
            near = math.log1p(math.exp(-abs(score)))  # −log p of the likelier child
            turn = 0 if score >= ZERO else 1
            stack[size], bounds[size] = children[node, 1 - turn], reached - (near + abs(score))
            node, reached = children[node, turn], reached - near
            size += 1
        if node < 0 and (reached > best or (reached == best and ~node < found)):
            best, found = reached, np.int32(~node)
        if size == 0:
            return found, best if found >= 0 else NAN, visited
        size -= 1
        node, reached = stack[size], bounds[size]


@njit(**SERIAL)
def nodes_visited(h, w, children, longest):
    """How many inner nodes the search visits for each example of h: (examples,) int64."""
    return np.array([search(h[e], w, children, longest)[2] for e in range(h.shape[0])])
