"""An index that is kept in a file, and what it buys: recall against queries per second.

save(forest, points, path);   forest = load(path, points)
rows = frontier(points, queries)
"""

import hashlib
import io
import random
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from gpulessons.hardware.budget import capped, note
from gpulessons.hardware.files import write
from gpulessons.ops.forest import forest_search, recall
from gpulessons.ops.forest_growth import Forest, grow
from gpulessons.ops.neighbours import neighbours

VERSION = sys.modules["gpulessons"].__version__  # not an import: the door stands above all rooms
FORMAT = 1  # of the file; another number where its arrays mean something else
BRUTE = "NumPy's product, Numba's selection"  # as fast as the fused ones, and soon compiled
FOREST = "Numba, every core"


def save(forest, points, path):
    """Write a Forest, and which points it is over, as an .npz file; whole, or not at all."""
    file = io.BytesIO()
    about = {"format": FORMAT, "version": VERSION, "points": digest(points)}
    np.savez(file, **about, **forest._asdict())
    return write(path, file.getvalue())


def load(path, points):
    """The Forest that was saved over these points.

    ValueError where the file is none, or of another format, or over other points.
    """
    name = Path(path).name
    try:
        with np.load(path, allow_pickle=False) as file:
            kept = dict(file)
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile):  # TypeError: one array
        kept = {}
    if "format" not in kept:
        raise ValueError(f"{name} is no index of this package: save a forest there first.")
    if kept["format"] != FORMAT:
        raise ValueError(
            f"{name} has format {kept['format']}, written by version {kept['version']}; "
            f"version {VERSION} reads format {FORMAT}. Grow the forest again."
        )
    if kept["points"] != digest(points):
        raise ValueError(f"{name} is an index of other points: grow a forest over these.")
    return Forest(*(kept[part] for part in Forest._fields))


def digest(points):
    """What tells sets of points apart: shape, dtype and every bit."""
    points = np.ascontiguousarray(points)
    kind = f"{points.shape} {points.dtype.str} ".encode()
    return hashlib.sha256(kind + points.tobytes()).hexdigest()


# -- What it buys.


@dataclass(frozen=True)
class Found:
    """One way to answer the queries: how many neighbors it found, and how fast."""

    leaves: int  # cells visited for each query; 0 for brute force
    recall: float  # share of the true neighbors
    rate: float  # queries per second
    note: str = ""  # what to know about the figure

    @property
    def name(self):
        return named(self.leaves)

    def __repr__(self):
        return f"{self.name}: recall {self.recall:.3f}, {self.rate:,.0f} queries/s"


def frontier(points, queries, k=10, leaves=(1, 3, 10, 30, 100, 300), trees=10, leaf=32,
             seconds=4.0, tell=None):  # fmt: skip
    """Brute force, then a forest once for each number of leaves visited: a list of Found.

    All take turns in random order, each on every core with all the queries at once, until the
    seconds are over (fewer under GPULESSONS_BUDGET); the rate is from the median of its turns.
    tell(done, total, words): called after every turn; done and total count seconds.
    """
    forest = grow(points, trees, leaf)
    ways = {0: bound(neighbours, BRUTE, k, queries, points, k)}
    for count in leaves:
        ways[count] = bound(forest_search, FOREST, k, queries, points, *forest, k, count)
    results = {count: way()[1].copy() for count, way in ways.items()}  # and now all is compiled
    took = {count: [] for count in ways}
    began, limit = perf_counter(), capped(seconds)
    while not took[0] or perf_counter() - began < limit:
        for count in random.sample(list(ways), len(ways)):
            start = perf_counter()
            ways[count]()
            took[count].append(perf_counter() - start)
            if tell:
                spent = min(perf_counter() - began, limit)
                tell(spent, limit, named(count))
    return [
        Found(count, recall(results[count], results[0]), len(queries) / median(took[count]), note())
        for count in ways
    ]


def named(leaves):
    return f"{leaves} cell{'s' * (leaves > 1)}" if leaves else "brute force"


def bound(op, name, k, queries, *others):
    """A call of this version on these inputs, with room for its result made once."""
    shape, version = (len(queries), k), op.versions[name]
    out = np.empty(shape, np.int32), np.empty(shape, np.float32)

    def call():
        version.function(queries, *others, out=out)
        return out

    return call
