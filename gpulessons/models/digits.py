"""A network of two layers, trained with the course's own ops.

    h = sigmoid(x W1ᵀ + b1);   p = softmax(h W2ᵀ + b2);   loss = −log p[label]

Stochastic gradient descent with momentum: take a minibatch, go forward, go backward, move every
parameter a little against its gradient; again. All the arithmetic is in ops, and each op has a
version for NumPy, for Numba, for CUDA and for PyTorch: the same lines below run on all of them.

    for epoch in train(Network("NumPy"), digits()):
        print(epoch)
"""

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from gpulessons import units
from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.hardware.pools import threads
from gpulessons.ops.dense import dense, dense_backward
from gpulessons.ops.optimizer_step import momentum_step
from gpulessons.ops.softmax_layer import softmax_layer, softmax_layer_backward

OPS = (dense, softmax_layer, softmax_layer_backward, dense_backward, momentum_step)
TOOLKITS = {
    "NumPy": ("NumPy", host), "Numba": ("Numba", host), "CUDA": ("CUDA", gpu),
    "PyTorch on CPU": ("PyTorch", torch_cpu), "PyTorch on GPU": ("PyTorch", torch_gpu),
}  # fmt: skip
PIXELS, CLASSES = 64, 10


def chosen(op, toolkit):
    """The toolkit's last version of an op: op files go from the slowest to the fastest."""
    name, backend = TOOLKITS[toolkit]
    versions = op.versions.values()
    return [v for v in versions if v.backend is backend and v.name.startswith(name)][-1]


class Network:
    """W1, b1, W2, b2 on a toolkit's backend, and how to go forward, backward and downhill.

    toolkit: one of TOOLKITS; hidden: the width of the first layer. The same seed gives the same
    first weights on every toolkit.
    """

    def __init__(self, toolkit, hidden=128, seed=0):
        self.versions = {op.name: chosen(op, toolkit) for op in OPS}
        self.toolkit, self.backend = toolkit, TOOLKITS[toolkit][1]
        rng = np.random.default_rng(seed)
        start = [*random_layer(rng, PIXELS, hidden), *random_layer(rng, hidden, CLASSES)]
        self.parameters = [self.backend.put(p) for p in start]
        self.speeds = [self.backend.put(np.zeros(p.size, np.float32)) for p in start]
        self.room = {}

    def run(self, op, *inputs):
        """The op on this backend, into memory that is made once for each size of batch."""
        version, kind = self.versions[op.name], (op.name, len(inputs[0]))
        if kind not in self.room:
            self.room[kind] = version.empty(*inputs)
        return version(*inputs, out=self.room[kind])

    def forward(self, x):
        """(h, p): what the hidden layer says of these examples, and their probabilities."""
        w1, b1, w2, b2 = self.parameters
        h = self.run(dense, x, w1, b1)
        return h, self.run(softmax_layer, h, w2, b2)

    def step(self, x, labels):
        """Learn from one minibatch: x (examples, 64) and labels (examples,) on the backend."""
        w1, _, w2, _ = self.parameters
        h, p = self.forward(x)
        dh, dw2, db2 = self.run(softmax_layer_backward, h, w2, p, labels)
        _, dw1, db1 = self.run(dense_backward, x, w1, h, dh)
        for n, gradient in enumerate((dw1, db1, dw2, db2)):
            self.move(n, gradient)

    def move(self, n, gradient):
        """Move parameter n, in place where the version writes where it is told."""
        old, speed = self.parameters[n], self.speeds[n]
        flat = old.reshape(-1)
        new, self.speeds[n] = self.versions["momentum_step"](
            flat, gradient.reshape(-1), speed, out=(flat, speed)
        )
        self.parameters[n] = new.reshape(old.shape)

    def probabilities(self, images):
        """(n, 10): what the network makes of images, as NumPy's."""
        return self.backend.get(self.forward(self.backend.put(pixels(images)))[1])


def random_layer(rng, inputs, outputs):
    """Weights that give sums of about one whatever the width, and no bias."""
    w = rng.standard_normal((outputs, inputs), np.float32) / np.float32(inputs**0.5)
    return w, np.zeros(outputs, np.float32)


def pixels(images):
    """(n, 8, 8) of 0 to 16 as (n, 64) float32 of 0 to 4: wide enough to bend a sigmoid."""
    return images.reshape(len(images), -1).astype(np.float32) / 4


@dataclass(frozen=True)
class Epoch:
    """Where a network stands after so many passes over its examples."""

    number: int
    loss: float  # the mean over the held-out examples
    accuracy: float  # on those
    seconds: float  # of training so far, without the looks at the held-out examples

    def __repr__(self):
        return (
            f"epoch {self.number}: {self.accuracy:.1%} of the held-out digits read, "
            f"loss {self.loss:.3f}, {units.seconds(self.seconds)}"
        )


def train(network, data, epochs=30, batch=32, seed=0):
    """Yield an Epoch as soon as it is over. data: ((images, labels), (held-out images, labels)).

    The same seed deals the same minibatches to every network; what does not fill the last one of
    an epoch waits for the next deal.
    """
    (images, labels), held = data
    x, labels, rng = pixels(images), labels.astype(np.int32), np.random.default_rng(seed)
    put, seconds = network.backend.put, 0.0
    Network(network.toolkit).step(put(x[:batch]), put(labels[:batch]))  # what must compile, does
    for number in range(1, epochs + 1):
        deal = rng.permutation(len(x))[: len(x) // batch * batch].reshape(-1, batch)
        with threads(1):  # so small a batch is done before a second core has woken up
            start = perf_counter()
            for few in deal:
                network.step(put(x[few]), put(labels[few]))
            network.backend.sync()
            seconds += perf_counter() - start
        yield Epoch(number, *examine(network, *held), seconds)


def examine(network, images, labels):
    """(mean loss, share of right answers) of a network on images it does not learn from."""
    p = network.probabilities(images)
    loss = -np.log(p[np.arange(len(p)), labels]).mean()
    return float(loss), float((p.argmax(1) == labels).mean())
