"""A ring all-reduce, piece by piece: who holds what, and what goes to whom in the next step.

Every worker has a vector in n pieces. In n − 1 steps each piece travels once round the ring and
grows by every worker's share; in n − 1 more the finished pieces travel round once again.

    bytes that each worker sends    2 (n − 1)/n of its vector    NVIDIA/nccl-tests, PERFORMANCE.md
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gpulessons.plots.film import Film
from gpulessons.plots.forms import rectangle
from gpulessons.plots.picture import DARK, GREEN, INK, SKY, VERMILLION, Picture, blank


@dataclass(frozen=True)
class Moment:
    """What every worker holds after some steps, and which piece each has just received."""

    values: np.ndarray  # (workers, pieces)
    summed: np.ndarray  # (workers, pieces): how many workers' shares are in each
    arrived: np.ndarray | None  # (workers,): numbers of pieces; None at the start
    sent: np.ndarray | None  # (workers,): what each piece held that has arrived; None at the start


def moments(vectors: np.ndarray) -> Iterator[Moment]:
    """Yield the Moments of a ring all-reduce. vectors: (n, n), a row of n pieces per worker."""
    values, (n, pieces) = np.array(vectors), np.shape(vectors)
    if n != pieces or n < 2:
        raise ValueError(f"A ring cuts each of n vectors into n pieces, n > 1; not {n} × {pieces}.")
    summed, rank = np.ones((n, n), int), np.arange(n)
    yield Moment(values.copy(), summed.copy(), None, None)
    for step in range(2 * (n - 1)):
        adding = step < n - 1
        arrived = (rank - step - 1) % n
        sent, sums = values[rank - 1, arrived], summed[rank - 1, arrived]
        values[rank, arrived] = sent + adding * values[rank, arrived]
        summed[rank, arrived] = sums + adding * summed[rank, arrived]
        yield Moment(values.copy(), summed.copy(), arrived, sent)


class Ring(Film):
    """A ring all-reduce to step through. vectors: (n, n) whole numbers, a row for each worker."""

    def __init__(self, vectors):
        self.moments = list(moments(vectors))
        self.workers = len(vectors)

    def __len__(self):
        return len(self.moments)

    def told(self, number):
        if number == 0:
            return f"step 0 of {len(self) - 1}: everyone has their own {self.workers} pieces"
        done = int((self.moments[number].summed == self.workers).sum())
        does = "added to the neighbor's" if number < self.workers else "shown to the neighbor"
        return (
            f"step {number} of {len(self) - 1}: each sends one piece, {does}; "
            f"{done} of {self.workers**2} pieces are complete sums"
        )

    def figure(self, number: int) -> Picture:
        """The ring after one step, with an arrow for each piece that has just moved."""
        told = self.told(number)
        figure, axes = blank(height=4.8, title=f"{told[0].upper()}{told[1:]}.")
        self.draw(axes, number, size=11)
        return Picture(figure, f"{told}. {self.held(number)}")

    def held(self, number):
        rows = enumerate(self.moments[number].values)
        return "; ".join(f"worker {k}: {', '.join(map(str, row))}" for k, row in rows) + "."

    def multiples(self, count: int = 7) -> Picture:
        """The start and some steps in one figure, all for four workers, and a key of the colors."""
        chosen = np.unique(np.linspace(0, len(self) - 1, min(count, len(self))).round().astype(int))
        n, lines = self.workers, -(-(len(chosen) + 1) // 4)
        title = (
            f"{n} workers have the sums of all after {len(self) - 1} steps, "
            f"and each has sent {len(self) - 1} pieces: {2 * (n - 1) / n:g} of its vector."
        )
        figure, panels = blank(
            width=8.6, height=0.6 + 1.85 * lines, title=title, nrows=lines, ncols=4, squeeze=False
        )
        for axes in panels.flat:
            axes.set_axis_off()
        for axes, number in zip(panels.flat, chosen, strict=False):
            self.draw(axes, number, size=9)
            phase = "add" if 0 < number < n else "show" if number else "the start"
            axes.set_title(f"step {number}: {phase}" if number else phase, color=INK, fontsize=10)
        draw_key(panels.flat[-1])
        return Picture(figure, f"{title} {'; '.join(map(self.told, chosen))}.")

    def draw(self, axes, number, size):
        moment, n = self.moments[number], self.workers
        places = [place(rank, n) for rank in range(n)]
        for rank, (x, y) in enumerate(places):
            self.draw_worker(axes, moment, rank, x, y, size)
            if moment.arrived is not None:
                label = f"+{moment.sent[rank]}" if number < n else f"{moment.sent[rank]}"
                draw_arrow(axes, rank - 0.5, n, number < n, label, size)
        axes.set(xlim=(-1.9, 1.9), ylim=(-1.5, 1.5), aspect="equal")
        axes.set_axis_off()

    def draw_worker(self, axes, moment, rank, x, y, size):
        """A worker's pieces in a row: blue when others are in one, green when all are."""
        n = self.workers
        wide = min(0.4, 1.6 / n)
        for piece in range(n):
            left, shares = x + (piece - n / 2) * wide, moment.summed[rank, piece]
            fresh = moment.arrived is not None and moment.arrived[rank] == piece
            color = GREEN if shares == n else SKY if shares > 1 else "none"
            rectangle(axes, left, y - 0.15, wide, 0.3, facecolor=color)
            if fresh:
                rectangle(axes, left, y - 0.15, wide, 0.3, edgecolor=VERMILLION, linewidth=2,
                          zorder=4)
            axes.text(left + wide / 2, y, f"{moment.values[rank, piece]}", ha="center",
                      va="center", fontsize=size, color=DARK if shares > 1 else INK, zorder=5,
                      weight="bold" if shares == n else "normal")
        side, va = (-0.2, "top") if y < -0.5 else (0.2, "bottom")  # away from the arrows
        axes.text(x, y + side, f"worker {rank}", ha="center", va=va, fontsize=size, color=INK)


def place(rank, n):
    """Where a worker stands: clockwise from the top."""
    angle = math.pi / 2 - 2 * math.pi * rank / n
    return 1.1 * math.cos(angle), math.sin(angle)


def draw_arrow(axes, between, n, adding, label, size):
    """From one worker to the next, along the circle between them, and beside it what is sent."""
    start, end = (place(between + side, n) for side in (-0.17, 0.17))
    axes.annotate(
        "", end, start,
        arrowprops={"arrowstyle": "-|>", "color": SKY if adding else GREEN, "linewidth": 2,
                    "connectionstyle": "arc3,rad=-0.12", "mutation_scale": 14},
    )
    x, y = place(between, n)
    axes.text(1.52 * x, 1.3 * y, label, ha="center", va="center", fontsize=size, color=INK)


def draw_key(axes):
    """What the colors of the pieces and of the arrows say."""
    axes.set(xlim=(0, 1), ylim=(0, 1))
    for y, look, words in (
        (0.75, {"facecolor": SKY}, "the sums of some"),
        (0.57, {"facecolor": GREEN}, "the sums of all"),
        (0.39, {"edgecolor": VERMILLION, "linewidth": 2}, "just arrived"),
    ):
        rectangle(axes, 0.04, y - 0.05, 0.1, 0.1, **look)
        axes.text(0.2, y, words, va="center", fontsize=9, color=INK)
    axes.text(0.04, 0.21, "by an arrow: what it\ncarries, to be added\nor to replace",
              va="center", fontsize=9, color=INK)
