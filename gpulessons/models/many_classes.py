"""Which of very many classes comes next: what a training step of two output layers costs.

    times = list(step_times())

A layer has one method, step(h, labels, rate): a step of gradient descent on the SUM of the
examples' losses, in place. It returns (losses (examples,), dh like h, the gradient of their sum).
h: (examples, columns) float32; labels: (examples,) integers, as frequent as words are (Zipf).
"""

from dataclasses import dataclass
from itertools import cycle

import numpy as np

from gpulessons import units
from gpulessons.hardware import free_memory
from gpulessons.hardware.timer import Spread, interleaved
from gpulessons.ops.huffman import zipf
from gpulessons.ops.tree_softmax import zipf_tree
from gpulessons.ops.tree_update import tree_step

CHUNK = 8192  # classes at a time: with 64 columns their weights fill 2 MiB, and stay in the cache
FEEDS = 32  # batches that a timed step is fed with in turn


class Full:
    """Every class gets a score, and every score a gradient. w: (classes, columns).

    z = h wᵀ;   p = softmax(z);   loss = −log p[label];   dz = p − 1 at the label, p elsewhere
    dh = dz w;   dw = dzᵀ h: with z, three products of examples × columns × classes

    The one idea is the order. The classes come in chunks that fit the cache: each makes its scores,
    turns them into exp(z − highest so far) on the spot, and adds its share of dh; what came before
    is scaled down where a chunk goes higher (the online softmax of `ops/softmax.py`). Then the sum
    is known by which dw is divided: a second pass. By PyTorch, because its products and its exp
    share one pool of threads.
    """

    name = "full softmax"

    def __init__(self, classes, columns, seed=0):
        self.w = np.random.default_rng(seed).random((classes, columns), np.float32)
        self.w -= np.float32(0.5)

    def step(self, h, labels, rate):
        import torch

        w, h, labels = map(torch.from_numpy, (self.w, h, labels.astype(np.int64)))
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


class Tree:
    """A decision at each node of a label's path, by Huffman's tree. w: (classes − 1, columns).

    Another model and no approximation: the classes below one node share its row.
    """

    name = "tree"

    def __init__(self, classes, columns):
        self.tree, self.w = zipf_tree(classes), np.empty((classes - 1, columns), np.float32)
        self.w.fill(0)  # every turn is as likely as not; touched now, so that no clock waits for it

    def step(self, h, labels, rate):
        return tree_step(h, labels, self.w, self.tree, rate)


@dataclass(frozen=True)
class StepTime:
    """A layer at a number of classes: its Spread of seconds for a training step."""

    layer: str
    classes: int
    spread: Spread


def step_times(
    classes=(1_000, 10_000, 100_000, 1_000_000), columns=64, batch=64, seconds=0.2, advance=None
):
    """Yield the StepTime of both layers at each number of classes, the two timed in turn.

    seconds: for the samples of each, at most GPULESSONS_BUDGET. advance(done, total, name): after
    each number of classes. ValueError where memory has no room.
    """
    for n, number in enumerate(sorted(classes), 1):
        needed, free = 4 * number * (2 * columns + 40 + 2 * batch), free_memory()
        if needed > free:
            raise ValueError(f"{units.count(number)} classes would need some {units.size(needed)}; "
                             f"{units.size(free)} of memory is free.")  # fmt: skip
        yield from at_one_number(number, columns, batch, seconds)
        if advance:
            advance(n, len(classes), f"{units.count(number)} classes")


def at_one_number(classes, columns, batch, seconds):
    """A function of its own, so that these layers are gone before the next are made."""
    calls = {make.name: stepping(make(classes, columns), classes, batch) for make in (Full, Tree)}
    for name, spread in interleaved(calls, seconds):
        yield StepTime(name, classes, spread)


def stepping(layer, classes, batch):
    """A call that takes one step; the examples are others every time, as rows in caches must be."""
    rng, up_to = np.random.default_rng(0), zipf(classes).cumsum()
    labels = np.searchsorted(up_to, rng.random((FEEDS, batch)) * up_to[-1])
    h = np.float32(0.3) * rng.standard_normal((FEEDS, batch, layer.w.shape[1]), np.float32)
    feed = cycle(zip(h, labels, strict=True))
    return lambda: layer.step(*next(feed), 0.01)
