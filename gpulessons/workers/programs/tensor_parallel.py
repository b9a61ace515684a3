"""A program: tensor parallelism, by PyTorch's own: two layers, both cut, one all-reduce each way.

    h = sigmoid(x W1ᵀ + b1)     ColwiseParallel: each worker has some of the hidden units, whole
    y = h W2ᵀ + b2              RowwiseParallel: and the columns of W2 that these units meet

The parts of y are summed; backward the gradients of x are. (Megatron-LM, Shoeybi et al. 2019)
"""

from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from ..training import examples, mean_loss, network
from ..worker import Worker


@dataclass(frozen=True)
class Split:
    """What one worker has after a forward and a backward pass."""

    loss: float
    calls: int  # of all-reduces, in both directions
    shapes: dict[str, tuple[int, ...]]  # of its parts of the weights
    gradients: dict[str, Tensor] = field(repr=False)  # put together again


def main(worker: Worker, hidden: int = 256, batch: int = 64, dtype: str = "float64") -> Split:
    """One forward and one backward pass over the first `batch` digits; returns a Split."""
    (x, labels), _ = examples(getattr(torch, dtype))
    leaf = x[:batch].requires_grad_()  # as if layers came before
    mesh = init_device_mesh(worker.device.type, (worker.world_size,))
    model = network(hidden, x.dtype, depth=1).to(worker.device)
    parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    with CommDebugMode() as counted:
        loss = mean_loss(model, leaf.to(worker.device), labels[:batch].to(worker.device))
        loss.backward()
    weights: dict[str, Any] = dict(model.named_parameters())  # DTensors
    shapes = {name: tuple(p.to_local().shape) for name, p in weights.items()}
    gradients = {name: p.grad.full_tensor().cpu() for name, p in weights.items()}
    gradients["x"] = cast("Tensor", leaf.grad)
    return Split(loss.item(), counted.get_total_counts(), shapes, gradients)
