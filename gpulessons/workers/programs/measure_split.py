"""A program: is an MLP block quicker on several workers than on one?

Inference: y = relu(x W1ᵀ) W2ᵀ, four times as wide in the middle, as in a Transformer. Alone: worker
0 does all of it, while the others wait. Cut by examples, each worker answers its share; by layers,
each has a part of both (as in tensor_parallel), and they sum what they have of y.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import torch
import torch.distributed as dist

from gpulessons.hardware.budget import repeated

from ..training import settle, slowest
from ..worker import Worker

Layers = tuple[torch.Tensor, torch.Tensor]  # weights: (4 width, width), (width, 4 width)
CHUNK = 256  # examples at once, so that a longer share is only more of the same


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
    rounds: int = 15, cut: str = "layers",
) -> list[Pair]:  # fmt: skip
    """Returns [Pair], for each width and batch."""
    rank, world, found = worker.rank, worker.world_size, []
    for width in widths:
        torch.manual_seed(0)
        w1 = torch.randn(4 * width, width, device=worker.device)
        w2 = torch.randn(width, 4 * width, device=worker.device)
        own = torch.arange(4 * width, device=worker.device).tensor_split(world)[rank]
        whole, part = (w1, w2), (w1[own].contiguous(), w2[:, own].contiguous())
        for batch in batches:
            x = torch.randn(batch, width, device=worker.device)
            share, own_weights = (x[rank::world], whole) if cut == "examples" else (x, part)
            meets = dist.all_reduce if cut == "layers" else None
            times = [(timed(x, whole, rank == 0)[0], *timed(share, own_weights, meets=meets))
                     for _ in range(repeated(rounds) + 1)]  # fmt: skip
            quarter = torch.tensor(times[1:]).quantile(0.25, 0).tolist()  # the first warms up
            found.append(Pair(width, batch, *quarter))
            worker.progress(len(found), len(widths) * len(batches), "batches")
    return found


def timed(
    x: torch.Tensor, weights: Layers, works: bool = True,
    meets: Callable[[torch.Tensor], object] | None = None,
) -> tuple[float, float]:  # fmt: skip
    """(seconds of the slowest worker, seconds in the all-reduce) of one pass."""
    w1, w2 = weights
    dist.barrier()
    began = ready = perf_counter()
    if works:
        y = torch.cat([torch.relu(part @ w1.T) @ w2.T for part in x.split(CHUNK)])
        settle()
        ready = perf_counter()
        if meets:
            meets(y)
        settle()
    now = perf_counter()
    return slowest(now - began), slowest(now - ready)
