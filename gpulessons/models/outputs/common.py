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


def refuse_few_classes(classes, columns):
    """ValueError unless there is something to choose between, and something to choose by."""
    if classes < 2 or columns < 1:
        raise ValueError(
            f"An output layer chooses between 2 classes at least, by 1 column at least; "
            f"not {classes} by {columns}."
        )


def refuse_misfits(h, labels, classes, columns):
    """ValueError unless h is (examples, columns) finite float32, with a label for each."""
    if h.ndim != 2 or h.shape[1] != columns or h.dtype != np.float32:
        raise ValueError(
            f"h is (examples, {columns}) of float32 for this layer, not {h.shape} of {h.dtype}."
        )
    if labels.shape != (len(h),) or not np.issubdtype(labels.dtype, np.integer):
        raise ValueError(
            f"labels are one integer for each of the {len(h)} examples, not {labels.shape} "
            f"of {labels.dtype}."
        )
    if not np.isfinite(h).all():
        raise ValueError("h holds a NaN or an infinity, which every weight would learn.")
    if len(labels) and (labels.min() < 0 or labels.max() >= classes):
        raise ValueError(
            f"Labels run from 0 to {classes - 1}; these from {labels.min()} to {labels.max()}."
        )


def chunks(w, examples=1):
    """Yield (the first class, some rows of w, without a copy), until all were there.

    examples: how many scores each class gets: 4 MiB of scores at a time are enough.
    """
    rows = min(CHUNK, max(1, 2**20 // examples))
    for first in range(0, len(w), rows):
        yield first, w[first : first + rows]


def prior_scores(classes, counts=None):
    """log p of every class by frequency alone, (classes,) float32; counts: else as Zipf has them.

    Added to the scores and never learned: without it a layer would spend its first steps on what
    the tree knows from its shape, and a race would be about that.
    """
    counts = zipf(classes) if counts is None else np.asarray(counts, np.float64)
    if counts.shape != (classes,) or not (counts > 0).all():
        raise ValueError(f"counts are {classes} numbers above 0, one for each class.")
    return np.log(counts / counts.sum()).astype(np.float32)


def full_loss(h, labels, w, prior):
    """The mean of −log softmax(h wᵀ + prior)[label]; never all scores in memory."""
    top = np.full(len(h), -np.inf, np.float32)
    total = np.zeros(len(h), np.float64)
    for first, part in chunks(w, len(h)):
        z = h @ part.T
        z += prior[first : first + len(part)]
        higher = np.maximum(top, z.max(1))
        z -= higher[:, None]
        total = total * np.exp(top - higher) + np.exp(z, out=z).sum(1)
        top = higher
    right = (h * w[labels]).sum(1) + prior[labels]
    return float((top + np.log(total) - right).mean())


def full_best(h, w, prior):
    """The class of each example's highest score, (examples,) of integers."""
    best, top = np.zeros(len(h), np.int64), np.full(len(h), -np.inf, np.float32)
    for first, part in chunks(w, len(h)):
        z = h @ part.T
        z += prior[first : first + len(part)]
        here = z.argmax(1)
        score = z[np.arange(len(h)), here]
        best[score > top] = first + here[score > top]
        top = np.maximum(top, score)
    return best
