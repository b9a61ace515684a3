"""Hierarchical softmax: a path of yes and no for each class, and only its own path for a label.

    p(class) = product over its path of σ(±w[node] · h)

A step reads and writes the rows on the paths of its labels: about log₂ of the classes for each
example, fewer for frequent ones (Huffman's tree). `ops/tree_softmax.py` is the lesson; this is the
same behind the methods that all output layers have.

It is another model and no approximation: the classes below one node share its row, so who stands
beside whom decides what can be learned, and Huffman's tree was built for short paths and nothing
else. Morin & Bengio 2005; Mikolov et al. 2013, arXiv:1310.4546.
"""

import numpy as np

from gpulessons.ops.huffman import huffman, zipf
from gpulessons.ops.tree_softmax import tree_softmax
from gpulessons.ops.tree_update import tree_step

from .common import check_batch


class Tree:
    """w: a row for each of the tree's inner nodes."""

    name = "hierarchical softmax"

    def __init__(self, classes, columns):
        self.classes, self.columns, self.tree = classes, columns, huffman(zipf(classes))
        self.w = np.empty((classes - 1, columns), np.float32)
        self.w.fill(0)  # every turn is as likely as not; touched now, so that no clock waits for it

    @property
    def nbytes(self):
        """Of the rows, and of the tree: the paths are the larger part of that."""
        return self.w.nbytes + sum(a.nbytes for a in self.tree if isinstance(a, np.ndarray))

    def step(self, h, labels, rate):
        check_batch(self, h, labels)
        return tree_step(h, labels, self.w, self.tree, np.float32(rate))

    def loss(self, h, labels):
        check_batch(self, h, labels)
        losses, *_ = tree_softmax.versions["Numba, every core"](h, labels, self.w, *self.tree.paths)
        return float(losses.mean())
