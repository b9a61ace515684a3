"""How a row of the targets is measured: two sides taking turns in one run, and a Ratio.

Two versions can take turns only if they are versions of one op. Where the two sides are different
ops, an op that lives only here holds what they have in common.
"""

import math
import os
import time
from dataclasses import replace
from functools import partial
from statistics import median
from timeit import Timer

import numpy as np
from numba import cuda, float32, njit

from gpulessons.backends import host, torch_cpu, torch_gpu
from gpulessons.hardware import threads
from gpulessons.measure.problem import Problem
from gpulessons.measure.results import TOO_NOISY, Absent, Ratio, quartiles, ratio
from gpulessons.measure.rounds import Run
from gpulessons.measure.timings import timings
from gpulessons.operation import op
from gpulessons.ops.activations import relu
from gpulessons.ops.conv2d import conv2d
from gpulessons.ops.copy import copy, triad
from gpulessons.ops.matmul import matmul
from gpulessons.ops.optimizer_step import adam_loop, corrections
from gpulessons.ops.softmax import softmax
from gpulessons.ops.transpose import transpose
from warplens import trace

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


def on_one_core(measure):
    """What both sides do with one core: where one of them has no use for a second."""
    if not hasattr(os, "sched_setaffinity"):
        raise RuntimeError("only Linux keeps a process on one core")
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        return measure()
    finally:
        os.sched_setaffinity(0, before)


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
        with version.computing():
            theirs = do_bench(version.bound(inputs, out), return_mode="median")
        factors.append(ours.median / (1e-3 * theirs))
    return Ratio(median(factors), *quartiles(factors))


def by_hand_or_harness(op, statement, setup="", size=8, rounds=101):
    """Seconds of PyTorch's call written by hand over those that the harness gives it, in pairs.

    statement: the call, on x (or x and z) and out, with torch and what setup binds.
    """
    import torch

    run = Run(Problem(op, size), op.versions["PyTorch on CPU"])
    run.begin()
    run.warm_up()
    run.threads, ((x, *more), out) = 1, run.sets[0]
    names = {"torch": torch, "x_": x, "z_": more[0] if more else None, "out_": out}
    timer = Timer(statement, f"x, z, out = x_, z_, out_; {setup}", globals=names)
    factors = []
    with threads(1):
        for n in range(rounds):
            pair = [lambda: timer.timeit(run.calls) / run.calls, run.sample]
            found = [each() for each in (pair if n % 2 else pair[::-1])]
            by_hand, ours = found if n % 2 else found[::-1]
            factors.append(by_hand / ours)
    low, high = quartiles(factors)
    noisy = high - low > TOO_NOISY * median(factors)
    return Ratio(median(factors), low, high, "the machine was too noisy" * noisy)


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
        name = f"{lender.name}: {version.name}"
        borrower.versions[name] = replace(version, op=borrower, name=name, rtol=borrower.rtol)


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


# -- Softmax beside a copy, which need not be right: they move the same bytes.

softmax_or_copy = softmax.like(softmax.make_inputs)


@softmax_or_copy.version("copy: PyTorch on GPU", on=torch_gpu, rtol=math.inf)
def copy_rows(x, out):
    out.copy_(x)


# -- A product by three loops, and of sizes that nobody chose.


@njit(error_model="numpy", fastmath={"contract"})
def ijk(x, y, out):
    for i in range(x.shape[0]):
        for j in range(y.shape[1]):
            total = np.float32(0)
            for k in range(x.shape[1]):
                total += x[i, k] * y[k, j]
            out[i, j] = total


loops_or_registers = matmul.like()
loops_or_registers.version("Numba, one core, ijk", on=host)(ijk)

odd_product = matmul.like(partial(matmul.make_inputs, k=513, n=1111))


# -- ResNet's layer on a batch, as a GPU wants it.


def pictures(size, rng):
    x, *rest = conv2d.make_inputs(size, rng)
    return rng.standard_normal((32, *x.shape[1:]), np.float32), *rest


resnet_batch = conv2d.like(pictures)


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
