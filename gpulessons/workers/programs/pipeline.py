"""A program: pipeline parallelism. Each worker holds a stage of the network and passes results on.

Activations go to the next stage, gradients come back, micro-batch by micro-batch, in the order of a
schedule (schedules.py). No worker ever sees the whole network. The gradients of the micro-batches
add up to those of the minibatch.
"""

from collections.abc import Sequence
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
    layers = stages(hidden, blocks, worker.world_size, number)[worker.rank].to(worker.device)
    x_parts, label_parts = (a[:batch].to(worker.device).tensor_split(micro) for a in (x, labels))
    stage = Stage(worker, layers, x_parts, label_parts, hidden, process_groups())
    for _ in range(rounds):
        layers.zero_grad()
        stage.run(named(schedule)(worker.rank, worker.world_size, micro))
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
        self, worker: Worker, layers: Sequential, x: Sequence[Tensor], labels: Sequence[Tensor],
        hidden: int, groups: dict[str, dist.ProcessGroup],
    ) -> None:  # fmt: skip
        self.rank, self.last = worker.rank, worker.world_size - 1
        self.layers, self.x, self.labels, self.hidden = layers, x, labels, hidden
        self.total, self.groups = sum(map(len, x)), groups

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
        x = self.x[m] if self.rank == 0 else self.receive(m, FORWARD).requires_grad_()
        start = time()
        y = self.layers(x)
        self.done(FORWARD, m, start)
        self.activations[m] = x, y
        self.kept = max(self.kept, len(self.activations))
        if self.rank < self.last:
            self.send(y.detach(), FORWARD)

    def backward(self, m: int) -> None:
        x, y = self.activations.pop(m)
        gradient = self.receive(m, BACKWARD) if self.rank < self.last else None
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

    def receive(self, m: int, way: str) -> Tensor:
        """What the stage before, or the next one, sends for a micro-batch."""
        room = self.x[m].new_empty((len(self.x[m]), self.hidden))
        dist.recv(room, self.rank - 1 if way == FORWARD else self.rank + 1, self.groups[way])
        settle()  # waiting is not work
        return room

    def done(self, kind: str, m: int, start: float) -> None:
        settle()
        self.tasks.append(Task(self.rank, kind, m, start - self.began, time() - self.began))
