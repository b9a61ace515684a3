"""What every worker of the training programs shares: a network, its share of a batch, a log."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter, time

import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import Linear, Module, Sequential, Sigmoid
from torch.nn.functional import cross_entropy

from gpulessons.models.data import digits

PIXELS, CLASSES = 64, 10


def network(
    hidden: int, dtype: torch.dtype = torch.float32, depth: int = 2, seed: int = 0
) -> Sequential:
    """Hidden layers, `depth` of them, for the digits; the same weights on every worker."""
    torch.manual_seed(seed)
    widths = [PIXELS, *[hidden] * depth]
    layers = [layer for a, b in pairwise(widths) for layer in (Linear(a, b), Sigmoid())]
    return Sequential(*layers, Linear(hidden, CLASSES)).to(dtype)


def layers(model: Sequential) -> list[Sequential]:
    """Each layer that has weights, with what follows it."""
    each = list(model)
    return [Sequential(*each[at : at + 2]) for at in range(0, len(each), 2)]


def examples(dtype: torch.dtype = torch.float32) -> list[tuple[Tensor, Tensor]]:
    """((x, labels), (held-out x, labels)): pixels from 0 to 4 as the network takes them."""

    def tensors(images: NDArray, labels: NDArray) -> tuple[Tensor, Tensor]:
        x = torch.tensor(images.reshape(len(images), -1) / 4, dtype=dtype)
        return x, torch.tensor(labels).long()

    return [tensors(*part) for part in digits()]


def minibatches(size: int, batch: int, steps: int, seed: int = 0) -> Iterator[Tensor]:
    """Yield the indices of one minibatch after another: the same on every worker."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        yield torch.randint(size, (batch,), generator=generator)


def mean_loss(model: Module, x: Tensor, labels: Tensor, total: int | None = None) -> Tensor:
    """Cross-entropy, summed over these examples and divided by `total` (their own number)."""
    return cross_entropy(model(x), labels, reduction="sum") / (total or len(x))


def settle() -> None:
    """Wait for a GPU, where one is used: it does what it is asked later."""
    if torch.cuda.is_initialized():
        torch.cuda.current_stream().synchronize()  # not what is still being sent


def common_start(device: torch.device) -> float:
    """Meet the others, and agree on a moment to count from: the time on worker 0's clock.

    On one machine all have the same clock; on several, as nearly as the hosts keep theirs.
    """
    dist.barrier()
    moment = torch.tensor(time(), dtype=torch.float64, device=device)
    dist.broadcast(moment, 0)
    return moment.item()


def timed(work: Callable[[], object]) -> float:
    """Seconds until the last worker is done; all begin at once."""
    dist.barrier()
    began = perf_counter()
    work()
    settle()
    return slowest(perf_counter() - began)


def slowest(seconds: float) -> float:
    """The longest that any worker took."""
    longest = torch.tensor(seconds, dtype=torch.float64)
    dist.all_reduce(longest, dist.ReduceOp.MAX)
    return longest.item()


@dataclass
class Log:
    """What this worker did when: (kind, start, stop) in seconds since `began`, a common_start."""

    began: float = field(default_factory=time)
    events: list[tuple[str, float, float]] = field(default_factory=list)

    @contextmanager
    def during(self, kind: str) -> Iterator[None]:
        start = time()
        yield
        settle()
        self.add(kind, start)

    def add(self, kind: str, start: float, stop: float | None = None) -> None:
        """stop: now, unless given."""
        stop = time() if stop is None else stop
        self.events.append((kind, start - self.began, stop - self.began))
