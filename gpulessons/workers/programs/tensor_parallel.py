"""A program: tensor parallelism. Two layers, both cut, so that one all-reduce is enough.

    h = sigmoid(x W1ᵀ + b1)     each worker has some rows of W1: some of the hidden units, whole
    y = h W2ᵀ + b2              and the columns of W2 that these units meet: a part of every sum

The parts of y are summed by one all-reduce; on the way back the gradients of x by another. Nothing
else is sent. Shoeybi et al., "Megatron-LM", 2019
"""

from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch.autograd.function import FunctionCtx
from torch.nn.functional import cross_entropy

from ..training import CLASSES, PIXELS, examples
from ..worker import Worker


@dataclass(frozen=True)
class Split:
    """What one worker has after a forward and a backward pass."""

    loss: float
    bytes: int  # summed over the workers, in both directions
    gradients: dict[str, list] = field(repr=False)  # of its parts of w1, b1, w2, and of b2 and x


def main(worker: Worker, hidden: int = 256, batch: int = 64, dtype: str = "float64") -> Split:
    """One forward and one backward pass over the first `batch` digits; returns a Split."""
    (x, labels), _ = examples(getattr(torch, dtype))
    whole = parameters(hidden, x.dtype)
    mine = part(whole, worker.rank, worker.world_size)
    x = x[:batch].clone().requires_grad_()
    leaves = {name: p.clone().requires_grad_() for name, p in mine.items()}
    h = torch.sigmoid(Enter.apply(x) @ leaves["w1"].T + leaves["b1"])
    y = Leave.apply(h @ leaves["w2"].T) + leaves["b2"]
    loss = cross_entropy(y, labels[:batch])
    loss.backward()
    leaves["x"] = x
    gradients = {name: leaf.grad.tolist() for name, leaf in leaves.items() if leaf.grad is not None}
    return Split(loss.item(), y.nbytes + x.nbytes, gradients)


def parameters(hidden: int, dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """The whole network, the same on every worker."""
    torch.manual_seed(0)
    shapes = {"w1": (hidden, PIXELS), "b1": (hidden,), "w2": (CLASSES, hidden), "b2": (CLASSES,)}
    return {name: torch.randn(shape, dtype=dtype) / 8 for name, shape in shapes.items()}


def part(
    whole: dict[str, torch.Tensor], rank: int, world_size: int
) -> dict[str, torch.Tensor]:
    """This worker's hidden units: rows of w1 and b1, columns of w2. All have b2."""
    units = torch.arange(len(whole["b1"])).tensor_split(world_size)[rank]
    return {
        **{"w1": whole["w1"][units], "b1": whole["b1"][units]},
        **{"w2": whole["w2"][:, units], "b2": whole["b2"]},
    }


class Enter(torch.autograd.Function):
    """Megatron-LM's f: forward nothing happens, backward the gradients of x are summed."""

    @staticmethod
    def forward(context: FunctionCtx, x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    @staticmethod
    def backward(context: FunctionCtx, gradient: torch.Tensor) -> torch.Tensor:
        gradient = gradient.contiguous().clone()  # it may be another's, too
        dist.all_reduce(gradient)
        return gradient


class Leave(torch.autograd.Function):
    """Megatron-LM's g: forward the parts of y are summed, backward nothing happens."""

    @staticmethod
    def forward(context: FunctionCtx, part: torch.Tensor) -> torch.Tensor:
        part = part.contiguous().clone()
        dist.all_reduce(part)
        return part

    @staticmethod
    def backward(context: FunctionCtx, gradient: torch.Tensor) -> torch.Tensor:
        return gradient
