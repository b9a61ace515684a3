"""The tree learns: what a batch changes in w, and a whole training step, in place.

    w[node] −= rate × slope × h,   for every node on every example's path

A step touches a few hundred rows; a result of w's size would touch them all, so w changes where it
is. Every example has passed the root, so two at once may write the same numbers. On the CPU each
core takes columns of its own, and adds the examples in their order: the same bits whatever the
number of cores. A GPU has threads for every example at once, and atomics.
"""

import numpy as np
from numba import cuda, get_num_threads, njit, prange

from .common import CACHE_LINE, PARALLEL, WARP, ceil_div
from .rows import warp_per_row
from .tree_softmax import add_row, all_walks, check_labels, path_of

LINE = CACHE_LINE // 4  # columns of float32: a core's share is of whole cache lines


def tree_update(w, h, labels, slopes, starts, nodes, rate):
    """w[node] −= rate × slope × h, in place: the specification. Shapes as in tree_softmax."""
    check_labels(labels, len(starts) - 1)
    for e, label in enumerate(labels):
        path = nodes[starts[label] : starts[label + 1]]
        w[path] -= rate * slopes[e, : path.size, None] * h[e]  # a path has no node twice


@njit(**PARALLEL)
def update_loop(w, h, labels, slopes, starts, nodes, rate):
    columns = w.shape[1]
    shares = min(get_num_threads(), ceil_div(columns, LINE))
    width = ceil_div(ceil_div(columns, LINE), shares) * LINE
    for share in prange(shares):
        left, right = share * width, min((share + 1) * width, columns)
        for e in range(h.shape[0]):
            first, end = starts[labels[e]], starts[labels[e] + 1]
            for step in range(first, end):
                factor = -rate * slopes[e, step - first]
                add_row(h[e, left:right], factor, w[nodes[step], left:right])


def tree_step(h, labels, w, tree, rate):
    """A training step on every core: losses (examples,) and dh (examples, dim); w learns in place.

    h: (examples, dim), w: (classes − 1, dim), float32; labels: (examples,) integers; tree: a Tree.
    ValueError before w changes, where a label is no class.
    """
    check_labels(labels, len(tree.starts) - 1)
    losses, dh = np.empty(len(h), np.float32), np.empty_like(h)
    slopes = np.empty((len(h), tree.longest), np.float32)
    all_walks(h, labels, w, tree.starts, tree.nodes, tree.turns, losses, dh, slopes)
    update_loop(w, h, labels, slopes, tree.starts, tree.nodes, np.float32(rate))
    return losses, dh


# -- On the GPU: a warp per example again. Atomics lose nothing, but add in any order: the last bits
# -- may differ from run to run.


@cuda.jit
def update_kernel(w, h, labels, slopes, starts, nodes, rate):
    e = cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y
    if e >= h.shape[0]:
        return
    first, steps, _ = path_of(labels[e], starts)
    for step in range(steps):
        node, factor = nodes[first + step], -rate * slopes[e, step]
        j = cuda.threadIdx.x & (WARP - 1)  # not range(): notebook 05 says why
        while j < h.shape[1]:
            cuda.atomic.add(w, (node, j), factor * h[e, j])
            j += WARP


def tree_update_cuda(w, h, labels, slopes, starts, nodes, rate):
    """The same in device arrays."""
    update_kernel[warp_per_row(len(h))](w, h, labels, slopes, starts, nodes, np.float32(rate))
