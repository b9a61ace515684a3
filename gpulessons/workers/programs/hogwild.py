"""A program: Hogwild. Processes share one vector of weights, and nobody waits for anybody.

Each worker takes an example, computes a gradient from whatever the weights are at that moment, and
adds it, without a lock. Two may write the same weight at once, and an update is lost; a gradient
may come from weights that have moved since. Where each example touches few of many weights both are
rare, and learning hardly suffers.            Niu, Recht, Ré & Wright, "Hogwild!", NeurIPS 2011

The model is logistic regression on sparse examples, such as texts: a few of many features each, the
frequent ones far more often than the rare, and anywhere in memory, not all in the first few lines.
The weights, 8 MB, outgrow a core's own cache: most lines come from beyond it with one worker too.
Each worker's count of its updates has cache lines of its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from time import perf_counter

import numpy as np
import torch.distributed as dist
from numba import njit
from numpy.typing import NDArray

from gpulessons.hardware.budget import repeated

from ..memory import APART, atomic_add, keep_to_a_core, shared
from ..worker import Worker

FEATURES, COMMON, ACTIVE = 2_000_000, 2_000, 30  # words known; too common to tell; in one example
DIFFERENT, PARTS = 600_000, 12  # different examples, to be looked at again and again, made in parts
HELD = 2_500  # examples that only the loss is computed from
PAGE = 4096  # numbers: so far apart no core fetches ahead what is the other's
CHUNK = 256  # examples between two looks at the clock
LOOKS = 25  # at the held-out loss, in a round
WAYS = ALONE, SEPARATE, FREE, ATOMIC = "alone", "own weights", "no lock", "atomic"

Examples = tuple[NDArray, NDArray]  # (places, labels), as sparse() makes them


@dataclass(frozen=True)
class Ran:
    """What one worker did in one round."""

    updates: int
    seconds: float  # until the last worker was done
    curve: tuple[tuple[float, float], ...] = field(repr=False)  # (seconds, held-out loss), of 0
    counts: tuple[int, ...] = field(default=(), repr=False)  # all workers' updates by then

    @property
    def by_updates(self) -> tuple[tuple[int, float], ...]:
        """((updates of all workers, held-out loss), …)"""
        return tuple((n, loss) for n, (_, loss) in zip(self.counts, self.curve, strict=True))


def main(
    worker: Worker, examples: int = 2_400_000, rate: float = 0.02, features: int = FEATURES,
    ways: Sequence[str] = WAYS, rounds: int = 5,
) -> dict[str, tuple[Ran, ...]]:  # fmt: skip
    """Learn from so many examples, anew in every round. Returns {way: (a Ran for each round, …)}.

    ways: "alone" (worker 0 takes all the examples and the others wait), and each its share: with
    "own weights" (nothing is shared but the machine: a control), "no lock", and "atomic" (none of
    their additions is lost). They take turns, since a busy moment should hit them all. features:
    how many weights there are; with few of them, all workers write the same.
    """
    weights = shared(worker, features, np.float32)
    apart = shared(worker, (features + PAGE) * worker.world_size, np.float32)  # of the same kind,
    private = apart.reshape(worker.world_size, -1)[worker.rank, :features]  # pages from the other's
    clock = shared(worker, APART * worker.world_size, np.int64)
    keep_to_a_core(worker)
    everything, held = made(min(examples, DIFFERENT), features), sparse(HELD, 0, features)
    places, labels = (each[worker.rank :: worker.world_size].copy() for each in everything)
    learn(private, clock.copy(), worker.rank, *held, rate, False)  # compiles
    found = dict.fromkeys(ways, tuple[Ran, ...]())
    for done in range(rounds := repeated(rounds)):
        for way in ways:
            share = examples // worker.world_size if way != ALONE else examples * (worker.rank == 0)
            data = everything if way == ALONE else (places, labels)
            private[:] = 0
            memory = (private if way == SEPARATE else weights), clock
            ran = run_round(worker, memory, data, held, rate, share, way == ATOMIC)
            found[way] += (ran,)
        worker.progress(done + 1, rounds, "rounds")
    return found


def gains(found: dict[str, tuple[Ran, ...]], way: str = FREE) -> list[float]:
    """Round by round: how many times sooner two reach, in this way, a loss that both reach."""
    pairs = list(zip(found[ALONE], found[way], strict=True))
    targets = [goal(pair) for pair in pairs]
    return [reached(one.curve, target) / reached(two.curve, target)
            for (one, two), target in zip(pairs, targets, strict=True)]  # fmt: skip


def fair(found: dict[str, tuple[Ran, ...]], least: float = 1.3) -> dict[str, tuple[Ran, ...]]:
    """The rounds in which two cores were free, by the control: with own weights the two were
    sooner than one, and by no more than two cores can give."""
    control = zip(found[ALONE], found[SEPARATE], strict=True)
    sound = [least < one.seconds / two.seconds < 2.2 for one, two in control]
    return {way: tuple(compress(rans, sound)) for way, rans in found.items()}


def typical(found: dict[str, tuple[Ran, ...]]) -> dict[str, Ran]:
    """The round whose gain is the median (of two in the middle, the larger one); or nothing."""
    order = sorted(enumerate(gains(found)), key=lambda one: one[1])
    return {way: rans[order[len(order) // 2][0]] for way, rans in found.items()} if order else {}


def run_round(
    worker: Worker, memory: tuple[NDArray, NDArray], data: Examples, held: Examples, rate: float,
    share: int, atomically: bool,
) -> Ran:  # fmt: skip
    """Learn from `share` examples, from weights that know nothing; worker 0 looks at the loss."""
    (weights, clock), (places, labels) = memory, data
    dist.barrier()
    curve, counts = list[tuple[float, float]](), list[int]()
    chunks = -(-share // CHUNK)

    def look(seconds: float) -> None:
        counts.append(int(clock.sum()))
        curve.append((seconds, loss(weights, *held)))

    if worker.rank == 0:
        weights[:], clock[:] = 0, 0
        look(0.0)
    dist.barrier()
    began = perf_counter()
    for chunk in range(chunks):
        if worker.rank == 0 and chunk and chunk % max(1, chunks // LOOKS) == 0:
            look(perf_counter() - began)
        start = chunk % max(1, len(labels) // CHUNK) * CHUNK
        some = slice(start, start + min(CHUNK, share - chunk * CHUNK))
        learn(weights, clock, worker.rank, places[some], labels[some], rate, atomically)
    dist.barrier()
    seconds = perf_counter() - began
    if worker.rank == 0:
        look(seconds)
    updates = int(clock[APART * worker.rank])
    return Ran(updates, seconds, tuple(curve), tuple(counts))


@njit(error_model="numpy")
def learn(
    weights: NDArray, clock: NDArray, rank: int, places: NDArray, labels: NDArray, rate: float,
    atomically: bool,
) -> None:  # fmt: skip
    """Read, compute, write, example after example."""
    for i in range(labels.size):
        total = 0.0
        for place in places[i]:
            total += weights[place]
        push = rate * labels[i] / (1 + np.exp(labels[i] * total))
        for place in places[i]:
            if atomically:
                atomic_add(weights, place, push)  # nobody comes between read and write
            else:
                weights[place] += push  # read, add, write: whoever wrote in between is overwritten
        clock[APART * rank] += 1


def loss(weights: NDArray, places: NDArray, labels: NDArray) -> float:
    """Logistic loss, on average; log 2 where the weights know nothing."""
    return float(np.logaddexp(0, -labels * weights[places].sum(1)).mean())


# -- The examples: all make the same ones, however many share them.


def made(count: int, features: int) -> Examples:
    """So many examples, made in parts, since a part needs much more memory while it is made."""
    size = -(-count // PARTS)
    places, labels = zip(*(sparse(size, 1 + part, features) for part in range(PARTS)), strict=True)
    return np.concatenate(places), np.concatenate(labels)


def sparse(count: int, seed: int, features: int = FEATURES) -> Examples:
    """(places (count, ACTIVE) int32, labels (count,) of ±1), all from one world."""
    world, rng = np.random.default_rng(99), np.random.default_rng(seed)
    truth, anywhere = world.standard_normal(features), world.permutation(features)
    common = min(COMMON, features / 10)
    spread = np.log(features / common) * rng.random((count, ACTIVE)) + np.log(common)
    ranks = (np.exp(spread) - common).astype(np.int32)  # the n-th has a share of 1/(n + common)
    places = anywhere.astype(np.int32)[np.minimum(ranks, features - 1)]
    return places, np.where(truth[places].sum(1) > 0, 1.0, -1.0)


# -- Who is there first.


def reached(curve: Sequence[tuple[float, float]], target: float) -> float:
    """Where a curve [(at, loss)] first is down at the target; inf where it never is.

    Between two points it is taken for a straight line.
    """
    before = curve[0]
    for at, loss in curve:
        if loss <= target:
            way = (before[1] - target) / (before[1] - loss) if before[1] > target else 0.0
            return before[0] + way * (at - before[0])
        before = at, loss
    return float("inf")


def goal(runs: Iterable[Ran], share: float = 0.8) -> float:
    """A loss that every run reaches: this share of the way down of the one that ends highest."""
    runs = list(runs)
    start, end = runs[0].curve[0][1], max(run.curve[-1][1] for run in runs)
    return start - share * (start - end)
