"""A program: pipeline parallelism. Each worker holds a stage of the network and passes results on.

Activations go to the next stage, gradients come back, micro-batch by micro-batch, in the order of a
schedule (schedules.py). No worker ever sees the whole network. The gradients of the micro-batches
add up to those of the minibatch.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from time import time

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn import Linear, Sequential, Sigmoid
from torch.nn.functional import cross_entropy

from ..schedules import BACKWARD, FORWARD, Order, Task, named
from ..training import CLASSES, PIXELS, common_start, examples, settle
from ..worker import Worker


@dataclass(frozen=True)
class Piped:
    """What one stage has after a minibatch."""

    loss: float  # of the whole minibatch; on the last stage only, 0 elsewhere
    kept: int  # micro-batches whose activations it held at once, at most
    gradients: tuple = field(repr=False)  # nested lists of numbers, one for each parameter here
    tasks: tuple[Task, ...] = field(repr=False)  # of the last minibatch; seconds since it began


def main(
    worker: Worker, schedule: str = "GPipe", micro: int = 4, batch: int = 64, hidden: int = 256,
    blocks: int = 8, dtype: str = "float64", rounds: int = 2,
) -> Piped:  # fmt: skip
    """Run a minibatch `rounds` times (the first warms up) and return the last one's Piped."""
    number = getattr(torch, dtype)
    (x, labels), _ = examples(number)
    rank, world, data = worker.rank, worker.world_size, (x[:batch], labels[:batch])
    layers = stages(hidden, blocks, world, number)[rank]
    stage = Stage(rank, world, layers, data, micro, process_groups(), worker.device)
    for _ in range(rounds):
        layers.zero_grad()
        stage.run(named(schedule)(rank, world, micro))
    gradients = tuple(p.grad.tolist() for p in layers.parameters() if p.grad is not None)
    return Piped(stage.loss, stage.kept, gradients, tuple(stage.tasks))


def stages(
    hidden: int, blocks: int, count: int, dtype: torch.dtype = torch.float64
) -> list[Sequential]:
    """A network of `blocks` dense layers and two ends, in `count` stages; the same for all."""
    torch.manual_seed(0)
    middle = [Sequential(Linear(hidden, hidden), Sigmoid()) for _ in range(blocks)]
    layers = [Linear(PIXELS, hidden), *middle, Linear(hidden, CLASSES)]
    if not 0 < count <= len(layers):
        raise ValueError(f"{len(layers)} layers make no {count} stages: raise blocks.")
    cuts = [round(len(layers) * n / count) for n in range(count + 1)]
    return [Sequential(*layers[a:b]).to(dtype) for a, b in pairwise(cuts)]


def process_groups() -> dict[str, dist.ProcessGroup]:
    """One for activations, one for gradients: NCCL keeps to the order within a group."""
    return {FORWARD: dist.new_group(), BACKWARD: dist.new_group()}


class Stage:
    """One worker's part of the network, and its minibatch in micro-batches."""

    def __init__(
        self, rank: int, world_size: int, layers: Sequential, data: tuple[Tensor, Tensor],
        micro: int, groups: dict[str, dist.ProcessGroup], device: torch.device,
    ) -> None:  # fmt: skip
        self.rank, self.last, self.groups = rank, world_size - 1, groups
        self.layers, self.total = layers.to(device), len(data[0])
        self.x, self.labels = (each.to(device).tensor_split(micro) for each in data)

    def run(self, order: Order) -> None:
        """One minibatch, forward and backward."""
        self.activations: dict[int, tuple[Tensor, Tensor]] = {}
        self.sending: list[tuple[dist.Work | None, Tensor]] = []
        self.tasks: list[Task] = []
        self.loss, self.kept = 0.0, 0
        self.began = common_start(self.x[0].device)
        for kind, m in order:
            self.forward(m) if kind == FORWARD else self.backward(m)
        for sending, _ in self.sending:
            if sending:
                sending.wait()

    def forward(self, m: int) -> None:
        x = self.x[m]
        if self.rank > 0:
            columns = next(self.layers.parameters()).shape[1]
            x = self.receive(x.new_empty(len(x), columns), FORWARD).requires_grad_()
        start = time()
        y = self.layers(x)
        self.done(FORWARD, m, start)
        self.activations[m] = x, y
        self.kept = max(self.kept, len(self.activations))
        if self.rank < self.last:
            self.send(y.detach(), FORWARD)

    def backward(self, m: int) -> None:
        x, y = self.activations.pop(m)
        gradient = self.receive(torch.empty_like(y), BACKWARD) if self.rank < self.last else None
        start = time()
        if self.rank == self.last:
            loss = cross_entropy(y, self.labels[m], reduction="sum") / self.total
            self.loss += loss.item()
            loss.backward()
        else:
            y.backward(gradient)
        self.done(BACKWARD, m, start)
        if x.grad is not None:  # the examples have none
            self.send(x.grad, BACKWARD)

    def send(self, tensor: Tensor, way: str) -> None:
        """Begin to send to the next stage, or back, and keep the tensor: it may not have gone."""
        to = self.rank + 1 if way == FORWARD else self.rank - 1
        self.sending.append((dist.isend(tensor, to, self.groups[way]), tensor))

    def receive(self, room: Tensor, way: str) -> Tensor:
        """What the stage before, or the next one, sends, in this room for it."""
        dist.recv(room, self.rank - 1 if way == FORWARD else self.rank + 1, self.groups[way])
        settle()  # waiting is not work
        return room

    def done(self, kind: str, m: int, start: float) -> None:
        settle()
        self.tasks.append(Task(self.rank, kind, m, start - self.began, time() - self.began))
