"""What a larger batch buys: fewer steps until the same loss is reached.

While the noise of a minibatch's gradient decides, twice the batch needs half of the steps; once it
no longer does, as many. Between the two, by an empirical law,

    steps = least × (1 + critical / batch)          McCandlish, Kaplan & Amodei 2018
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import inf
from statistics import median

import numpy as np
import torch

from gpulessons.hardware.pools import threads

from .links import nonnegative
from .training import examples, mean_loss, minibatches, network

RATES = 1.0, 2.0, 0.5, 4.0, 0.25, 8.0  # the best is chosen for each batch; likely ones first
LOOKS = 1.03  # between two looks at the loss the steps grow by so much


@dataclass(frozen=True)
class Reached:
    """A loss, reached with one size of batch and the best learning rate for it."""

    batch: int
    rate: float
    steps: int
    runs: tuple[int, ...] = field(default=(), repr=False)  # steps from other weights, other batches


def returns(
    sizes: Iterable[int], goal: float = 0.3, hidden: int = 64, most: int = 20_000,
    rates: Iterable[float] = RATES, seeds: int = 1,
) -> list[Reached]:  # fmt: skip
    """[Reached] for each batch size. ValueError where no rate comes to the goal in `most` steps.

    seeds: with the best rate, this many runs from other weights and with other minibatches; steps
    are then their median, and a run that fails is left out. On one core: threads would
    cost these small steps more than they bring.
    """
    with threads(1):
        return [best(batch, goal, hidden, most, rates, seeds) for batch in sizes]


def best(
    batch: int, goal: float, hidden: int, most: int, rates: Iterable[float], seeds: int
) -> Reached:
    """The rate of the fewest steps; one that needs more than another is given up."""
    found, limit = None, most
    for rate in rates:
        if run := reach(batch, rate, goal, hidden, limit):
            found, limit = run, run.steps - 1
    if not found:
        raise ValueError(f"No rate reaches a loss of {goal} with batches of {batch}.")
    others = (reach(batch, found.rate, goal, hidden, most, seed) for seed in range(1, seeds))
    runs = [found, *(run for run in others if run)]
    steps = tuple(run.steps for run in runs)
    return Reached(batch, found.rate, round(median(steps)), steps)


def reach(
    batch: int, rate: float, goal: float, hidden: int, most: int, seed: int = 0
) -> Reached | None:
    """Train until the loss of all examples is at the goal; None if that takes too many steps."""
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
                    return Reached(batch, rate, step)
    return None


def critical(found: Sequence[Reached]) -> tuple[float, float]:
    """(least, critical) of the law above, for which the relative errors are least.

    (0.0, inf) where the steps fall as fast as the batches grow, or faster: no bend is among them.
    """
    rows = [(1 / one.steps, 1 / one.batch / one.steps) for one in found]
    least, more = nonnegative(np.array(rows))
    return least, more / least if least else inf
