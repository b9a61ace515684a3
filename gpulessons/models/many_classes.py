"""Which of very many classes comes next: what a training step of two output layers costs.

    calls = calls_of(1_000_000)

A step of gradient descent goes down the SUM of the examples' losses, in place. It returns (losses
(examples,), dh like h, the gradient of their sum). h: (examples, columns) float32; labels:
(examples,) integers, as frequent as words are (Zipf).
"""

from itertools import cycle

import numpy as np

from gpulessons.ops.huffman import zipf
from gpulessons.ops.tree_softmax import zipf_tree
from gpulessons.ops.tree_update import tree_step

COLUMNS, BATCH, RATE = 64, 64, 0.01
CHUNK = 8192  # classes at a time: with 64 columns their weights fill 2 MiB, and stay in the cache
FEEDS = 10_000  # batches of labels: more than a timing takes, so that no rare row is met again


def full_step(h, labels, w, rate):
    """Every class gets a score, and every score a gradient. w: (classes, columns), changed.

    z = h wᵀ;   p = softmax(z);   loss = −log p[label];   dz = p − 1 at the label, p elsewhere
    dh = dz w;   dw = dzᵀ h: with z, three products of examples × columns × classes

    The one idea is the order. The classes come in chunks that fit the cache: each makes its scores,
    turns them into exp(z − highest so far) on the spot, and adds its share of dh; what came before
    is scaled down where a chunk goes higher (the online softmax of `ops/softmax.py`). Then the sum
    is known by which dw is divided: a second pass. By PyTorch, because its products and its exp
    share one pool of threads.
    """
    import torch

    w, h, labels = map(torch.from_numpy, (w, h, labels.astype(np.int64)))
    mine = w[labels]
    right = (h * mine).sum(1)
    top, total, dh = torch.full_like(right, -torch.inf), torch.zeros_like(right), 0
    held = []  # each chunk with its exps, and the maximum that was taken off
    for part in w.split(CHUNK):
        z = h @ part.T
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


def calls_of(classes):
    """{layer: a call that takes a step}: with other labels at each, so that rare rows come cold.

    The tree is another model and no approximation: the classes below one node share its row.
    """
    rng, up_to = np.random.default_rng(0), zipf(classes).cumsum()
    labels = np.searchsorted(up_to, rng.random((FEEDS, BATCH)) * up_to[-1])
    h = np.float32(0.3) * rng.standard_normal((32, BATCH, COLUMNS), np.float32)
    full = rng.random((classes, COLUMNS), np.float32) - np.float32(0.5)
    tree, inner = zipf_tree(classes), np.full_like(full[1:], 0)  # every turn as likely as not
    mine, its = (zip(cycle(h), cycle(labels)) for _ in range(2))
    return {"full softmax": lambda: full_step(*next(mine), full, RATE),
            "tree": lambda: tree_step(*next(its), inner, tree, RATE)}  # fmt: skip
