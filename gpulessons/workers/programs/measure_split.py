"""A program: is an MLP block quicker on several workers than on one, example by example?

Inference: y = relu(x W1ᵀ) W2ᵀ, four times as wide in the middle, as in a Transformer. Alone: worker
0 has all of it, while the others wait. Split: each has a part, as in tensor_parallel.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
import torch.distributed as dist

from gpulessons.hardware.budget import repeated

from ..training import settle, slowest
from ..worker import Worker

Layers = tuple[torch.Tensor, torch.Tensor]  # weights: (4 width, width), (width, 4 width)


@dataclass(frozen=True)
class Pair:
    """One batch through an MLP block: a quarter of several rounds were as quick."""

    width: int
    batch: int
    alone: float  # seconds on one worker
    split: float  # seconds on all of them, the sum included
    summing: float  # seconds in the all-reduce, of whoever waits longest there


@torch.no_grad()
def main(
    worker: Worker, widths: Sequence[int] = (64, 1024), batches: Sequence[int] = (1, 16, 128),
    rounds: int = 15,
) -> list[Pair]:  # fmt: skip
    """Returns [Pair], for each width and batch."""
    measured = []
    for width in widths:
        whole, part = weights(worker, width)
        for batch in batches:
            x = torch.randn(batch, width, device=worker.device)
            passes = repeated(rounds) + 1  # one to warm up
            times = [
                (run_round(x, *whole, works=worker.rank == 0)[0], *run_round(x, *part, meets=True))
                for _ in range(passes)
            ]
            quarter = torch.tensor(times[1:]).quantile(0.25, 0).tolist()
            measured.append(Pair(width, batch, *quarter))
            worker.progress(len(measured), len(widths) * len(batches), "batches")
    return measured


def weights(worker: Worker, width: int) -> tuple[Layers, Layers]:
    """(w1, w2), whole, and (this worker's rows of w1, its columns of w2)."""
    w1, w2 = (torch.randn(shape, device=worker.device)
              for shape in ((4 * width, width), (width, 4 * width)))  # fmt: skip
    own = torch.arange(4 * width, device=worker.device).tensor_split(worker.world_size)[worker.rank]
    return (w1, w2), (w1[own].contiguous(), w2[:, own].contiguous())


def run_round(
    x: torch.Tensor, w1: torch.Tensor, w2: torch.Tensor, works: bool = True, meets: bool = False
) -> tuple[float, float]:
    """(seconds of the slowest worker, seconds in the all-reduce) of one pass."""
    dist.barrier()
    began = ready = perf_counter()
    if works:
        y = torch.relu(x @ w1.T) @ w2.T
        settle()
        ready = perf_counter()
        if meets:
            dist.all_reduce(y)
        settle()
    now = perf_counter()
    return slowest(now - began), slowest(now - ready)
