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
from torch.nn import Linear, Sequential, Sigmoid
from torch.nn.functional import cross_entropy

from ..schedules import BACKWARD, FORWARD, Task, named
from ..training import CLASSES, PIXELS, examples, settle


@dataclass(frozen=True)
class Piped:
    """What one stage has after a minibatch."""

    loss: float  # of the whole minibatch; on the last stage only, 0 elsewhere
    kept: int  # micro-batches whose activations it held at once, at most
    gradients: tuple = field(repr=False)  # nested lists of numbers, one for each parameter here
    tasks: tuple[Task, ...] = field(repr=False)  # of the last minibatch; seconds since it began


def main(
    worker, schedule="GPipe", micro=4, batch=64, hidden=256, blocks=8, dtype="float64", turns=2
):
    """Run a minibatch `turns` times (the first warms up) and return the last one's Piped."""
    dtype = getattr(torch, dtype)
    (x, labels), _ = examples(dtype)
    layers = stages(hidden, blocks, worker.world_size, dtype)[worker.rank].to(worker.device)
    x, labels = (a[:batch].to(worker.device).tensor_split(micro) for a in (x, labels))
    order, ways = named(schedule)(worker.rank, worker.world_size, micro), directions()
    for _ in range(turns):
        layers.zero_grad()
        stage = Stage(worker, layers, x, labels, hidden, ways)
        stage.run(order)
    gradients = tuple(p.grad.tolist() for p in layers.parameters())
    return Piped(stage.loss, stage.most, gradients, tuple(stage.tasks))


def stages(hidden, blocks, count, dtype=torch.float64, seed=0):
    """A network of `blocks` dense layers and two ends, in `count` stages; the same for all."""
    torch.manual_seed(seed)
    middle = [Sequential(Linear(hidden, hidden), Sigmoid()) for _ in range(blocks)]
    layers = [Linear(PIXELS, hidden), *middle, Linear(hidden, CLASSES)]
    if not 0 < count <= len(layers):
        raise ValueError(f"{len(layers)} layers make no {count} stages: raise blocks.")
    cuts = [round(len(layers) * n / count) for n in range(count + 1)]
    return [Sequential(*layers[a:b]).to(dtype) for a, b in pairwise(cuts)]


def directions():
    """A group for activations and one for gradients: NCCL keeps to the order within a group."""
    return {FORWARD: dist.new_group(), BACKWARD: dist.new_group()}


class Stage:
    """One worker's part of a minibatch. ways: what directions() has made."""

    def __init__(self, worker, layers, x, labels, hidden, ways):
        self.rank, self.last = worker.rank, worker.world_size - 1
        self.layers, self.x, self.labels, self.hidden = layers, x, labels, hidden
        self.total, self.ways = sum(map(len, x)), ways
        self.held, self.sending, self.tasks = {}, [], []
        self.loss, self.most = 0.0, 0

    def run(self, order):
        self.began = together(self.x[0].device)
        for kind, m in order:
            self.forward(m) if kind == FORWARD else self.backward(m)
        for sending, _ in self.sending:
            sending.wait()

    def forward(self, m):
        x = self.x[m] if self.rank == 0 else self.receive(m, FORWARD).requires_grad_()
        start = time()
        y = self.layers(x)
        self.done(FORWARD, m, start)
        self.held[m] = x, y
        self.most = max(self.most, len(self.held))
        if self.rank < self.last:
            self.send(y.detach(), FORWARD)

    def backward(self, m):
        x, y = self.held.pop(m)
        coming = self.receive(m, BACKWARD) if self.rank < self.last else None
        start = time()
        if self.rank == self.last:
            loss = cross_entropy(y, self.labels[m], reduction="sum") / self.total
            self.loss += loss.item()
            loss.backward()
        else:
            y.backward(coming)
        self.done(BACKWARD, m, start)
        if self.rank:
            self.send(x.grad, BACKWARD)

    def send(self, tensor, way):
        """Begin to send to the next stage, or back, and keep the tensor: it may not have gone."""
        to = self.rank + 1 if way == FORWARD else self.rank - 1
        self.sending.append((dist.isend(tensor, to, self.ways[way]), tensor))

    def receive(self, m, way):
        """What the stage before, or the next one, sends for a micro-batch."""
        room = self.x[m].new_empty((len(self.x[m]), self.hidden))
        dist.recv(room, self.rank - 1 if way == FORWARD else self.rank + 1, self.ways[way])
        settle()  # waiting is not work
        return room

    def done(self, kind, m, start):
        settle()
        self.tasks.append(Task(self.rank, kind, m, start - self.began, time() - self.began))


def together(device):
    """Meet the others, and agree on a moment to count from: the time on worker 0's clock.

    On one machine all have the same clock; on several, as nearly as the hosts keep theirs.
    """
    dist.barrier()
    moment = torch.tensor(time(), dtype=torch.float64, device=device)
    dist.broadcast(moment, 0)
    return moment.item()
