"""A program: Hogwild. Processes share one vector of weights, and nobody waits for anybody.

Each worker takes an example, computes a gradient from whatever the weights are at that moment, and
adds it, without a lock. Two may write the same weight at once, and an update is lost; a gradient
may come from weights that have moved since. Where each example touches few of many weights both are
rare, and learning hardly suffers.            Niu, Recht, Ré & Wright, "Hogwild!", NeurIPS 2011

The model is logistic regression on sparse examples, such as texts: a few of many features each, the
frequent ones far more often than the rare. Two cores that write one cache line in turn send it to
and fro, so they are kept apart. Frequent features lie anywhere, not all in the first few lines. The
weights, 8 MB, outgrow a core's own cache: most lines come from beyond it with one worker too.
And a worker's count has lines of its own, at which the others look once in CHUNK examples.
"""

from contextlib import nullcontext
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
import torch.distributed as dist
from numba import njit

from gpulessons.workers.memory import APART, locked, shared

FEATURES, COMMON, ACTIVE = 2_000_000, 2_000, 30  # words known; too common to tell; in one example
KEPT, PARTS = 600_000, 12  # different examples, to be looked at again and again, made in parts
CHUNK = 256  # examples between two looks at the clock, or under one lock


@dataclass(frozen=True)
class Ran:
    """What one worker did, and what it saw of the others."""

    updates: int
    seconds: float
    staleness: float  # updates by others between a gradient's reading and its writing, on average
    curve: tuple[tuple[float, float], ...] = field(repr=False)  # (seconds, held-out loss), of 0
    counts: tuple[int, ...] = field(default=(), repr=False)  # all workers' updates by then

    @property
    def by_updates(self):
        """((updates of all workers, held-out loss), …)"""
        return tuple((n, loss) for n, (_, loss) in zip(self.counts, self.curve, strict=True))


def main(worker, examples=14_400_000, rate=0.02, lock=False, features=FEATURES, looks=40):
    """Learn from so many examples, shared out among the workers; returns a Ran.

    features: how many weights there are; with few of them, all workers write the same ones.
    """
    share = examples // worker.world
    places, labels = portion(worker, min(examples, KEPT), features)
    held = sparse(5_000, 0, features)
    weights = shared(worker, features, np.float32)
    clock = shared(worker, APART * worker.world, np.int64)
    alone = np.zeros_like(weights), clock.copy()
    learn(*alone, worker.rank, places[:1], labels[:1], rate)  # compiles
    guard = locked(worker) if lock else nullcontext()
    stale, curve, counts, turns = 0, [], [], -(-share // CHUNK)
    dist.barrier()
    began = perf_counter()
    for turn in range(turns):
        if worker.rank == 0 and turn % max(1, turns // looks) == 0:
            counts.append(int(clock.sum()))
            curve.append((perf_counter() - began, loss(weights, *held)))
            worker.progress(turn * CHUNK, share, "examples")
        start = turn * CHUNK % len(labels)
        some = slice(start, start + min(CHUNK, share - turn * CHUNK))
        with guard:
            stale += learn(weights, clock, worker.rank, places[some], labels[some], rate)
    seconds = perf_counter() - began
    dist.barrier()
    if worker.rank == 0:
        counts.append(int(clock.sum()))
        curve.append((seconds, loss(weights, *held)))
    return Ran(int(clock[APART * worker.rank]), seconds, stale / turns, tuple(curve), tuple(counts))


@njit(error_model="numpy")
def learn(weights, clock, rank, places, labels, rate):
    """Read, compute, write, example after example; returns the staleness of the first of them."""
    stale = 0
    for i in range(labels.size):
        before, total = clock[::APART].sum() if i == 0 else 0, 0.0
        for place in places[i]:
            total += weights[place]
        push = rate * labels[i] / (1 + np.exp(labels[i] * total))
        for place in places[i]:
            weights[place] += push  # read, add, write: whoever wrote in between is overwritten
        if i == 0:
            stale = clock[::APART].sum() - before
        clock[APART * rank] += 1
    return stale


def loss(weights, places, labels):
    """Logistic loss, on average; log 2 where the weights know nothing."""
    return float(np.logaddexp(0, -labels * weights[places].sum(1)).mean())


# -- The examples: the same ones however many workers share them.


def portion(worker, count, features):
    """This worker's examples out of `count`: every world-th part."""
    parts = range(worker.rank, max(PARTS, worker.world), worker.world)
    size = -(-count // max(PARTS, worker.world))
    places, labels = zip(*(sparse(size, 1 + part, features) for part in parts), strict=True)
    return np.concatenate(places), np.concatenate(labels)


def sparse(count, seed, features=FEATURES):
    """(places (count, ACTIVE) int32, labels (count,) of ±1), all from one world."""
    world, rng = np.random.default_rng(99), np.random.default_rng(seed)
    truth, anywhere = world.standard_normal(features), world.permutation(features)
    common = min(COMMON, features / 10)
    spread = np.log(features / common) * rng.random((count, ACTIVE)) + np.log(common)
    ranks = (np.exp(spread) - common).astype(np.int32)  # the n-th has a share of 1/(n + common)
    places = anywhere.astype(np.int32)[np.minimum(ranks, features - 1)]
    return places, np.where(truth[places].sum(1) > 0, 1.0, -1.0)
