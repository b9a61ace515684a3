"""A program: pipeline parallelism, by PyTorch's own 1F1B (torch.distributed.pipelining).

Each worker holds a stage of the network. Activations go to the next stage, gradients come back,
micro-batch by micro-batch, and add up to the minibatch's. No worker needs the whole network; worker
0 has it too, to time it alone while the others wait.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import torch
from torch import Tensor
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.nn import Sequential

from gpulessons.hardware.budget import repeated

from ..training import examples, layers, mean_loss, network, timed
from ..worker import Worker


@dataclass(frozen=True)
class Piped:
    """What one stage has after a minibatch."""

    gradients: tuple[Tensor, ...] = field(repr=False)  # one for each parameter here
    rounds: tuple[tuple[float, float], ...]  # seconds of each: (worker 0 alone, all stages)


def main(
    worker: Worker, micro: int = 4, batch: int = 64, hidden: int = 256, blocks: int = 8,
    dtype: str = "float64", rounds: int = 1,
) -> Piped:  # fmt: skip
    """Forward and backward of a minibatch, alone and in stages, in turn; the first warms up."""
    (x, labels), _ = examples(getattr(torch, dtype))
    x, labels = x[:batch].to(worker.device), labels[:batch].to(worker.device)
    rank, world = worker.rank, worker.world_size
    whole, model = (network(hidden, x.dtype, depth=blocks).to(worker.device) for _ in range(2))
    own = stages(model, world)[rank]
    piped = Schedule1F1B(
        PipelineStage(own, rank, world, worker.device), micro, scale_grads=False,
        loss_fn=lambda y, labels: mean_loss(Sequential(), y, labels, batch),
    )  # fmt: skip

    def alone() -> None:
        if rank == 0:
            mean_loss(whole, x, labels).backward()

    def together() -> None:
        own.zero_grad()
        piped.step(*[x] * (rank == 0), target=labels if rank == world - 1 else None)

    found = [(timed(alone), timed(together)) for _ in range(repeated(rounds) + 1)]
    gradients = tuple(p.grad.cpu() for p in own.parameters() if p.grad is not None)
    return Piped(gradients, tuple(found[1:]))


def stages(model: Sequential, count: int) -> list[Sequential]:
    """A network's layers, in so many parts."""
    each = layers(model)
    cuts = [round(len(each) * n / count) for n in range(count + 1)]
    return [Sequential(*each[a:b]) for a, b in pairwise(cuts)]
