"""A program: how many additions vanish when nobody locks?

All workers add one to cells of one shared array, drawn at random. An addition is a read, an add and
a write; who writes in between is overwritten. With few cells that is often, with many seldom. An
atomic addition lets nobody in between: it loses none, and takes longer, since it holds the cell's
cache line meanwhile. Then each worker keeps to one cell of its own: neighbors in one line still
take it from each other (false sharing).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..memory import APART, atomic_add, keep_to_a_core, shared
from ..training import timed
from ..worker import Worker

DRAWN = 50_000  # places, used again and again: few enough to stay in a core's cache
ATOMIC = "one cell, atomic"
FEWER, ROUNDS = 50, 5  # an atomic addition takes longer; who is quicker, several rounds must say

Bump = Callable[[NDArray, NDArray, int], None]  # (cells, places, rounds)


@dataclass(frozen=True)
class Count:
    """What all workers together have added in a round, and what of it is there."""

    cells: int
    made: int
    found: int
    seconds: tuple[float, ...]  # of the slowest worker, for each of its additions; in each round

    @property
    def lost(self) -> float:
        """The share of the additions that vanished."""
        return 1 - self.found / self.made


def main(
    worker: Worker, cells: Sequence[int] = (1, 256, 65_536), additions: int = 150_000_000,
) -> dict[int | str, Count]:  # fmt: skip
    """Returns {number of shared cells: Count}; of atomic additions, in ROUNDS rounds, also of own
    cells "side by side" and "apart", and of one cell ATOMIC.
    """
    keep_to_a_core(worker)
    rng, found = np.random.default_rng(worker.rank), dict[int | str, Count]()
    for n in cells:
        found[n] = count(worker, n, rng.integers(n, size=DRAWN), additions, bump)
        worker.progress(len(found), len(cells) + 1, f"{n} cells")
    gaps, room = {"side by side": 1, "apart": APART, ATOMIC: 0}, APART * worker.world_size
    for _ in range(ROUNDS):
        for name, gap in gaps.items():
            own = np.full(DRAWN, worker.rank * gap)
            one = count(worker, room, own, additions // FEWER, bump_atomically)
            before = found[name].seconds if name in found else ()
            found[name] = replace(one, seconds=before + one.seconds)
    return found


def count(worker: Worker, size: int, places: NDArray, additions: int, add: Bump) -> Count:
    """Let all workers add at once; a Count."""
    cells = shared(worker, size, np.int64)
    add(np.zeros(size, np.int64), places, 1)  # compiles
    rounds = max(1, additions // places.size)
    seconds = timed(partial(add, cells, places, rounds)) / (rounds * places.size)
    made = worker.world_size * rounds * places.size
    return Count(size, made, int(cells.sum()), (seconds,))


@njit
def bump(cells: NDArray, places: NDArray, rounds: int) -> None:
    for _ in range(rounds):
        for place in places:
            cells[place] += 1


@njit
def bump_atomically(cells: NDArray, places: NDArray, rounds: int) -> None:
    for _ in range(rounds):
        for place in places:
            atomic_add(cells, place, 1)
