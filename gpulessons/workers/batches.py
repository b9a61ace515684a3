"""What a larger batch buys: steps, and seconds, until the same loss is reached."""

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter

import torch

from .training import examples, mean_loss, minibatches, network

RATES = 1.0, 2.0, 0.5, 4.0, 0.25, 8.0  # the best is chosen for each batch; likely ones first
LOOKS = 1.1  # between two looks at the loss the steps grow by a tenth


@dataclass(frozen=True)
class Reached:
    """A loss, reached with one size of batch and the best learning rate for it."""

    batch: int
    rate: float
    steps: int
    seconds: float  # of those steps, on one core


def returns(
    sizes: Iterable[int], goal: float = 0.3, hidden: int = 64, most: int = 20_000,
    rates: Iterable[float] = RATES,
) -> list[Reached]:  # fmt: skip
    """[Reached] for each batch size. ValueError where no rate comes to the goal in `most` steps.

    On one core: threads would cost these small steps more than they bring.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [best(size, goal, hidden, most, rates) for size in sizes]
    finally:
        torch.set_num_threads(threads)


def best(batch: int, goal: float, hidden: int, most: int, rates: Iterable[float]) -> Reached:
    """The fewest steps of all rates; a rate that needs more than another is given up."""
    found = None
    for rate in rates:
        limit = found.steps - 1 if found else most
        found = reach(batch, rate, goal, hidden, limit) or found
    if not found:
        raise ValueError(f"No rate reaches a loss of {goal} with batches of {batch}.")
    return found


def reach(batch: int, rate: float, goal: float, hidden: int, most: int) -> Reached | None:
    """Train until the loss of all examples is at the goal; None if that takes too many steps."""
    (x, labels), _ = examples()
    model = network(hidden)
    optimizer, seconds, look = torch.optim.SGD(model.parameters(), rate), 0.0, 1
    for step, chosen in enumerate(minibatches(len(x), batch, most), 1):
        began = perf_counter()
        optimizer.zero_grad()
        mean_loss(model, x[chosen], labels[chosen]).backward()
        optimizer.step()
        seconds += perf_counter() - began
        if step >= look:
            look = max(step + 1, round(step * LOOKS))
            with torch.no_grad():
                if mean_loss(model, x, labels) <= goal:
                    return Reached(batch, rate, step, seconds)
    return None
