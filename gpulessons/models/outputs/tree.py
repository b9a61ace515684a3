"""Hierarchical softmax: a path of yes and no for each class, and only its own path for a label.

    p(class) = product over its path of σ(±w[node] · h)

A step reads and writes the rows on the paths of its labels: about log₂ of the classes for each
example, fewer for frequent ones (Huffman's tree). `ops/tree_softmax.py` is the lesson; this is the
same behind the methods that all output layers have.

It is another model and no approximation: the classes below one node share its row, so who stands
beside whom decides what can be learned, and Huffman's tree was built for short paths and nothing
else. Morin & Bengio 2005; Mikolov et al. 2013, arXiv:1310.4546.
"""

import heapq
import math

import numpy as np
from numba import njit

from gpulessons.ops.common import SERIAL
from gpulessons.ops.huffman import huffman, zipf
from gpulessons.ops.rows import dot_of_rows
from gpulessons.ops.tree_softmax import tree_softmax
from gpulessons.ops.tree_update import tree_step

from .common import refuse_few_classes, refuse_misfits


class Tree:
    """w: a row for each of the tree's inner nodes. counts: (classes,), else as Zipf has them."""

    name = "hierarchical softmax"

    def __init__(self, classes, columns, counts=None):
        refuse_few_classes(classes, columns)
        counts = zipf(classes) if counts is None else counts
        if len(counts) != classes:
            raise ValueError(
                f"counts are {classes} numbers, one for each class; not {len(counts)}."
            )
        self.classes, self.columns, self.tree = classes, columns, huffman(counts)
        self.w = np.empty((classes - 1, columns), np.float32)
        self.w.fill(0)  # every turn is as likely as not; touched now, so that no clock waits for it

    @property
    def nbytes(self):
        """Of the rows, and of the tree: the paths are the larger part of that."""
        return self.w.nbytes + sum(a.nbytes for a in self.tree if isinstance(a, np.ndarray))

    def step(self, h, labels, rate):
        refuse_misfits(h, labels, self.classes, self.columns)
        return tree_step(h, labels, self.w, self.tree, np.float32(rate))

    def loss(self, h, labels):
        refuse_misfits(h, labels, self.classes, self.columns)
        losses, *_ = tree_softmax.versions["Numba, one core"](h, labels, self.w, *self.tree.paths)
        return float(losses.mean())

    def best(self, h):
        return np.array([likeliest(row, self.w, self.tree.children) for row in h], np.int64)


@njit(**SERIAL)
def likeliest(h, w, children):
    """The likeliest class for one example, best first: a node is likelier than what is behind it.

    The queue holds nodes by −log p; the first leaf that comes out of it is the best of all.
    """
    queue = [(0.0, np.int32(0))]
    while True:
        cost, node = heapq.heappop(queue)
        if node < 0:
            return ~node
        score = dot_of_rows(w[node], h)
        for turn in range(2):
            margin = -score if turn else score
            more = max(-margin, 0.0) + math.log1p(math.exp(-abs(margin)))
            heapq.heappush(queue, (cost + more, children[node, turn]))
