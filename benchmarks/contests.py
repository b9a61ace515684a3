"""How a row of the targets is measured: two sides taking turns in one run, and a Ratio.

Two versions can take turns only if they are versions of one op. Where the two sides are different
ops, an op that lives only here holds what they have in common.
"""

import math
from dataclasses import replace
from statistics import median

import numpy as np

from gpulessons.backends import host, torch_gpu
from gpulessons.measuring import timings
from gpulessons.operation import op
from gpulessons.ops.activations import relu
from gpulessons.ops.copy import copy, triad
from gpulessons.timing import Absent, Ratio, quartiles, ratio

LARGE = 2**24  # elements: 64 MiB of float32, and the harness takes turns between two sets of them
LARGE_GPU = 2**26  # 256 MiB: several times a GPU's last cache, and long beside a launch
SECONDS = 2.0  # for each version


def contest(op, ours, theirs, size=LARGE, words=1.0):
    """How many times faster the fastest version whose name begins with `ours` is than `theirs`.

    Each takes the thread count that suits it best. words: how many words ours moves for each of
    theirs, to compare bytes per second instead of times.
    """
    rivals = [name for name in op.versions if name.startswith(ours)]
    other, *entries = timings(op, [size], [theirs, *rivals], budget=SECONDS)
    best = min(entries, key=lambda entry: getattr(entry, "median", math.inf))
    found = ratio(other, best)
    scaled = {name: words * getattr(found, name) for name in ("median", "low", "high")}
    return replace(found, **scaled)


def against_do_bench(size=4096, rounds=5):
    """The harness's median over that of Triton's own benchmark function, taking turns."""
    from triton.testing import do_bench

    version = product.versions["PyTorch on GPU"]
    inputs = tuple(map(torch_gpu.put, product.inputs(size)))
    out, factors = torch_gpu.empty((size, size), np.float32), []
    for _ in range(rounds):
        (ours,) = timings(product, [size], [version], budget=0.5)
        if isinstance(ours, Absent):
            return ratio(ours, ours)
        theirs = do_bench(lambda: version.function(*inputs, out=out), return_mode="median")
        factors.append(ours.median / (1e-3 * theirs))
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


# -- The harness against others: a product takes milliseconds, much longer than timers disagree by.


def two_squares(size, rng):
    return tuple(rng.standard_normal((size, size), np.float32) for _ in range(2))


@op(inputs=two_squares, flops=lambda x, y: 2 * x.shape[0] ** 3, sizes=(64,), rtol=1e-3)
def product(x, y):
    return x @ y


@product.version("PyTorch on GPU", on=torch_gpu)
def torch_product(x, y, out):
    import torch

    torch.matmul(x, y, out=out)
