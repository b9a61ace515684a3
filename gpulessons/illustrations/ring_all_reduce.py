"""A ring all-reduce, piece by piece: who holds what, and what goes to whom in the next step.

Every worker has a vector in n pieces. In n − 1 steps each piece travels once round the ring and
grows by every worker's share; in n − 1 more the finished pieces travel round once again.

    bytes that each worker sends    2 (n − 1)/n of its vector    NVIDIA/nccl-tests, PERFORMANCE.md
"""

import math
from typing import NamedTuple

import numpy as np

from gpulessons.plots.boxes import arrow
from gpulessons.plots.film import Film, spread
from gpulessons.plots.forms import key, rectangle, write
from gpulessons.plots.picture import DARK, GREEN, INK, SKY, VERMILLION, Picture, blank

PIECES = {"the sums of some": {"color": SKY}, "the sums of all": {"color": GREEN},
          "just arrived": {"color": "none", "markeredgecolor": VERMILLION},
          "by an arrow: what it carries": {"alpha": 0}}


class Moment(NamedTuple):
    """What every worker holds after some steps, and which piece each has just received."""

    values: np.ndarray  # (workers, pieces)
    summed: np.ndarray  # (workers, pieces): how many workers' shares are in each
    arrived: np.ndarray | None = None  # (workers,): numbers of pieces; None at the start
    sent: np.ndarray | None = None  # (workers,): what each piece held that has arrived


def moments(vectors: np.ndarray):
    """Yield the Moments of a ring all-reduce. vectors: (n, n), a row of n pieces per worker."""
    values, (n, pieces) = np.array(vectors), np.shape(vectors)
    if n != pieces or n < 2:
        raise ValueError(f"A ring cuts each of n vectors into n pieces, n > 1; not {n} × {pieces}.")
    summed, rank = np.ones((n, n), int), np.arange(n)
    yield Moment(values.copy(), summed.copy())
    for step in range(2 * (n - 1)):
        adding = step < n - 1
        arrived = (rank - step - 1) % n
        sent, sums = values[rank - 1, arrived], summed[rank - 1, arrived]
        values[rank, arrived] = sent + adding * values[rank, arrived]
        summed[rank, arrived] = sums + adding * summed[rank, arrived]
        yield Moment(values.copy(), summed.copy(), arrived, sent)


class Ring(Film):
    """A ring all-reduce to step through. vectors: (n, n) whole numbers, a row for each worker."""

    first = 0

    def __init__(self, vectors):
        self.moments, self.workers = list(moments(vectors)), len(vectors)

    def __len__(self):
        return len(self.moments)

    def told(self, number):
        if number == 0:
            return f"step 0 of {len(self) - 1}: everyone has their own {self.workers} pieces"
        done = int((self.moments[number].summed == self.workers).sum())
        does = "added to the neighbor's" if number < self.workers else "shown to the neighbor"
        return (f"step {number} of {len(self) - 1}: each sends one piece, {does}; "
                f"{done} of {self.workers**2} pieces are complete sums")

    def figure(self, number: int) -> Picture:
        """The ring after one step, with an arrow for each piece that has just moved."""
        told = self.told(number)
        figure, axes = blank(height=4.8, title=f"{told.capitalize()}.")
        self.draw(axes, number, size=11)
        held = "; ".join(f"worker {k}: {', '.join(map(str, row))}"
                         for k, row in enumerate(self.moments[number].values))
        return Picture(figure, f"{told}. {held}.")

    def multiples(self) -> Picture:
        """The start and some steps in one figure, all for four workers, and a key of the colors."""
        chosen, n = spread(len(self), 7), self.workers
        title = (f"{n} workers have the sums of all after {len(self) - 1} steps, "
                 f"and each has sent {len(self) - 1} pieces: {2 * (n - 1) / n:g} of its vector.")
        lines = -(-len(chosen) // 4)
        figure, panels = blank(width=8.6, height=0.9 + 1.85 * lines, title=title, nrows=lines,
                               ncols=4, squeeze=False)
        for axes in panels.flat:
            axes.set_axis_off()
        for axes, number in zip(panels.flat, chosen, strict=False):
            self.draw(axes, number, size=9)
            name = f"step {number}: {'add' if number < n else 'show'}" if number else "the start"
            axes.set_title(name, color=INK, fontsize=10)
        key(figure, PIECES)
        return Picture(figure, f"{title} {'; '.join(map(self.told, chosen))}.")

    def draw(self, axes, number, size):
        """The workers round a circle; an arrow between two, and what it carries beside it."""
        moment, n, adding = self.moments[number], self.workers, number < self.workers
        for rank in range(n):
            self.draw_worker(axes, moment, rank, size)
            if moment.arrived is not None:
                start, end = (place(rank - 0.5 + side, n) for side in (-0.17, 0.17))
                arrow(axes, start, end, SKY if adding else GREEN, bend=-0.12)
                x, y = place(rank - 0.5, n)
                write(axes, 1.52 * x, 1.3 * y, "+" * adding + f"{moment.sent[rank]}", fontsize=size)
        axes.set(xlim=(-1.9, 1.9), ylim=(-1.5, 1.5), aspect="equal")
        axes.set_axis_off()

    def draw_worker(self, axes, moment, rank, size):
        """A worker's pieces in a row: blue when others are in one, green when all are."""
        n, (x, y) = self.workers, place(rank, self.workers)
        wide = min(0.4, 1.6 / n)
        for piece, (value, shares) in enumerate(zip(moment.values[rank], moment.summed[rank],
                                                    strict=True)):
            left = x + (piece - n / 2) * wide
            color = GREEN if shares == n else SKY if shares > 1 else "none"
            rectangle(axes, left, y - 0.15, wide, 0.3, facecolor=color)
            if moment.arrived is not None and moment.arrived[rank] == piece:
                rectangle(axes, left, y - 0.15, wide, 0.3, edgecolor=VERMILLION, linewidth=2,
                          zorder=4)
            write(axes, left + wide / 2, y, value, fontsize=size, zorder=5,
                  color=DARK if shares > 1 else INK, weight="bold" if shares == n else "normal")
        side, va = (-0.2, "top") if y < -0.5 else (0.2, "bottom")  # away from the arrows
        write(axes, x, y + side, f"worker {rank}", va=va, fontsize=size)


def place(rank, n):
    """Where a worker stands: clockwise from the top."""
    angle = math.pi / 2 - 2 * math.pi * rank / n
    return 1.1 * math.cos(angle), math.sin(angle)
