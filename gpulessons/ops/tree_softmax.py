"""Softmax over a tree: a class's probability is that of a walk from the root to its leaf.

    p(class) = product over its path of σ(±score of the node),   score = w[node] · h

At every inner node the walk turns to child 0 with probability σ(score), and to child 1 with what is
left, σ(−score) (Morin & Bengio 2005). The leaves' probabilities add up to one, whatever w is:
nothing has to be summed over all classes. With Huffman's tree (Mikolov et al. 2013) and a million
classes, as frequent as words are, an example meets 13 rows of w on average, and 24 at most.

In training the label says the path, so no step waits for another; only the rows lie scattered.
"""

import math
from functools import lru_cache

import numpy as np
from numba import cuda, njit, prange

from gpulessons.backends import gpu, host
from gpulessons.operation import Case, op

from .common import ONE, PARALLEL, SERIAL, WARP, ZERO
from .huffman import huffman, zipf
from .reduce import warp_reduce_sum
from .rows import dot_of_rows, warp_per_row


@lru_cache(maxsize=4)
def zipf_tree(classes):
    return huffman(zipf(classes))


def hidden_and_labels(classes, rng, examples=64, dim=64):
    """h: (examples, dim), labels: (examples,) int32, w: (classes − 1, dim), and the tree's paths.

    Labels as frequent as the tree believes. Every 7th example is a wide one, whose scores reach
    ±200: exp of them overflows in float32.
    """
    classes = max(2, classes)
    h = rng.standard_normal((examples, dim), np.float32)
    h[::7] *= 50
    w = rng.standard_normal((classes - 1, dim), np.float32)
    w *= ONE / np.float32(math.sqrt(dim))
    frequency = zipf(classes).cumsum()
    labels = np.searchsorted(frequency, rng.random(examples) * frequency[-1])
    return h, labels.astype(np.int32), w, *zipf_tree(classes).paths


def operations(h, labels, w, starts, nodes, turns, longest):
    """At every node of every path: a product with h, σ and its logarithm, a share of dh."""
    return int((starts[labels + 1] - starts[labels]).sum()) * (4 * h.shape[1] + 8)


def bytes_of_paths(h, labels, w, starts, nodes, turns, longest):
    """The rows of w on the batch's paths, each once; the paths; h; and what is written."""
    classes = np.unique(labels)
    seen = np.concatenate([nodes[starts[c] : starts[c + 1]] for c in classes])
    paths = seen.size * (nodes.itemsize + turns.itemsize) + 2 * classes.size * starts.itemsize
    rows = np.unique(seen).size * w.shape[1] * w.itemsize
    written = (len(h) * (1 + longest) + h.size) * h.itemsize
    return h.nbytes + labels.nbytes + rows + paths + written


def check_labels(labels, classes):
    """ValueError if a label is no class."""
    wrong = (labels < 0) | (labels >= classes)
    if wrong.any():
        example = int(wrong.nonzero()[0][0])
        raise ValueError(f"Example {example} has the label {int(labels[example])}; "
                         f"the classes are 0 to {classes - 1}.")  # fmt: skip


@op(inputs=hidden_and_labels, flops=operations, moved=bytes_of_paths,
    sizes=(1_000, 31_000, 1_000_000), rtol=3e-5, unit="classes",
    edge_cases=(Case(33, examples=33, dim=37), Case(301, examples=300, dim=37), 1000, 2),
    signature="(examples, dim), (examples,), (inner, dim), (bounds,), (steps,), (steps,)",
)  # fmt: skip
def tree_softmax(h, labels, w, starts, nodes, turns, longest):
    """The loss −log p(label) of each example, and its gradients.

    h: (examples, dim), w: (inner nodes, dim), floats; labels: (examples,) integers; then a
    Tree's paths: `tree_softmax(h, labels, w, *tree.paths)`. Returns losses: (examples,); dh:
    (examples, dim); and slopes: (examples, longest), the loss by each score along the path and 0
    behind its end, so that w[node]'s gradient is the sum of slope × h. A label that is no class is
    a ValueError; a kernel cannot raise.
    """
    check_labels(labels, len(starts) - 1)
    start, step = starts[labels], np.arange(longest)
    on = step < (starts[labels + 1] - start)[:, None]  # (examples, longest): not behind the end
    at = np.where(on, start[:, None] + step, 0)
    rows, sign = w[nodes[at]], np.where(on, 1 - 2 * turns[at], 0).astype(h.dtype)
    scores = np.where(on, sign * (rows @ h[:, :, None])[:, :, 0], 0)
    losses = np.where(on, np.logaddexp(0, -scores), 0).sum(axis=1)  # −log σ, without overflow
    slopes = -sign * np.exp(-np.logaddexp(0, scores))  # how much of the probability goes astray
    return losses, (slopes[:, None] @ rows)[:, 0], slopes


# -- On the CPU: a row is read for its score, and again for dh while it is in the first cache.


def turn_at(score, turn):
    """−log p of turning this way, and its derivative by the score."""
    margin = -score if turn else score  # how much speaks for it
    small = math.exp(-abs(margin))  # never overflows
    loss = max(-margin, ZERO) + math.log1p(small)
    p_wrong = (small if margin >= ZERO else ONE) / (ONE + small)  # σ(−margin)
    return loss, p_wrong if turn else -p_wrong


host_turn_at = njit(**SERIAL)(turn_at)
device_turn_at = cuda.jit(device=True)(turn_at)


@njit(**SERIAL)
def add_row(row, factor, out):
    """out += factor × row."""
    for j in range(row.size):
        out[j] += factor * row[j]


@njit(**SERIAL)
def walk(h, w, nodes, turns, dh, slopes):
    """One example along its path; returns its loss."""
    loss = ZERO
    dh[:] = ZERO
    slopes[:] = ZERO
    for step in range(nodes.size):
        row = w[nodes[step]]
        more, slope = host_turn_at(dot_of_rows(row, h), turns[step])
        add_row(row, slope, dh)
        slopes[step] = slope
        loss += more
    return loss


@njit(**PARALLEL)
def all_walks(h, labels, w, starts, nodes, turns, losses, dh, slopes):
    for e in prange(h.shape[0]):
        first, end = starts[labels[e]], starts[labels[e] + 1]
        losses[e] = walk(h[e], w, nodes[first:end], turns[first:end], dh[e], slopes[e])


@tree_softmax.version("Numba, every core", on=host)
def every_core(h, labels, w, starts, nodes, turns, longest, out):
    check_labels(labels, len(starts) - 1)
    all_walks(h, labels, w, starts, nodes, turns, *out)


@cuda.jit(device=True)
def path_of(label, starts):
    """Where the path begins, its steps, and a loss of zero."""
    return starts[label], starts[label + 1] - starts[label], ZERO


@cuda.jit(device=True)
def warp_dot(row, h):
    """row · h by a warp, its lanes side by side along both; every lane knows the sum."""
    total, j = ZERO, cuda.threadIdx.x & (WARP - 1)  # &: it is not negative
    while j < h.size:
        total += row[j] * h[j]
        j += WARP
    return warp_reduce_sum(total)


@cuda.jit
def warp_kernel(h, labels, w, starts, nodes, turns, losses, dh, slopes):
    e = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    lane = cuda.threadIdx.x & (WARP - 1)
    if e >= h.shape[0]:
        return  # the whole warp: it has one example, and one path
    first, steps, loss = path_of(labels[e], starts)
    for j in range(lane, h.shape[1], WARP):
        dh[e, j] = ZERO
    for step in range(steps):
        node = nodes[first + step]
        more, slope = device_turn_at(warp_dot(w[node], h[e]), turns[first + step])
        j = lane
        while j < h.shape[1]:
            dh[e, j] += slope * w[node, j]
            j += WARP
        loss += more
        if lane == 0:
            slopes[e, step] = slope
    for step in range(steps + lane, slopes.shape[1], WARP):
        slopes[e, step] = ZERO
    if lane == 0:
        losses[e] = loss


@tree_softmax.version("CUDA, a warp per example", on=gpu)
def launch_warp(h, labels, w, starts, nodes, turns, longest, out):
    warp_kernel[warp_per_row(len(h))](h, labels, w, starts, nodes, turns, *out)
