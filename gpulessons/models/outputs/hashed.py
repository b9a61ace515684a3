"""A softmax over the classes that look like the example: found by hash codes, not by scores.

    code(x) = which side of `bits` random planes x lies on: the signs of x · plane
    active  = the classes whose row has the code of some example's h, in any of `tables` tables,
              and the labels
    loss    = −log( exp z[label] / sum over the active ones of exp z[j] )

The one idea: rows at a small angle to h have high scores, and two vectors at an angle θ agree in a
plane's sign with probability 1 − θ/π (Charikar 2002). So a table lookup finds, more often than
chance, the classes that compete with the label, without a look at the others. That is SLIDE's idea
(Chen et al., MLSys 2020, arXiv:1903.03129).

Here all examples of a step share one active set, so that the scores are one product; SLIDE keeps
one for each example, and lets its threads change w without waiting for each other. A step reads
`tables` codes and the active rows. Now and then the rows have moved and all codes are made anew:
classes × columns × tables × bits, so a step still costs something for each class, once in `every`
steps.

Nothing corrects for what is left out: a class that is not found is not pushed down.
"""

import numpy as np
from numba import njit

from gpulessons.ops.common import SERIAL

from .common import (
    chunks,
    first_weights,
    full_best,
    full_loss,
    prior_scores,
    refuse_few_classes,
    refuse_misfits,
)

MOST_BITS = 16  # codes of 16 bits are sorted by counting


class Hashed:
    """w: (classes, columns), and `tables` tables that find its rows. every: steps between rebuilds.

    bits: of a code; by default so many that a bucket holds some eight classes on average.
    """

    name = "hashed softmax"

    def __init__(self, classes, columns, tables=8, bits=None, every=200, counts=None, seed=0):
        refuse_few_classes(classes, columns)
        bits = min(MOST_BITS, max(1, (classes // 8).bit_length())) if bits is None else bits
        if not (tables >= 1 and 1 <= bits <= MOST_BITS and every >= 1):
            raise ValueError(
                f"Hashing takes 1 table at least, of 1 to {MOST_BITS} bits, rebuilt every so many "
                f"steps; not {tables} of {bits} bits, every {every}."
            )
        self.classes, self.columns, self.every, self.steps = classes, columns, every, 0
        self.w = first_weights(classes, columns, seed)
        self.prior = prior_scores(classes, counts)
        rng = np.random.default_rng(seed)
        self.planes = rng.standard_normal((tables, columns, bits), np.float32)
        self.starts = np.empty((tables, 2**bits + 1), np.int32)
        self.members = np.empty((tables, classes), np.int32)  # classes in the order of their codes
        self.seen = np.zeros(classes, np.int32)  # when each was last found
        self.lookups = 0
        self.rebuild()

    @property
    def nbytes(self):
        parts = self.w, self.prior, self.planes, self.starts, self.members, self.seen
        return sum(part.nbytes for part in parts)

    def codes(self, x):
        """(tables, rows) of uint16: a bit for each plane that a row is above."""
        place = np.float32(2) ** np.arange(self.planes.shape[2], dtype=np.float32)
        return np.stack([((x @ plane > 0) @ place).astype(np.uint16) for plane in self.planes])

    def rebuild(self):
        """New codes of all rows, and the tables that find a code's rows."""
        codes = np.concatenate([self.codes(part) for _, part in chunks(self.w)], axis=1)
        for code, members, starts in zip(codes, self.members, self.starts, strict=True):
            members[:] = np.argsort(code, kind="stable")
            starts[0] = 0
            np.cumsum(np.bincount(code, minlength=starts.size - 1), out=starts[1:])

    def found(self, h, labels=()):
        """The active classes, each once: those in the examples' buckets, and the labels."""
        self.lookups += 1
        labels = np.asarray(labels, np.int64)
        return look_up(self.codes(h), labels, self.starts, self.members, self.seen, self.lookups)

    def step(self, h, labels, rate):
        refuse_misfits(h, labels, self.classes, self.columns)
        self.steps += 1
        if self.steps % self.every == 0:
            self.rebuild()
        active = self.found(h, labels)
        rows, each = self.w[active], np.arange(len(h))
        z = h @ rows.T
        z += self.prior[active]
        z -= z.max(1, keepdims=True)
        place = np.argsort(active)
        at = place[np.searchsorted(active, labels, sorter=place)]  # where the labels are
        right = z[each, at]
        p = np.exp(z, out=z)
        total = p.sum(1, keepdims=True)
        losses = np.log(total[:, 0]) - right
        p /= total
        p[each, at] -= 1
        self.w[active] = rows - p.T @ (h * np.float32(rate))
        return losses, p @ rows

    def loss(self, h, labels):
        """Of the full softmax over all scores."""
        refuse_misfits(h, labels, self.classes, self.columns)
        return full_loss(h, labels, self.w, self.prior)

    def best(self, h):
        """By the scores of all classes, without the tables."""
        return full_best(h, self.w, self.prior)


@njit(**SERIAL)
def look_up(codes, labels, starts, members, seen, now):
    """The members of the codes' buckets and the labels, each once. seen: (classes,), marked now."""
    found, count = np.empty(seen.size, np.int32), 0
    for table in range(codes.shape[0]):
        for example in range(codes.shape[1]):
            code = codes[table, example]
            for place in range(starts[table, code], starts[table, code + 1]):
                c = members[table, place]
                if seen[c] != now:
                    seen[c] = now
                    found[count] = c
                    count += 1
    for c in labels:
        if seen[c] != now:
            seen[c] = now
            found[count] = c
            count += 1
    return found[:count].copy()
