"""The six networks of the 2017 comparison of frameworks, in PyTorch, and what a step of each costs.

    FCN-5, FCN-8     3 or 6 hidden layers of 2,048, sigmoid; 26,752 inputs and outputs
    AlexNet          three convolutions for pictures of 32 × 32 (CIFAR-10), no normalization
    ResNet           56 layers, 0.85 million parameters, the same pictures
    LSTM-32, -64     2 layers of 256 on texts of 32 or 64 words, vocabulary of 10,000

The first comparison is S. Shi et al., "Benchmarking State-of-the-Art Deep Learning Software Tools",
2016 (arXiv 1608.07249); what the networks look like is from its authors' files, hclhkbu/dlbench.
They are counted on tensors that have shapes and no numbers ("meta"), and never run.
"""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import nn
from torch.nn.functional import avg_pool2d, max_pool2d, pad, relu
from torch.utils.flop_counter import FlopCounterMode


def fully_connected(hidden):
    """(n, 26,752) float32 to (n, 26,752): hidden layers of 2,048 with a sigmoid each."""
    widths = [26_752, *[2_048] * hidden]
    layers = [
        part for inputs, outputs in pairwise(widths)
        for part in (nn.Linear(inputs, outputs), nn.Sigmoid())
    ]  # fmt: skip
    return nn.Sequential(*layers, nn.Linear(widths[-1], widths[0]))


class AlexNet(nn.Module):
    """(n, 3, 32, 32) to (n, 10): the small AlexNet for CIFAR-10, without its normalizations."""

    def __init__(self):
        super().__init__()
        self.convolutions = nn.ModuleList(
            nn.Conv2d(before, after, 5, padding=2)
            for before, after in ((3, 32), (32, 32), (32, 64))
        )
        self.last = nn.Linear(4 * 4 * 64, 10)

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


def residual(blocks=9):
    """(n, 3, 32, 32) to (n, 10): ResNet-56, three times nine blocks of 16, 32 and 64 channels."""
    widths = [16, 32, 64]
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

    def __init__(self, vocabulary=10_000, hidden=256):
        super().__init__()
        self.words = nn.Embedding(vocabulary, hidden)
        self.layers = nn.LSTM(hidden, hidden, num_layers=2, batch_first=True)
        self.last = nn.Linear(hidden, vocabulary)

    def forward(self, x):
        return self.last(self.layers(self.words(x))[0]).flatten(0, 1)


# How each is made, the shape of an example, and how many are in a minibatch. The widths are the
# comparison's, the batches this course's.
KINDS = {
    "FCN-5": (lambda: fully_connected(3), (26_752,), 64),
    "FCN-8": (lambda: fully_connected(6), (26_752,), 64),
    "AlexNet": (AlexNet, (3, 32, 32), 16),
    "ResNet": (residual, (3, 32, 32), 16),
    "LSTM-32": (Recurrent, (32,), 128),
    "LSTM-64": (Recurrent, (64,), 128),
}


@dataclass(frozen=True)
class Cost:
    """What a step needs: operations in its products, and bytes held at once."""

    parameters: int
    flops: int
    memory: int
    layers: int


def cost(name):
    """The Cost of a step. Its backward pass has twice the operations of the forward one. Outputs
    are kept for the way back, and have gradients."""
    make, shape, batch = KINDS[name]
    outputs = []
    with torch.device("meta"):
        module = make()
    for layer in module.modules():
        if not list(layer.children()):  # an LSTM's output comes with its states
            layer.register_forward_hook(lambda layer, inputs, output: outputs.append(
                (output[0] if isinstance(output, tuple) else output).numel()))  # fmt: skip
    kind = torch.long if make is Recurrent else torch.float32
    with FlopCounterMode(display=False) as counter:
        module(torch.empty(batch, *shape, dtype=kind, device="meta"))
    parameters = sum(each.numel() for each in module.parameters())
    # A layer's result, what the function after it makes of it, and the gradients of both.
    held = 4 * (2 * parameters + 4 * sum(outputs))
    return Cost(parameters, 3 * counter.get_total_flops(), held, len(outputs))
