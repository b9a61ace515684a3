"""How a row of the targets is measured: two sides taking turns in one run, and a Ratio.

Two versions can take turns only if they are versions of one op. Where the two sides are different
ops, an op that lives only here holds what they have in common.
"""

import math
import time
from dataclasses import replace
from itertools import cycle
from statistics import median

import numpy as np
from numba import cuda, float32

from gpulessons.backends import allow_tf32, gpu, host, torch_cpu, torch_gpu
from gpulessons.measure.results import Absent, Ratio, quartiles, ratio
from gpulessons.measure.timings import timings
from gpulessons.microscope import trace
from gpulessons.operation import op
from gpulessons.ops.activations import relu
from gpulessons.ops.conv2d import conv2d
from gpulessons.ops.copy import copy, triad
from gpulessons.ops.forest import forest_search, grow, recall
from gpulessons.ops.huffman import zipf
from gpulessons.ops.layer_norm import layer_norm
from gpulessons.ops.matmul import matmul
from gpulessons.ops.neighbours import DIM, NEAREST, clustered, neighbours, uniform
from gpulessons.ops.optimizer_step import adam_loop, corrections
from gpulessons.ops.softmax import softmax
from gpulessons.ops.transpose import transpose
from gpulessons.ops.tree_softmax import launch_block, zipf_tree
from gpulessons.ops.tree_update import tree_step, tree_update_cuda

LARGE = 2**24  # elements: 64 MiB of float32, and the harness takes turns between two sets of them
LARGE_GPU = 2**26  # 256 MiB: several times a GPU's last cache, and long beside a launch
SECONDS = 2.0  # for each version


def contest(op, ours, theirs, size=LARGE, words=1.0, seconds=SECONDS):
    """How many times faster the fastest version whose name begins with `ours` is than `theirs`.

    ours: a beginning, or a tuple of them. Each version takes the thread count that suits it best,
    and these seconds. words: how many words ours moves for each of theirs, to compare bytes per
    second instead of times.
    """
    rivals = [name for name in op.versions if name.startswith(ours)]
    other, *entries = timings(op, [size], [theirs, *rivals], budget=seconds)
    best = min(entries, key=lambda entry: getattr(entry, "median", math.inf))
    found = ratio(other, best)
    scaled = {name: words * getattr(found, name) for name in ("median", "low", "high")}
    return replace(found, **scaled)


def inverted(found):
    """The ratio the other way round: for a contest of one of ours against the best of theirs."""
    return replace(found, median=1 / found.median, low=1 / found.high, high=1 / found.low)


def against_do_bench(size=4096, rounds=5):
    """The harness's median over that of Triton's own benchmark function, taking turns.

    On a product: it takes milliseconds, much longer than timers disagree by.
    """
    from triton.testing import do_bench

    version = matmul.versions["PyTorch on GPU"]
    inputs = tuple(map(torch_gpu.put, matmul.inputs(size)))
    out, factors = torch_gpu.empty((size, size), np.float32), []
    for _ in range(rounds):
        (ours,) = timings(matmul, [size], [version], budget=0.5)
        if isinstance(ours, Absent):
            return ratio(ours, ours)
        theirs = do_bench(lambda: version.function(*inputs, out=out), return_mode="median")
        factors.append(ours.median / (1e-3 * theirs))
    return Ratio(median(factors), *quartiles(factors))


def against_annoy(count=100_000, asked=1000, k=10, trees=10, goal=0.9, rounds=7):
    """Queries per second of the forest over Annoy's, one core each, where both find `goal` of all.

    As many trees, as many points in a cell; each visits as little as finds so many neighbors, to
    a tenth more. Annoy takes queries one by one, as lists: it has no other way.
    """
    both = clustered(count + asked, DIM, seed=0)
    points, queries = both[:count], both[count:]
    truth = neighbours.versions["Numba, fused, one core"](queries, points, k)[1]
    forest, index = grow(points, trees, leaf=DIM + 2), annoy_index(points, trees)
    search, lists = forest_search.versions["Numba, one core"].function, queries.tolist()
    out = np.empty((asked, k), np.int32), np.empty((asked, k), np.float32)

    def ours(cells):
        search(queries, points, *forest, k, cells, out=out)
        return np.array(out[0])

    def theirs(candidates):
        return np.array([index.get_nns_by_vector(x, k, search_k=candidates) for x in lists])

    def enough(way, start):
        steps = (round(start * 1.1**n) for n in range(80))
        return next(n for n in steps if recall(distances(way(n)), truth) >= goal)

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


def against_simulator(size=64, rounds=7):
    """Seconds of Numba's simulator over those of the microscope, on a product in tiles of 16."""
    from numba.cuda.simulator.kernel import FakeCUDAKernel

    x, y = (np.random.default_rng(n).random((size, size), np.float32) for n in (1, 2))
    grid, block = (size // TILE, size // TILE), (TILE, TILE)
    simulated = FakeCUDAKernel(tiled_product.py_func, device=False)[grid, block]
    traced = trace(tiled_product)[grid, block]

    def seconds(run):
        out, start = np.zeros((size, size), np.float32), time.perf_counter()
        counted = run(x, y, out)
        if counted is not None:  # the microscope's counts are made when they are asked for
            counted.coalescing(), counted.banks(), counted.divergence(), counted.races()
        took = time.perf_counter() - start
        np.testing.assert_allclose(out, x @ y, rtol=1e-4)
        return took

    seconds(traced)  # reads and rewrites the source, once
    factors = [seconds(simulated) / seconds(traced) for _ in range(rounds)]
    return Ratio(median(factors), *quartiles(factors))


def lend(lender, borrower):
    """Give an op the versions of another, each under its lender's name."""
    for version in lender.versions.values():
        borrower.version(f"{lender.name}: {version.name}", on=version.backend)(version.function)


# -- ReLU beside a copy: where nothing is negative, ReLU is a copy.


def non_negative(size, rng):
    return (np.abs(rng.standard_normal(size, np.float32)),)


@op(inputs=non_negative, flops=lambda x: 0, sizes=(1_000,), rtol=0)
def relu_or_copy(x):
    return x.copy()


lend(relu, relu_or_copy)
lend(copy, relu_or_copy)


# -- The triad beside a copy: where s is zero, a + s b is a copy of a, and b is read all the same.


def two_and_zero(size, rng):
    return *(rng.standard_normal(size, np.float32) for _ in range(2)), np.float32(0)


@op(inputs=two_and_zero, flops=lambda a, b, s: 0, sizes=(1_000,), rtol=0)
def triad_or_copy(a, b, s):
    return a.copy()


lend(triad, triad_or_copy)


@triad_or_copy.version("copy: PyTorch on GPU", on=torch_gpu)
def copy_first(a, b, s, out):
    out.copy_(a)


# -- The transpose beside a copy: a symmetric matrix is its own.


def symmetric(size, rng):
    side = max(1, int(size**0.5))
    half = rng.standard_normal((side, side), np.float32)
    return (half + half.T,)


@op(inputs=symmetric, flops=lambda x: 0, sizes=(1_000,), rtol=0)
def transpose_or_copy(x):
    return x.copy()


lend(transpose, transpose_or_copy)


@transpose_or_copy.version("copy: PyTorch on GPU", on=torch_gpu)
def copy_matrix(x, out):
    out.copy_(x)


# -- Softmax and layer norm beside a copy, which need not be right: they move the same bytes.

softmax_or_copy = softmax.like(softmax.make_inputs)
norm_or_copy = layer_norm.like(layer_norm.make_inputs)


@softmax_or_copy.version("copy: PyTorch on GPU", on=torch_gpu, rtol=math.inf)
def copy_rows(x, out):
    out.copy_(x)


@norm_or_copy.version("copy: PyTorch on GPU", on=torch_gpu, rtol=math.inf)
def copy_rows_too(x, gain, bias, out):
    out.copy_(x)


# -- ResNet's layer on a batch, as a GPU wants it.


def pictures(size, rng):
    x, *rest = conv2d.make_inputs(size, rng)
    return rng.standard_normal((32, *x.shape[1:]), np.float32), *rest


resnet_batch = conv2d.like(pictures)


def many_queries(size, rng):
    """256 queries, so that a product is worth its name; coordinates so many that few are tied."""
    seeds = rng.integers(2**32, size=2)
    return *(uniform(n, DIM, seed) for n, seed in zip((256, size), seeds, strict=True)), NEAREST


brute_force = neighbours.like(many_queries)


# -- Adam beside PyTorch's own fused step: both in place, as training does it. The parameters move
# -- at every call, so there is no one right answer to check; tests check adam_step itself.


def one_parameter(size, rng):
    return (rng.standard_normal(size, np.float32),)


@op(inputs=one_parameter, flops=lambda g: 12 * g.size, sizes=(1_000,), rtol=0)
def adam_in_place(g):
    return g[:1]


@adam_in_place.version("Numba, fused", on=host)
def numba_adam(g):
    state = kept(("numba", g.size), lambda: [np.zeros_like(g) for _ in range(3)])
    w, m, v = state
    adam_loop(w, g, m, v, *corrections(10), w, m, v)
    return g[:1]


@adam_in_place.version("PyTorch, fused", on=torch_cpu)
def torch_adam(g):
    import torch

    def made():
        w = torch.zeros_like(g, requires_grad=True)
        return w, torch.optim.Adam([w], fused=True)

    w, optimizer = kept(("torch", g.numel()), made)
    w.grad = g
    optimizer.step()
    return g[:1]


STATES = {}


def kept(key, make):
    """Parameters and moments outlive a call, as in training."""
    if key not in STATES:
        STATES[key] = make()
    return STATES[key]


# -- A training step with a softmax over a tree beside one over all classes: forward, backward and
# -- the update, in place. Each call takes another batch of labels, so that the tree's rows are not
# -- the same ones again and again.

EXAMPLES, DIM, BATCHES, RATE = 64, 64, 100, 0.01
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

    w, turn = kept((name, rows), made)
    return w, next(turn)


@tree_or_full.version("tree: Numba", on=host)
def numba_tree(h, labels, classes):
    w, turn = learner("tree: Numba", classes - 1, host.put)
    tree_step(h, labels[turn], w, zipf_tree(classes), RATE)
    return h[:1]


@tree_or_full.version("tree: CUDA", on=gpu)
def cuda_tree(h, labels, classes):
    w, turn = learner("tree: CUDA", classes - 1, gpu.put)
    starts, nodes, turns, longest = kept(
        ("paths", classes), lambda: [*map(gpu.put, zipf_tree(classes).paths)]
    )
    out = kept(("out", classes), lambda: [
        gpu.empty(shape, np.float32) for shape in (len(h), h.shape, (len(h), longest))
    ])  # fmt: skip
    launch_block(h, labels[turn], w, starts, nodes, turns, longest, out)
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
    with allow_tf32(torch.backends.cuda.matmul, False):
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
    with allow_tf32(torch.backends.cuda.matmul, False):
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
    STATES["full", "found"] = losses, dh
    return h[:1]


# -- The microscope against Numba's simulator: a product of two matrices, through shared memory.

TILE = 16


@cuda.jit
def tiled_product(x, y, out):
    left = cuda.shared.array((TILE, TILE), float32)
    right = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    i, j = cuda.threadIdx.y, cuda.threadIdx.x
    value = float32(0)
    for tile in range(x.shape[1] // TILE):
        left[i, j] = x[row, tile * TILE + j]
        right[i, j] = y[tile * TILE + i, column]
        cuda.syncthreads()
        for k in range(TILE):
            value += left[i, k] * right[k, j]
        cuda.syncthreads()
    out[row, column] = value


# -- The harness against itself: one version under two names.


@op(inputs=non_negative, flops=lambda x: x.size, sizes=(1_000,))
def root(x, out=None):
    return np.sqrt(x, out=out)


root.version("NumPy again", on=host)(root.function)


@root.version("PyTorch on GPU", on=torch_gpu)
@root.version("PyTorch on GPU again", on=torch_gpu)
def torch_root(x, out):
    import torch

    torch.sqrt(x, out=out)
