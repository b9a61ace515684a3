"""How the rows about trees are measured, beside those of others: each a Ratio, as in contests."""

import time
from itertools import cycle
from statistics import median

import contests
import numpy as np

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.measure.results import Ratio, quartiles
from gpulessons.operation import op
from gpulessons.ops import forest
from gpulessons.ops.huffman import zipf
from gpulessons.ops.neighbours import clustered, nearest
from gpulessons.ops.tree_softmax import launch_warp, zipf_tree
from gpulessons.ops.tree_update import tree_step, tree_update_cuda

DIM = 64  # columns of everything here


# -- The forest beside Annoy's.


def against_annoy(count=100_000, asked=1000, k=10, trees=10, goal=0.9, rounds=7):
    """Queries per second of the forest over Annoy's, one core each, where both find `goal` of all.

    As many trees, as many points in a cell; each visits as little as finds so many neighbors, to
    a tenth more. Annoy takes queries one by one, as lists: it has no other way.
    """
    both = clustered(count + asked, DIM, seed=0)
    points, queries = both[:count], both[count:]
    truth = nearest(queries, points, k)[1]
    grown, index = forest.grow(points, trees, leaf=DIM + 2), annoy_index(points, trees)
    lists = queries.tolist()

    def ours(cells):
        return forest.search(grown, points, queries, k, cells, cores=1)[0]

    def theirs(candidates):
        return np.array([index.get_nns_by_vector(x, k, search_k=candidates) for x in lists])

    def enough(way, start):
        steps = (round(start * 1.1**n) for n in range(80))
        return next(n for n in steps if forest.recall(distances(way(n)), truth) >= goal)

    def distances(labels):
        return np.sort(((queries[:, None] - points[labels]) ** 2).sum(axis=2), axis=1)

    cells, candidates, factors = enough(ours, trees), enough(theirs, 10 * trees * k), []
    for _ in range(rounds):
        factors.append(seconds_for(theirs, candidates) / seconds_for(ours, cells))
    return Ratio(median(factors), *quartiles(factors))


def annoy_index(points, trees):
    """Annoy's index, whose cells hold up to dim + 2 points."""
    from annoy import AnnoyIndex

    index = AnnoyIndex(points.shape[1], "euclidean")
    index.set_seed(1)
    for n, point in enumerate(points):
        index.add_item(n, point)
    index.build(trees)
    return index


def seconds_for(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


# -- A training step with a softmax over a tree beside one over all classes: forward, backward and
# -- the update, in place. Each call takes another batch of labels, so that the tree's rows are not
# -- the same ones again and again.

EXAMPLES, BATCHES, RATE = 64, 100, 0.01
CHUNK = 4096  # classes whose scores stay in the cache, for a full softmax in pieces


def examples_and_batches(classes, rng):
    """h: (examples, dim) float32; labels: (batches, examples) int32, as frequent as words are."""
    frequency = zipf(classes).cumsum()
    labels = np.searchsorted(frequency, rng.random((BATCHES, EXAMPLES)) * frequency[-1])
    return rng.standard_normal((EXAMPLES, DIM), np.float32), labels.astype(np.int32), classes


@op(inputs=examples_and_batches, flops=lambda h, labels, classes: 6 * h.size * classes,
    sizes=(1_000,), rtol=0, unit="classes")  # fmt: skip
def tree_or_full(h, labels, classes):
    return h[:1]


def learner(name, rows, place):
    """Weights that outlive a call, on a backend, and whose turn it is: one batch after another."""

    def made():
        w = np.random.default_rng(0).standard_normal((rows, DIM), np.float32) / 8
        return place(w), cycle(range(BATCHES))

    w, turn = contests.kept((name, rows), made)
    return w, next(turn)


@tree_or_full.version("tree: Numba", on=host)
def numba_tree(h, labels, classes):
    w, turn = learner("tree: Numba", classes - 1, host.put)
    tree_step(h, labels[turn], w, zipf_tree(classes), RATE)
    return h[:1]


@tree_or_full.version("tree: CUDA", on=gpu)
def cuda_tree(h, labels, classes):
    w, turn = learner("tree: CUDA", classes - 1, gpu.put)
    starts, nodes, turns, longest = contests.kept(
        ("paths", classes), lambda: [*map(gpu.put, zipf_tree(classes).paths)]
    )
    out = contests.kept(("out", classes), lambda: [
        gpu.empty(shape, np.float32) for shape in (len(h), h.shape, (len(h), longest))
    ])  # fmt: skip
    launch_warp(h, labels[turn], w, starts, nodes, turns, longest, out)
    tree_update_cuda(w, h, labels[turn], out[2], starts, nodes, RATE)
    return h[:1]


@tree_or_full.version("full: NumPy", on=host)
def numpy_full(h, labels, classes):
    w, turn = learner("full: NumPy", classes, host.put)
    target = np.arange(len(h)), labels[turn]
    p = h @ w.T
    p -= p.max(axis=1, keepdims=True)
    np.exp(p, out=p)
    p /= p.sum(axis=1, keepdims=True)
    losses = -np.log(p[target])
    p[target] -= 1
    dh = p @ w
    p *= np.float32(-RATE)
    w += p.T @ h
    return keep_results(losses, dh, h)


@tree_or_full.version("full: PyTorch on GPU", on=torch_gpu)
@tree_or_full.version("full: PyTorch on CPU", on=torch_cpu)
def torch_full(h, labels, classes):
    import torch

    w, turn = learner(f"full: {h.device}", classes, lambda w: torch.tensor(w, device=h.device))
    target = torch.arange(len(h), device=h.device), labels[turn].long()
    p = torch.softmax(h @ w.T, 1)
    losses = -p[target].log()
    p[target] -= 1
    dh = p @ w
    w.addmm_(p.T, h, alpha=-RATE)
    return keep_results(losses, dh, h)


@tree_or_full.version("full: PyTorch on GPU, in chunks", on=torch_gpu)
@tree_or_full.version("full: PyTorch on CPU, in chunks", on=torch_cpu)
def torch_chunked(h, labels, classes):
    """The scores of a chunk of classes are used up while they are in the cache."""
    import torch

    w, turn = learner(f"chunks: {h.device}", classes, lambda w: torch.tensor(w, device=h.device))
    target, chunk = labels[turn].long(), CHUNK if h.device.type == "cpu" else 16 * CHUNK
    parts = w.split(chunk)
    scores = [h @ part.T for part in parts]
    total = torch.stack([s.logsumexp(1) for s in scores]).logsumexp(0)
    rows = w[target]
    losses, dh = total - (h * rows).sum(1), -rows
    for part, s in zip(parts, scores, strict=True):
        p = s.sub_(total[:, None]).exp_()
        dh += p @ part
        part.addmm_(p.T, h, alpha=-RATE)
    w.index_add_(0, target, h, alpha=RATE)
    return keep_results(losses, dh, h)


def keep_results(losses, dh, h):
    """Tests look at what a step has found; the harness compares what cannot differ."""
    contests.STATES["full", "found"] = losses, dh
    return h[:1]
