"""A program: synchronous SGD. Every worker has the whole network and a share of each minibatch.

The gradient of a minibatch is a sum over its examples, so it does not matter who adds up which:
after the sum over the workers all take the very step that one worker with the whole batch would.
"""

from dataclasses import dataclass, field
from time import perf_counter, sleep, time
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor
from torch.futures import Future
from torch.nn import Module, Sequential, Sigmoid
from torch.nn.parallel import DistributedDataParallel

from ..collectives import Wire
from ..emulated import wire_of
from ..gradients import WAYS
from ..training import Log, common_start, examples, mean_loss, minibatches, network
from ..worker import Worker

WARM = 1  # steps until everything slow has happened once
MEGABYTES = {"DDP": 0.07, "DDP, one bucket": 1_000}  # in a bucket; DDP's own default: 25


@dataclass(frozen=True)
class Trained:
    """What one worker has after its training."""

    losses: tuple[float, ...] = field(repr=False)  # of each minibatch, over all its examples
    seconds: float  # of each step after the first WARM, on average
    bytes: int  # of gradients, as packed, that it handed over to be summed, in all steps
    parameters: tuple[float, ...] = field(repr=False)  # the first hundred of each, to compare
    events: tuple[tuple[str, float, float], ...] = field(repr=False)  # (kind, start, stop), warm


def main(
    worker: Worker, how: str = "flat", batch: int = 64, steps: int = 60, hidden: int = 256,
    depth: int = 2, rate: float = 0.5, dtype: str = "float32", micro: int = 1,
    link: tuple[float, float] | None = None, pace: float = 0.0,
) -> Trained:  # fmt: skip
    """Train on the digits; returns a Trained.

    how: one of gradients.WAYS, or of MEGABYTES. batch: examples in a minibatch, over all workers:
    each takes every world-th. depth: how many hidden layers there are. micro: into so many
    micro-batches each worker cuts its share, and sends once. link: (latency, bandwidth), emulated.
    pace: seconds that an example takes on its way there and back, slept: an emulated computer.
    """
    number = getattr(torch, dtype)
    x, labels = (each.to(worker.device) for each in examples(number)[0])
    model = paced(network(hidden, number, depth=depth), pace / depth).to(worker.device)
    learner = (Bucketed if how in MEGABYTES else ByHand)(model, how, batch, wire_of(link))
    optimizer, losses = torch.optim.SGD(model.parameters(), rate), list[float]()
    for done, chosen in enumerate(minibatches(len(x), batch, steps)):
        if done in (0, WARM):
            learner.log, began = Log(common_start(worker.device)), perf_counter()
        mine = chosen[worker.rank :: worker.world_size]
        optimizer.zero_grad(set_to_none=False)
        parts = zip(x[mine].chunk(micro), labels[mine].chunk(micro), strict=True)
        losses.append(learner.learn(*parts))
        with learner.log.during("compute"):
            optimizer.step()
        worker.progress(done + 1, steps, how)
    seconds = (perf_counter() - began) / (steps - WARM)
    return Trained(summed(losses), seconds, learner.bytes, sample(model), tuple(learner.log.events))


def backward(model: Module, x: Tensor, labels: Tensor, batch: int) -> float:
    """Add these examples' gradients to the model's; returns their share of the batch's loss."""
    loss = mean_loss(model, x, labels, batch)
    loss.backward()
    return loss.item()


class Sleep(torch.autograd.Function):
    """Passes its input on: a third of an example's seconds on the way there, the rest back."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, seconds: float) -> Tensor:
        ctx.seconds = 2 * seconds * len(x) / 3
        sleep(ctx.seconds / 2)
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:  # type: ignore[override]
        sleep(ctx.seconds)
        return gradient, None


def paced(model: Sequential, seconds: float) -> Sequential:
    """The same network, whose hidden layers each take so long for an example."""
    for layer in model if seconds else ():
        if isinstance(layer, Sigmoid):
            layer.register_forward_hook(lambda _, given, out: Sleep.apply(out, seconds))
    return model


class ByHand:
    """Backward first; then the gradients meet."""

    def __init__(self, model: Module, how: str, batch: int, wire: Wire) -> None:
        self.model, self.batch, self.log = model, batch, Log()
        self.reducer = WAYS[how](model.parameters(), wire)

    @property
    def bytes(self) -> int:
        return self.reducer.bytes

    def learn(self, *parts: tuple[Tensor, Tensor]) -> float:
        """Leave the whole minibatch's gradients in the model; returns this share of the loss."""
        with self.log.during("compute"):
            share = sum(backward(self.model, *part, self.batch) for part in parts)
        with self.log.during("communicate"):
            self.reducer.reduce()
        return share


class Bucketed:
    """DistributedDataParallel: each bucket of gradients leaves as soon as it is full."""

    def __init__(self, model: Module, how: str, batch: int, wire: Wire) -> None:
        self.wire = wire
        self.model = DistributedDataParallel(model, bucket_cap_mb=MEGABYTES[how])
        self.batch, self.log, self.bytes = batch, Log(), 0
        self.model.register_comm_hook(None, self.sum)

    def learn(self, *parts: tuple[Tensor, Tensor]) -> float:
        start = time()
        with self.model.no_sync():  # gradients add up here, and nothing is sent
            share = sum(backward(self.model, *part, self.batch) for part in parts[:-1])
        share += backward(self.model, *parts[-1], self.batch)  # returns when all buckets are back
        self.log.add("compute", start, self.filled)  # what follows is waiting, on a CPU
        return share

    def sum(self, _: object, bucket: dist.GradBucket) -> Future[Tensor]:
        """One bucket's all-reduce: a sum, since the loss is divided by the whole batch already."""
        gradient, start = bucket.buffer(), time()
        self.filled = start
        self.bytes += gradient.nbytes

        def arrived(future: Future[Tensor]) -> Tensor:
            if not gradient.is_cuda:  # NCCL's futures come back at once: there is nothing to see
                self.log.add("communicate", start)
            return future.value()

        return self.wire.begin_all_reduce(gradient).then(arrived)


def summed(losses: list[float]) -> tuple[float, ...]:
    total = torch.tensor(losses, dtype=torch.float64)
    dist.all_reduce(total)
    return tuple(total.tolist())


def sample(model: Module) -> tuple[float, ...]:
    return tuple(v for p in model.parameters() for v in p.detach().reshape(-1)[:100].tolist())
