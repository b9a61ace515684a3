"""A program: four workers on two wires. Which cut goes inside, over the quick one?

Workers 0 and 1 share a quick wire, 2 and 3 another, and a slow one is between the pairs; both are
emulated (emulated.py). The tensor cut sums activations, forward and backward in each block; the
data cut sums the gradient of its half of the weights. Only sending is timed: nothing is computed.
"""

from functools import partial

import torch

from gpulessons.hardware.budget import repeated

from ..emulated import Emulated
from ..links import Link
from ..training import timed
from ..worker import Worker

Given = tuple[float, float]  # latency, bandwidth


def main(
    worker: Worker, near: Given, far: Given, width: int = 256, rows: int = 2048, blocks: int = 4,
    rounds: int = 3,
) -> dict[str, float]:  # fmt: skip
    """{the cut that is inside: seconds of a step, the quickest of several rounds}"""
    wire, times = Emulated(Link(*near), Link(*far), together=2), {}
    activations = torch.ones(rows * width)
    gradients = torch.ones(4 * width * width)  # of half a block
    for inside in ("tensor", "data"):
        tensor, data = (worker.rank ^ (1 if inside == cut else 2) for cut in ("tensor", "data"))
        turns = [(activations, tensor)] * (2 * blocks) + [(gradients, data)] * blocks
        step = partial(add_up, turns, wire)
        times[inside] = min(timed(step) for _ in range(repeated(rounds)))
    return times


def add_up(turns: list[tuple[torch.Tensor, int]], wire: Emulated) -> None:
    """Each x ← its sum over two workers, in turn: as many bytes as by a ring of two."""
    for x, partner in turns:
        other = x.fill_(1).new_empty(x.shape)
        wire.exchange(x, partner, other, partner)
        x += other
