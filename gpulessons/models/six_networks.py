"""The six networks of the 2017 comparison of frameworks, in PyTorch: one step of training each.

    FCN-5, FCN-8     3 or 6 hidden layers of 2,048, sigmoid; 26,752 inputs and outputs
    AlexNet          three convolutions for pictures of 32 × 32 (CIFAR-10), no normalization
    ResNet           56 layers, 0.85 million parameters, the same pictures
    LSTM-32, -64     2 layers of 256 on texts of 32 or 64 words, vocabulary of 10,000

The first comparison is S. Shi et al., "Benchmarking State-of-the-Art Deep Learning Software Tools",
2016 (arXiv 1608.07249); what the networks look like is from its authors' files, hclhkbu/dlbench.
Weights, inputs and labels are random numbers: how long a step takes does not depend on them.

    sizes = [fitted(size) for size in FULL.values()]
    rows = [timed(size) for size in sizes]
"""

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from statistics import median
from time import perf_counter

import torch
from torch import nn
from torch.nn.functional import avg_pool2d, cross_entropy, max_pool2d, pad, relu
from torch.utils.flop_counter import FlopCounterMode

from gpulessons.backends import torch_cpu, torch_gpu
from gpulessons.hardware import budget, cores, free_memory, machine, threads


@dataclass(frozen=True)
class Size:
    """One of the six: how many examples a minibatch has, and by how much its layers are narrower
    than published (1: in full)."""

    name: str
    batch: int
    narrower: int = 1

    def shrunk(self) -> str:
        """What was made smaller, in words; "" where nothing was."""
        full = FULL[self.name]
        parts = [f"batch {self.batch} instead of {full.batch}"] * (self.batch < full.batch)
        parts += [f"layers 1/{self.narrower} as wide"] * (self.narrower > 1)
        return ", ".join(parts)


# -- The networks. Each takes what its widths are divided by.


def fully_connected(hidden, narrower=1):
    """(n, 26,752) float32 to (n, 26,752): hidden layers of 2,048 with a sigmoid each."""
    widths = [26_752 // narrower, *[2_048 // narrower] * hidden]
    layers = [
        part for inputs, outputs in pairwise(widths)
        for part in (nn.Linear(inputs, outputs), nn.Sigmoid())
    ]  # fmt: skip
    return nn.Sequential(*layers, nn.Linear(widths[-1], widths[0]))


class AlexNet(nn.Module):
    """(n, 3, 32, 32) to (n, 10): the small AlexNet for CIFAR-10, without its normalizations."""

    def __init__(self, narrower=1):
        super().__init__()
        few, many = 32 // narrower, 64 // narrower
        self.convolutions = nn.ModuleList(
            nn.Conv2d(before, after, 5, padding=2)
            for before, after in ((3, few), (few, few), (few, many))
        )
        self.last = nn.Linear(4 * 4 * many, 10)

    def forward(self, x):
        first, second, third = self.convolutions
        x = relu(max_pool2d(first(x), 3, 2, ceil_mode=True))
        x = max_pool2d(relu(second(x)), 3, 2, ceil_mode=True)
        x = avg_pool2d(relu(third(x)), 3, 2, ceil_mode=True)
        return self.last(x.flatten(1))


class Block(nn.Module):
    """relu(x + two convolutions of x). Where the second half begins, x is thinned to fit."""

    def __init__(self, before, after):
        super().__init__()
        self.stride, self.more = (1, 0) if before == after else (2, after - before)
        self.first = nn.Conv2d(before, after, 3, self.stride, 1, bias=False)
        self.second = nn.Conv2d(after, after, 3, padding=1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(after), nn.BatchNorm2d(after)])

    def forward(self, x):
        y = self.norms[1](self.second(relu(self.norms[0](self.first(x)))))
        if self.more:  # every other pixel, and channels of zeros: no parameters (He et al., 2015)
            x = pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.more // 2, self.more - self.more // 2))
        return relu(x + y)


def residual(narrower=1, blocks=9):
    """(n, 3, 32, 32) to (n, 10): ResNet-56, three times nine blocks of 16, 32 and 64 channels."""
    widths = [16 // narrower, 32 // narrower, 64 // narrower]
    layers = [nn.Conv2d(3, widths[0], 3, padding=1, bias=False), nn.BatchNorm2d(widths[0])]
    before = widths[0]
    for width in widths:
        for _ in range(blocks):
            layers.append(Block(before, width))
            before = width
    return nn.Sequential(*layers[:2], nn.ReLU(), *layers[2:], nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(before, 10))  # fmt: skip


class Recurrent(nn.Module):
    """(n, words) of whole numbers to (n × words, vocabulary): which word comes next."""

    def __init__(self, narrower=1):
        super().__init__()
        vocabulary, hidden = 10_000 // narrower, 256 // narrower
        self.words = nn.Embedding(vocabulary, hidden)
        self.layers = nn.LSTM(hidden, hidden, num_layers=2, batch_first=True)
        self.last = nn.Linear(hidden, vocabulary)

    def forward(self, x):
        return self.last(self.layers(self.words(x))[0]).flatten(0, 1)


# How each is made, the shape of an example, how many answers it has; and how many examples are in a
# minibatch. The widths are the comparison's, the batches this course's.
KINDS = {
    "FCN-5": (lambda narrower: fully_connected(3, narrower), (26_752,), 26_752, 64),
    "FCN-8": (lambda narrower: fully_connected(6, narrower), (26_752,), 26_752, 64),
    "AlexNet": (AlexNet, (3, 32, 32), 10, 16),
    "ResNet": (residual, (3, 32, 32), 10, 16),
    "LSTM-32": (Recurrent, (32,), 10_000, 128),
    "LSTM-64": (Recurrent, (64,), 10_000, 128),
}
FULL = {name: Size(name, batch) for name, (*_, batch) in KINDS.items()}


# -- One step of training.


class Trainee:
    """A network with a minibatch and an optimizer: all that a step needs.

    size: one of FULL, or a smaller one; device: "cpu", "cuda" … The same seed gives the same
    weights, inputs and labels on every device.
    """

    def __init__(self, size, device="cpu", seed=0):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.module = KINDS[size.name][0](size.narrower).to(device)
            x, labels = minibatch(size)
        self.size, self.x, self.labels = size, x.to(device), labels.to(device)
        self.optimizer = torch.optim.SGD(self.module.parameters(), lr=0.01)

    @property
    def parameters(self):
        """How many numbers it learns."""
        return sum(each.numel() for each in self.module.parameters())


def minibatch(size, device="cpu"):
    """(x, labels): random examples of the right shape and type, and random answers."""
    make, shape, classes, _ = KINDS[size.name]
    classes = max(10, classes // size.narrower)
    if make is Recurrent:  # every word has an answer
        x, labels = torch.randint(classes, (2, size.batch, *shape), device=device)
        return x, labels.flatten()
    shape = shape if classes == 10 else (classes,)
    x = torch.randn(size.batch, *shape, device=device)
    return x, torch.randint(classes, (size.batch,), device=device)


def step(trainee):
    """Learn from the minibatch once: forward, loss, backward, update. Returns the loss, a tensor:
    on a GPU nothing here waits for it."""
    trainee.optimizer.zero_grad()
    loss = cross_entropy(trainee.module(trainee.x), trainee.labels)
    loss.backward()
    trainee.optimizer.step()
    return loss.detach()


# -- How large a network this machine can take.


@dataclass(frozen=True)
class Cost:
    """What a step needs: operations in its products, and bytes held at once."""

    parameters: int
    flops: int
    memory: int
    layers: int

    def seconds(self, flop_rate, bandwidth):
        """How long a step is expected to take. A rule of thumb: products run at a tenth of the
        machine's best, and all that is held is moved six times."""
        return 10 * self.flops / flop_rate + 6 * self.memory / bandwidth


def cost(size):
    """The Cost of a step, counted on tensors that have shapes and no numbers ("meta").

    Its backward pass has twice the operations of the forward one. Outputs are kept for the way
    back, and have gradients.
    """
    parameters, flops, outputs, layers = counted(size.name, size.narrower)
    # A layer's result, what the function after it makes of it, and the gradients of both.
    held = 4 * (2 * parameters + 4 * outputs * size.batch)
    return Cost(parameters, 3 * flops * size.batch, held, layers)


@cache
def counted(name, narrower):
    """(parameters, operations forward, outputs of all layers) for one example; layers."""
    outputs = []
    with torch.device("meta"):
        module = KINDS[name][0](narrower)
    for layer in module.modules():
        if not list(layer.children()):  # an LSTM's output comes with its states
            layer.register_forward_hook(lambda layer, inputs, output: outputs.append(
                (output[0] if isinstance(output, tuple) else output).numel()))  # fmt: skip
    with FlopCounterMode(display=False) as counter:
        module(minibatch(Size(name, 2, narrower), "meta")[0])  # two: for batch normalization
    weights = sum(each.numel() for each in module.parameters())
    return weights, counter.get_total_flops() // 2, sum(outputs) // 2, len(outputs)


def fitted(size, seconds=0.8, flop_rate=None, bandwidth=None, memory=None):
    """The largest Size up to this one whose step is expected to fit the seconds and the memory.

    The batch is halved first, down to 2; then every width, down to 1/16. flop_rate, bandwidth,
    memory: of the machine, in FLOP/s, bytes/s and bytes; measured here unless told.
    """
    seconds = budget.capped(seconds)
    flop_rate = flop_rate or machine().ceiling("host", "float32")
    bandwidth = bandwidth or machine().ceiling("host", "copy")
    memory = memory or (free_memory() or 4e9) / 2

    def fits(tried):
        needs = cost(tried)
        return needs.seconds(flop_rate, bandwidth) <= seconds and needs.memory <= memory

    while not fits(size) and size.batch > 2:
        size = replace(size, batch=size.batch // 2)
    while not fits(size) and size.narrower < 16:
        size = replace(size, narrower=2 * size.narrower)
    return size


# -- The clock.


@dataclass(frozen=True)
class StepTime:
    """What a step of one of the six takes, on the CPU and on a GPU."""

    size: Size
    parameters: int
    cpu: float  # seconds, every core
    gpu: float | None  # seconds
    why: str  # there is no figure for a GPU; "" where there is one
    spread: float = 0.0  # of the CPU's steps: the slowest over the quickest, less 1

    @property
    def name(self):
        return self.size.name

    @property
    def noisy(self):
        return self.spread > NOISE


NOISE = 0.25  # a larger spread than that was somebody else's work


def timed(size, steps=9, seconds=1.5):
    """The StepTime of a size: the median of some steps after one that is not counted.

    seconds: no further step is begun once they are over, as on a machine that others use too.
    """
    trainee = Trainee(size)
    with threads(cores()):
        cpu = seconds_of(trainee, torch_cpu, steps, seconds)
    why, parameters = torch_gpu.why_not() and "no GPU here", trainee.parameters
    del trainee  # it may fill much of the memory
    on_gpu = None if why else Trainee(size, torch_gpu.device())
    gpu = None if why else median(seconds_of(on_gpu, torch_gpu, steps, seconds))
    return StepTime(size, parameters, median(cpu), gpu, why, max(cpu) / min(cpu) - 1)


def seconds_of(trainee, backend, steps, seconds):
    """Seconds of each step by the caller's clock, work on the backend included."""
    took, steps = [], budget.repeated(steps)
    while len(took) < 1 + steps and (len(took) < 2 or sum(took) < seconds):
        backend.sync()
        start = perf_counter()
        step(trainee)
        backend.sync()
        took.append(perf_counter() - start)
    return took[1:]
