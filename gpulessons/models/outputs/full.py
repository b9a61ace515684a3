"""The full softmax: every class gets a score, and every score a gradient.

    z = h wᵀ + prior;   p = softmax(z);   loss = −log p[label]
    dz = p − 1 at the label, p elsewhere;   dh = dz w;   dw = dzᵀ h

Three products of examples × columns × classes. All rows of w are read and written: at a million
classes nearly all of that moves a weight by nearly nothing.

The one idea here is the order. The classes come in chunks that fit the cache: each makes its
scores, turns them into exp(z − highest so far) on the spot, and adds its share of dh; what came
before is scaled down where a chunk goes higher (the online softmax of `ops/softmax.py`). Only then
is the sum known by which dw is divided: a second pass. The scores of all classes are held once, and
no chunk waits for the maximum of them all.

By PyTorch, because its products and its exp share one pool of threads: threads of two libraries
would wait for each other at every chunk.
"""

import numpy as np

from .common import CHUNK, check_batch, first_weights, full_loss, prior_scores


class Full:
    """w: (classes, columns)."""

    name = "full softmax"

    def __init__(self, classes, columns, seed=0):
        self.classes, self.columns = classes, columns
        self.prior = prior_scores(classes)
        self.w = first_weights(classes, columns, seed)

    @property
    def nbytes(self):
        return self.w.nbytes + self.prior.nbytes

    def step(self, h, labels, rate):
        check_batch(self, h, labels)
        import torch

        w, prior, h, labels = map(
            torch.from_numpy, (self.w, self.prior, h, labels.astype(np.int64))
        )
        mine = w[labels]
        right = (h * mine).sum(1) + prior[labels]
        top, total, dh = torch.full_like(right, -torch.inf), torch.zeros_like(right), 0
        held = []  # each chunk with its exps, and the maximum that was taken off
        for part, offsets in zip(w.split(CHUNK), prior.split(CHUNK), strict=True):
            z = torch.addmm(offsets, h, part.T)
            higher = torch.maximum(top, z.amax(1))
            shrink = (top - higher).exp_()
            z.sub_(higher[:, None]).exp_()
            total = total * shrink + z.sum(1)
            dh = dh * shrink[:, None] + z @ part
            top = higher
            held.append((part, z, higher))
        for part, exps, higher in held:  # now w may change: every product with it is done
            scale = (higher - top).exp_() / total
            part.addmm_(exps.T, h * scale[:, None], alpha=-rate)
        w.index_add_(0, labels, h, alpha=rate)
        losses = top + total.log() - right
        return losses.numpy(), (dh / total[:, None] - mine).numpy()

    def loss(self, h, labels):
        check_batch(self, h, labels)
        return full_loss(h, labels, self.w, self.prior)
