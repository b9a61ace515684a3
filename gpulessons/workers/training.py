"""What every worker of the training programs shares: a network, its share of a batch, a log."""

from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter

import torch
import torch.distributed as dist
from torch.nn import Linear, Sequential, Sigmoid
from torch.nn.functional import cross_entropy

from gpulessons.models.data import digits

PIXELS, CLASSES = 64, 10


def network(hidden, dtype=torch.float32, seed=0, depth=2):
    """Hidden layers, `depth` of them, for the digits; the same weights for the same seed."""
    torch.manual_seed(seed)
    widths = [PIXELS, *[hidden] * depth]
    layers = [layer for a, b in pairwise(widths) for layer in (Linear(a, b), Sigmoid())]
    return Sequential(*layers, Linear(hidden, CLASSES)).to(dtype)


def examples(dtype=torch.float32):
    """((x, labels), (held-out x, labels)): pixels from 0 to 4 as the network takes them."""

    def tensors(images, labels):
        x = torch.tensor(images.reshape(len(images), -1) / 4, dtype=dtype)
        return x, torch.tensor(labels).long()

    return [tensors(*part) for part in digits()]


def minibatches(size, batch, steps, seed=0):
    """Yield the indices of one minibatch after another: the same on every worker."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        yield torch.randint(size, (batch,), generator=generator)


def mean_loss(model, x, labels, total=None):
    """Cross-entropy, summed over these examples and divided by `total` (their own number)."""
    return cross_entropy(model(x), labels, reduction="sum") / (total or len(x))


def settle():
    """Wait for a GPU, where one is used: it does what it is asked later."""
    if torch.cuda.is_initialized():
        torch.cuda.current_stream().synchronize()  # not what is still being sent


def slowest(seconds):
    """The longest that any worker took."""
    seconds = torch.tensor(seconds, dtype=torch.float64)
    dist.all_reduce(seconds, dist.ReduceOp.MAX)
    return seconds.item()


@dataclass
class Log:
    """What this worker did when: (kind, start, stop) in seconds since `began`."""

    began: float = field(default_factory=perf_counter)
    events: list = field(default_factory=list)

    @contextmanager
    def during(self, kind):
        start = perf_counter()
        yield
        settle()
        self.add(kind, start)

    def add(self, kind, start, stop=None):
        """stop: now, unless told otherwise."""
        stop = perf_counter() if stop is None else stop
        self.events.append((kind, start - self.began, stop - self.began))
