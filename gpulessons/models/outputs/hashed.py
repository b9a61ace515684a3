"""The classes that look like the example: found by hash codes, not by scores.

    code(x) = which side of `bits` random planes x lies on: the signs of x · plane
    active  = the classes whose row has the code of some example's h, in any of `tables` tables

The one idea: rows at a small angle to h have high scores, and two vectors at an angle θ agree in a
plane's sign with probability 1 − θ/π (Charikar 2002). So a table lookup finds, more often than
chance, the classes that compete with the label, without a look at the others. SLIDE (Chen et al.,
MLSys 2020, arXiv:1903.03129) makes a layer of it: a softmax over the active classes and the label.

Here all examples of a batch share one active set; SLIDE keeps one for each example.
"""

import numpy as np

from .common import first_weights

MOST_BITS = 16  # codes of 16 bits are sorted by counting


class Hashed:
    """w: (classes, columns), and tables that find its rows, as they were when it was made.

    A code has so many bits that a bucket holds some eight classes on average.
    """

    def __init__(self, classes, columns, tables=8, seed=0):
        bits = min(MOST_BITS, max(1, (classes // 8).bit_length()))
        self.classes, self.w = classes, first_weights(classes, columns, seed)
        rng = np.random.default_rng(seed)
        self.planes = rng.standard_normal((tables, columns, bits), np.float32)
        codes = self.codes(self.w)
        self.members = np.argsort(codes, axis=1, kind="stable")  # the classes by their codes
        numbers = np.arange(2**bits + 1)
        ordered = np.take_along_axis(codes, self.members, axis=1)
        self.starts = np.stack([np.searchsorted(code, numbers) for code in ordered])

    def codes(self, x):
        """(tables, rows) of uint16: a bit for each plane that a row is above."""
        place = np.float32(2) ** np.arange(self.planes.shape[2], dtype=np.float32)
        return np.stack([((x @ plane > 0) @ place).astype(np.uint16) for plane in self.planes])

    def found(self, h):
        """The active classes, each once: those in the examples' buckets."""
        buckets = [
            members[starts[code] : starts[code + 1]]
            for codes, starts, members in zip(
                self.codes(h).astype(int), self.starts, self.members, strict=True
            )
            for code in np.unique(codes)
        ]
        return np.unique(np.concatenate(buckets))
