"""Meeting seldom: workers that train alone for a while, and then agree on common weights.

Local SGD takes the mean of their weights. DiLoCo takes the way from the common weights to that mean
for a gradient, and gives it to an optimizer of its own. (Douillard et al., "DiLoCo", 2023)

The workers here are slices of arrays in one process, so all of them do what they would do on many
machines, digit for digit, and one core is enough; so are the seeds, which never meet. Counted are
meetings: in each of them every worker sends its weights, or gradients, once around.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from gpulessons.models.data import digits

PIXELS, HIDDEN, CLASSES = 64, 32, 10
CUTS = np.cumsum([PIXELS * HIDDEN, HIDDEN, HIDDEN * CLASSES])

# (common weights, each worker's (workers, n), velocity) to (new common weights, new velocity)
Meet = Callable[[NDArray, NDArray, NDArray], tuple[NDArray, NDArray]]


def train(
    meet: Meet, every: int, rate: float, steps: int = 600, workers: int = 4, batch: int = 16,
    seeds: int = 3, own_classes: bool = False,
) -> NDArray:  # fmt: skip
    """Returns each seed's loss on held-out digits, of the common weights at the end.

    own_classes: worker k has no digits but those of its own classes, instead of a random share.
    """
    (x, labels), held = data()
    rng = np.random.default_rng(0)
    common = np.stack([first(seed) for seed in range(seeds)])
    velocity = np.zeros_like(common)
    own = np.repeat(common[:, None], workers, axis=1)  # (seeds, workers, n)
    owner = labels * workers // CLASSES if own_classes else np.arange(len(x)) % workers
    shares = [np.flatnonzero(owner == worker) for worker in range(workers)]
    for step in range(1, steps + 1):
        some = np.stack([rng.choice(share, (seeds, batch)) for share in shares], axis=1)
        own -= rate * gradient(own, x[some], labels[some])
        if step % every == 0:
            for s in range(seeds):
                common[s], velocity[s] = meet(common[s], own[s], velocity[s])
            own[:] = common[:, None]
    return np.array([score(weights, *held) for weights in common])


def nesterov(
    common: NDArray, own: NDArray, velocity: NDArray, rate: float = 0.7, momentum: float = 0.9
) -> tuple[NDArray, NDArray]:
    """DiLoCo's meeting: the way to the workers' mean is a gradient, for Nesterov's momentum."""
    outer = common - own.mean(0)
    velocity = momentum * velocity + outer
    return common - rate * (outer + momentum * velocity), velocity


@cache
def data() -> list[tuple[NDArray, NDArray]]:
    """((x, labels), held-out (x, labels)) of the digits, pixels from 0 to 1."""
    return [(images.reshape(-1, PIXELS) / 16, labels.astype(int)) for images, labels in digits()]


def first(seed: int) -> NDArray:
    """All weights of a network with one hidden layer, in one vector."""
    rng = np.random.default_rng(seed)
    sizes = PIXELS * HIDDEN, HIDDEN, HIDDEN * CLASSES, CLASSES
    spread = (2 / PIXELS) ** 0.5, 0, (2 / HIDDEN) ** 0.5, 0
    return np.concatenate([s * rng.standard_normal(n) for n, s in zip(sizes, spread, strict=True)])


def layers(weights: NDArray) -> tuple[NDArray, ...]:
    """(…, n) as what it consists of: views."""
    w1, b1, w2, b2 = np.split(weights, CUTS, axis=-1)
    lead = weights.shape[:-1]
    return (w1.reshape(*lead, PIXELS, HIDDEN), b1[..., None, :],
            w2.reshape(*lead, HIDDEN, CLASSES), b2[..., None, :])  # fmt: skip


def forward(weights: NDArray, x: NDArray) -> tuple[NDArray, NDArray]:
    """(hidden, probabilities)"""
    w1, b1, w2, b2 = layers(weights)
    hidden = np.maximum(x @ w1 + b1, 0)
    scores = hidden @ w2 + b2
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return hidden, exps / exps.sum(-1, keepdims=True)


def gradient(weights: NDArray, x: NDArray, labels: NDArray) -> NDArray:
    """Of the mean cross-entropy, for each stacked network and its own minibatch."""
    hidden, off = forward(weights, x)
    off = (off - np.eye(CLASSES)[labels]) / labels.shape[-1]
    back = off @ layers(weights)[2].swapaxes(-1, -2) * (hidden > 0)
    parts = x.swapaxes(-1, -2) @ back, back.sum(-2), hidden.swapaxes(-1, -2) @ off, off.sum(-2)
    lead = weights.shape[:-1]
    return np.concatenate([part.reshape(*lead, -1) for part in parts], axis=-1)


def score(weights: NDArray, x: NDArray, labels: NDArray) -> float:
    """The mean loss."""
    chances = forward(weights, x)[1]
    return float(-np.log(np.maximum(chances[np.arange(len(x)), labels], 1e-12)).mean())
