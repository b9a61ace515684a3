"""What a larger batch buys: fewer steps until the same loss is reached.

While the noise of a minibatch's gradient decides, twice the batch needs half of the steps; once it
no longer does, as many. Between the two, by an empirical law,

    steps = least × (1 + critical / batch)          McCandlish, Kaplan & Amodei 2018
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
import torch

from gpulessons.hardware.pools import threads

from .links import nonnegative
from .training import examples, mean_loss, minibatches, network

RATES = 1.0, 2.0, 0.5, 4.0, 0.25, 8.0  # the best is chosen for each batch; likely ones first
LOOKS = 1.03  # between two looks at the loss the steps grow by so much
MOST = 20_000  # steps


@dataclass(frozen=True)
class Reached:
    """A loss, reached with one size of batch and the best learning rate for it."""

    batch: int
    rate: float
    runs: tuple[int, ...]  # steps, from several weights and with several orders of the examples

    @property
    def steps(self) -> float:
        return median(self.runs)


def returns(sizes: Iterable[int], goal: float = 0.3, seeds: int = 3) -> list[Reached]:
    """[Reached] for each batch size: with the best rate, so many runs.

    On one core: threads would cost these small steps more than they bring.
    """
    with threads(1):
        return [best(batch, goal, seeds) for batch in sizes]


def best(batch: int, goal: float, seeds: int) -> Reached:
    """The rate of the fewest steps; one that needs more than another is given up."""
    found: dict[float, int] = {}
    for rate in RATES:
        if steps := reach(batch, rate, goal, min(found.values(), default=MOST + 1) - 1):
            found[rate] = steps
    rate = min(found, key=lambda rate: found[rate])
    others = [reach(batch, rate, goal, MOST, seed) for seed in range(1, seeds)]
    return Reached(batch, rate, (found[rate], *(steps for steps in others if steps)))


def reach(
    batch: int, rate: float, goal: float, most: int, seed: int = 0, hidden: int = 64
) -> int | None:
    """Train until the loss of all examples is at the goal: steps; None if they are too many."""
    (x, labels), _ = examples()
    model = network(hidden, seed=seed)
    optimizer, look = torch.optim.SGD(model.parameters(), rate), 1
    for step, chosen in enumerate(minibatches(len(x), batch, most, seed), 1):
        optimizer.zero_grad()
        mean_loss(model, x[chosen], labels[chosen]).backward()
        optimizer.step()
        if step >= look:
            look = max(step + 1, round(step * LOOKS))
            with torch.no_grad():
                if mean_loss(model, x, labels) <= goal:
                    return step
    return None


def critical(found: Sequence[Reached]) -> tuple[float, float]:
    """(least, critical) of the law above, for which the relative errors are least.

    Least is 0 where the steps fall as fast as the batches grow, or faster: no bend is among them.
    """
    rows = [(1 / one.steps, 1 / one.batch / one.steps) for one in found]
    least, more = nonnegative(np.array(rows))
    return least, more / max(least, 1e-30)
