"""What output layers share: how they begin, what they refuse, and a full softmax for judging."""

import numpy as np

from gpulessons.ops.huffman import zipf

CHUNK = 8192  # classes at a time: with 64 columns their weights fill 2 MiB, and stay in the cache


def first_weights(rows, columns, seed):
    """(rows, columns) float32, small and even: every class is about equally likely at first."""
    w = np.random.default_rng(seed).random((rows, columns), np.float32)
    w -= np.float32(0.5)
    w *= np.float32(columns**-0.5)
    return w


def prior_scores(classes):
    """log p of every class by frequency alone, (classes,) float32.

    Added to the scores and never learned: without it a layer would spend its first steps on what
    the tree knows from its shape, and a race would be about that.
    """
    counts = zipf(classes)
    return np.log(counts / counts.sum()).astype(np.float32)


def check_batch(layer, h, labels):
    """ValueError unless h is (examples, columns) float32, with a class for each."""
    if h.shape != (len(labels), layer.columns) or h.dtype != np.float32:
        raise ValueError(f"h is ({len(labels)}, {layer.columns}) of float32 for these labels and "
                         f"this layer, not {h.shape} of {h.dtype}.")  # fmt: skip
    if labels.dtype.kind not in "iu" or not ((labels >= 0) & (labels < layer.classes)).all():
        raise ValueError(f"labels are integers from 0 to {layer.classes - 1}.")


def full_loss(h, labels, w, prior):
    """The mean of −log softmax(h wᵀ + prior)[label]; never all scores in memory."""
    top = np.full(len(h), -np.inf, np.float32)
    total = np.zeros(len(h), np.float64)
    for first in range(0, len(w), CHUNK):
        z = h @ w[first : first + CHUNK].T
        z += prior[first : first + CHUNK]
        higher = np.maximum(top, z.max(1))
        z -= higher[:, None]
        total = total * np.exp(top - higher) + np.exp(z, out=z).sum(1)
        top = higher
    right = (h * w[labels]).sum(1) + prior[labels]
    return float((top + np.log(total) - right).mean())
