"""The adaptive softmax, PyTorch's: frequent classes in full, rare ones behind a door.

    p[class] = p_head[class]                      for the frequent ones
    p[class] = p_head[door] · p_cluster[class]    for the others

A tree of two levels, cut for a machine that multiplies matrices: each node is a softmax over many,
and a cluster of rare classes makes do with fewer columns (a quarter of those before it). Most
examples need the head alone; a cluster is computed for the examples whose labels are in it.

What a step really costs: the head, and each cluster that any example of the batch needs, in full.
Of 64 examples some nearly always need the rarest cluster, so all of its classes are scored and all
of its weights are moved: the cost still grows with the classes, though with a sixteenth of the
columns for the rarest. A cluster that no example needs is left alone.

Grave et al. 2017, arXiv:1609.04309; torch.nn.AdaptiveLogSoftmaxWithLoss.
"""

import numpy as np

from gpulessons.backends import torch_cpu

from .common import prior_scores, refuse_few_classes, refuse_misfits

DOOR = 4  # a cluster has so many times fewer columns than the one before


class Adaptive:
    """A head and clusters that end at `cutoffs`, on a PyTorch backend."""

    name = "adaptive softmax"

    def __init__(self, classes, columns, counts=None, cutoffs=None, seed=0, on=torch_cpu):
        import torch

        refuse_few_classes(classes, columns)
        cutoffs = default_cutoffs(classes) if cutoffs is None else list(cutoffs)
        if not cutoffs or sorted({0, *cutoffs, classes}) != [0, *cutoffs, classes]:
            raise ValueError(
                f"Cutoffs rise from above 0 to below {classes}, the number of classes: "
                f"{cutoffs} do not."
            )
        if columns < DOOR ** len(cutoffs):
            raise ValueError(
                f"Each cluster has {DOOR} times fewer columns than the one before: {len(cutoffs)} "
                f"cutoffs need {DOOR ** len(cutoffs)} columns at least, not {columns}."
            )
        self.classes, self.columns, self.backend = classes, columns, on
        with torch.random.fork_rng(devices=[]):  # whoever else draws shall not notice
            torch.manual_seed(seed)
            self.softmax = torch.nn.AdaptiveLogSoftmaxWithLoss(
                columns, classes, cutoffs, DOOR, head_bias=True
            )
        entries = np.split(np.exp(prior_scores(classes, counts)), cutoffs)
        shares = [*entries[0], *(cluster.sum() for cluster in entries[1:])]
        with torch.no_grad():  # the head begins with what frequency says of its entries
            self.softmax.head.bias.copy_(torch.tensor(np.log(shares)))
        self.softmax.to(on.device())

    @property
    def nbytes(self):
        return sum(p.nbytes for p in self.softmax.parameters())

    def step(self, h, labels, rate):
        refuse_misfits(h, labels, self.classes, self.columns)
        import torch

        h, labels = map(self.backend.put, (h, labels.astype(np.int64)))
        h.requires_grad_()
        losses = -self.softmax(h, labels).output
        losses.sum().backward()
        with torch.no_grad():
            for p in self.softmax.parameters():
                if p.grad is not None:  # a cluster that nobody needed has none
                    p -= rate * p.grad
                    p.grad = None
        return self.backend.get(losses), self.backend.get(h.grad)

    def loss(self, h, labels):
        refuse_misfits(h, labels, self.classes, self.columns)
        import torch

        with torch.no_grad():
            h, labels = map(self.backend.put, (h, labels.astype(np.int64)))
            return float(self.softmax(h, labels).loss)

    def best(self, h):
        import torch

        with torch.no_grad():
            return self.backend.get(self.softmax.predict(self.backend.put(h)))


def default_cutoffs(classes):
    """A fiftieth of the classes in the head and a fifth before the rarest; at least one apart."""
    return sorted({max(1, classes // 50), max(1, classes // 5)} - {classes})
