"""A program: one training with ever less on each worker, by ZeRO's stages, and PyTorch's own.

    data parallel  everything on every worker
    ZeRO-1         of Adam's numbers each keeps those of one piece of the weights
    ZeRO-2         of the gradients too: a layer's are summed as soon as they are there
    ZeRO-3         of the weights too: a layer is gathered, used, forgotten, twice a step
    fully_shard    the same by PyTorch (FSDP2)            Rajbhandari et al. 2019; Zhao et al. 2023

All take the same steps.
"""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.distributed.fsdp import fully_shard
from torch.func import functional_call
from torch.nn import Identity, Module, Sequential
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.utils._python_dispatch import TorchDispatchMode

from ..collectives import Wire, all_gather, cut, reduce_scatter, ring
from ..training import examples, layers, mean_loss, minibatches, network
from ..worker import Worker
from .data_parallel import summed

WAYS = "data parallel", "ZeRO-1", "ZeRO-2", "ZeRO-3", "fully_shard"


@dataclass(frozen=True)
class Kept:
    """What one worker sent in all steps, and has between two of them, in bytes."""

    losses: tuple[float, ...] = field(repr=False)
    sent: int
    weights: int
    gradients: int
    moments: int  # Adam's two means for each weight


def main(
    worker: Worker, hows: Iterable[str] = WAYS, hidden: int = 256, batch: int = 64, steps: int = 20
) -> dict[str, Kept]:
    """Train on the digits in float64, each way from the same start. {how: Kept}"""
    (x, labels), _ = examples(torch.float64)
    found = {}
    for how in hows:
        training, losses = (PyTorchs if how == "fully_shard" else Ours)(how, hidden), []
        for chosen in minibatches(len(x), batch, steps):
            mine = chosen[worker.rank :: worker.world_size]
            losses.append(training.learn(x[mine], labels[mine], batch))
        found[how] = Kept(summed(losses), *training.kept())
    return found


class Adam:
    """PyTorch's, for the vectors that it is handed: it keeps two numbers for each of theirs."""

    def __init__(self, rate: float = 0.01) -> None:
        self.rate, self.made = rate, dict[int, torch.optim.Adam]()

    def __call__(self, weights: Tensor, gradient: Tensor) -> None:
        """weights ← after a step. A vector is known again by its place in memory."""
        place = weights.data_ptr()
        if place not in self.made:
            self.made[place] = torch.optim.Adam([weights], self.rate)
        (known,) = self.made[place].param_groups[0]["params"]
        known.grad = gradient
        self.made[place].step()

    @property
    def nbytes(self) -> int:
        return sum(map(moments, self.made.values()))


class Ours:
    """The first four ways, by sends and receives alone."""

    def __init__(self, how: str, hidden: int) -> None:
        self.wire, self.adam, self.stage = Wire(), Adam(), WAYS.index(how)
        self.model = network(hidden, torch.float64, depth=3)
        self.vector = parameters_to_vector(self.model.parameters()).detach()
        self.layers = [Layer(each, self.wire, self.stage < 3) for each in layers(self.model)]

    def learn(self, x: Tensor, labels: Tensor, batch: int) -> float:
        if self.stage > 1:
            loss_of = partial(mean_loss, Identity(), labels=labels, total=batch)
            return step(self.layers, x, loss_of, self.adam, self.wire)
        vector_to_parameters(self.vector, self.model.parameters())
        loss = mean_loss(self.model, x, labels, batch)
        gradient = parameters_to_vector(torch.autograd.grad(loss, list(self.model.parameters())))
        (zero_1 if self.stage else replicated)(self.vector, gradient, self.adam, self.wire)
        return loss.item()

    def kept(self) -> tuple[int, int, int, int]:
        piece = sum(layer.piece.nbytes for layer in self.layers)
        weights, gradients = (piece if self.stage > at else self.vector.nbytes for at in (2, 1))
        return self.wire.sent, weights, gradients, self.adam.nbytes


def replicated(weights: Tensor, gradient: Tensor, adam: Callable, wire: Wire) -> None:
    """Data parallelism: all have the whole sum, and each updates everything."""
    ring(gradient, wire)
    adam(weights, gradient)


def zero_1(weights: Tensor, gradient: Tensor, adam: Callable, wire: Wire) -> None:
    """The ring with Adam in the middle: what goes round the second time is weights."""
    owned = reduce_scatter(gradient, wire)
    adam(cut(weights, wire.world_size)[owned], cut(gradient, wire.world_size)[owned])
    all_gather(weights, wire, owned)


class Layer:
    """A layer of whose weights, as one vector, this worker keeps its piece, or all."""

    def __init__(self, module: Module, wire: Wire, whole: bool) -> None:
        self.module, self.wire, self.owned = module, wire, (wire.rank + 1) % wire.world_size
        self.shapes = {name: each.shape for name, each in module.named_parameters()}
        self.vector = parameters_to_vector(module.parameters()).detach()
        self.piece = cut(self.vector, wire.world_size)[self.owned]
        if not whole:
            self.piece, self.vector = self.piece.clone(), self.vector.new_empty(0)
        self.size = sum(shape.numel() for shape in self.shapes.values())

    def gather(self) -> Tensor:
        """All of its weights, for as long as somebody holds them."""
        if len(self.vector):
            return self.vector.clone()
        vector = self.piece.new_empty(self.size)
        cut(vector, self.wire.world_size)[self.owned].copy_(self.piece)
        all_gather(vector, self.wire, self.owned)
        return vector

    def run(self, vector: Tensor, x: Tensor) -> Tensor:
        split = vector.split([shape.numel() for shape in self.shapes.values()])
        named = dict(zip(self.shapes, map(Tensor.view, split, self.shapes.values()), strict=True))
        return functional_call(self.module, named, (x,))


def step(layers: list[Layer], x: Tensor, loss_of: Callable, adam: Callable, wire: Wire) -> float:
    """A step of ZeRO-3: forward, backward, Adam, with one layer's weights at a time."""
    inputs = []
    with torch.no_grad():
        for layer in layers:
            inputs.append(x)
            x = layer.run(layer.gather(), x)  # used, and forgotten
    loss = loss_of(x.requires_grad_())
    (slope,) = torch.autograd.grad(loss, x)
    for layer, x in zip(layers[::-1], inputs[::-1], strict=True):
        vector = layer.gather().requires_grad_()
        y = layer.run(vector, x.requires_grad_())  # again: nothing inside of it was kept
        gradient, slope = torch.autograd.grad(y, (vector, x), slope)
        owned = reduce_scatter(gradient, wire)
        adam(layer.piece, cut(gradient, wire.world_size)[owned])
        if len(layer.vector):  # ZeRO-2: all keep all weights
            all_gather(layer.vector, wire, owned)
    return loss.item()


class PyTorchs:
    """fully_shard, layer by layer, and Adam on the pieces that it leaves."""

    def __init__(self, how: str, hidden: int) -> None:
        each = layers(network(hidden, torch.float64, depth=3))
        self.model = Sequential(*each)
        for part in (*each, self.model):
            fully_shard(part)
        self.adam, self.counted = torch.optim.Adam(self.model.parameters(), 0.01), Counted()

    def learn(self, x: Tensor, labels: Tensor, batch: int) -> float:
        self.adam.zero_grad()
        with self.counted, warnings.catch_warnings(action="ignore"):  # on views: nobody writes them
            loss = mean_loss(self.model, x, labels, batch)
            (loss * dist.get_world_size()).backward()  # it takes the workers' mean, we their sum
        self.adam.step()
        return loss.item()

    def kept(self) -> tuple[int, int, int, int]:
        weights: list[Any] = list(self.model.parameters())
        own, slopes = (sum(each.to_local().nbytes for each in some)
                       for some in (weights, [each.grad for each in weights]))  # fmt: skip
        return self.counted.sent, own, slopes, moments(self.adam)


class Counted(TorchDispatchMode):
    """What PyTorch hands its backend, as a ring sends it: every piece but one."""

    sent, PIECE = 0, {"c10d::_allgather_base_": 1, "c10d::_reduce_scatter_base_": 0}

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if op.name() in self.PIECE:
            self.sent += (dist.get_world_size() - 1) * args[self.PIECE[op.name()]].nbytes
        return op(*args, **(kwargs or {}))


def moments(adam: torch.optim.Adam) -> int:
    """Bytes of what it keeps; of a sharded weight, of the own piece."""
    kept = [each for state in adam.state.values() for each in state.values() if each.ndim]
    return sum(getattr(each, "to_local", lambda each=each: each)().nbytes for each in kept)
