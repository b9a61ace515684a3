"""A program: Hogwild. Processes share one vector of weights, and nobody waits for anybody.

Each worker takes an example, computes a gradient from whatever the weights are at that moment, and
adds it, without a lock. Two may write the same weight at once, and an update is lost; a gradient
may come from weights that have moved since. Where each example touches few of many weights both are
rare, and learning hardly suffers.            Niu, Recht, Ré & Wright, "Hogwild!", NeurIPS 2011

The model is logistic regression on sparse examples, such as texts: a few of many features each, the
frequent ones far more often than the rare.
"""

import os
from contextlib import nullcontext
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np
import torch.distributed as dist
from numba import njit

FEATURES, COMMON, ACTIVE = 200_000, 200, 30  # words known; too common to tell; in one example
CHUNK = 64  # examples between two looks at the clock, or under one lock


@dataclass(frozen=True)
class Ran:
    """What one worker did, and what it saw of the others."""

    updates: int
    seconds: float
    staleness: float  # updates by others between a gradient's reading and its writing, on average
    curve: tuple[tuple[float, float], ...] = field(repr=False)  # (seconds, held-out loss), of 0


def main(worker, examples=400_000, rate=0.2, lock=False, looks=20):
    """Learn from so many examples, shared out among the workers; returns a Ran."""
    share = examples // worker.world
    places, labels = sparse(share, seed=1 + worker.rank)
    weights = shared(worker, FEATURES, np.float64)
    clock = shared(worker, 8 * worker.world, np.int64)
    alone = np.zeros(FEATURES), np.zeros_like(clock)
    learn(*alone, worker.rank, places[:1], labels[:1], rate)  # compiles
    guard = locked(worker) if lock else nullcontext()
    stale, snapshots, every = 0, [], max(1, share // CHUNK // looks)
    dist.barrier()
    began = perf_counter()
    for turn, start in enumerate(range(0, share, CHUNK)):
        if worker.rank == 0 and turn % every == 0:
            snapshots.append((perf_counter() - began, weights.copy()))
            worker.progress(start, share, "examples")
        some = slice(start, start + CHUNK)
        with guard:
            stale += learn(weights, clock, worker.rank, places[some], labels[some], rate)
    seconds = perf_counter() - began
    dist.barrier()
    snapshots += [(seconds, weights.copy())] * (worker.rank == 0)
    held = sparse(20_000, seed=0)
    curve = tuple((at, loss(then, *held)) for at, then in snapshots)
    return Ran(share, seconds, stale / share, curve)


@njit(error_model="numpy")
def learn(weights, clock, rank, places, labels, rate):
    """Look, compute, write, example after example; returns how many updates came in between."""
    stale = 0
    for i in range(labels.size):
        before, total = clock.sum(), 0.0
        for place in places[i]:
            total += weights[place]
        push = rate * labels[i] / (1 + np.exp(labels[i] * total))
        for place in places[i]:
            weights[place] += push  # read, add, write: whoever wrote in between is overwritten
        stale += clock.sum() - before
        clock[8 * rank] += 1  # a cache line of its own: 8 numbers
    return stale


def loss(weights, places, labels):
    return float(np.logaddexp(0, -labels * weights[places].sum(1)).mean())


def sparse(count, seed):
    """(places (count, ACTIVE) int32, labels (count,) of ±1), all from one world."""
    world, rng = np.random.default_rng(99), np.random.default_rng(seed)
    truth = world.standard_normal(FEATURES)
    spread = np.log(FEATURES / COMMON) * rng.random((count, ACTIVE)) + np.log(COMMON)
    places = np.exp(spread).astype(np.int32) - COMMON  # the n-th has a share of 1/(n + COMMON)
    return places, np.where(truth[places].sum(1) > 0, 1.0, -1.0)


# -- What processes on one machine can share.


def shared(worker, size, dtype):
    """An array in memory that all workers of this machine see; zeros at first."""
    if int(os.environ["LOCAL_WORLD_SIZE"]) < worker.world:
        raise ValueError("Workers on several hosts share no memory: start all of them on one.")
    names = [os.path.join(worker.folder, f"shared-{size}") if worker.rank == 0 else None]
    dist.broadcast_object_list(names)
    if worker.rank == 0:
        np.zeros(size, dtype).tofile(names[0])
    dist.barrier()
    return np.memmap(names[0], dtype, "r+")


class locked:
    """A lock that processes can share: a file that one at a time may hold."""

    def __init__(self, worker):
        self.file = open(os.path.join(worker.folder, "lock"), "w")  # noqa: SIM115

    def __enter__(self):
        import fcntl

        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *trouble):
        import fcntl

        fcntl.flock(self.file, fcntl.LOCK_UN)


@njit
def bump(counters, places):
    for place in places:
        counters[place] += 1
