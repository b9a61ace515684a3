"""What an index buys: recall against queries per second, brute force beside a forest.

    rows = frontier(points, queries)
"""

from dataclasses import dataclass
from functools import partial

from gpulessons import units
from gpulessons.hardware.timer import interleaved
from gpulessons.ops import forest
from gpulessons.ops.neighbours import nearest

NEAREST = 10  # neighbors that a query asks for


@dataclass(frozen=True)
class Found:
    """One way to answer the queries: how many neighbors it found, and how fast."""

    leaves: int  # cells visited for each query; 0 for brute force
    recall: float  # share of the true neighbors
    rate: float  # queries per second

    @property
    def name(self):
        return units.plural(self.leaves, "cell") if self.leaves else "brute force"


def frontier(points, queries, leaves=(1, 4, 15, 50, 150, 500), seconds=4.0, advance=None):
    """Brute force, then a forest once for each number of cells visited: a list of Found.

    Timed in turn, all the queries at once; seconds: for all samples together (fewer under
    GPULESSONS_BUDGET). Without the time to grow the forest. advance(done, total, name): progress.
    """
    grown = forest.grow(points)
    ways = {0: partial(nearest, queries, points, NEAREST)}
    for count in leaves:
        ways[count] = partial(forest.search, grown, points, queries, NEAREST, count)
    truth = ways[0]()[1]
    recalls = {count: forest.recall(way()[1], truth) for count, way in ways.items()}
    took = dict(interleaved(ways, seconds / len(ways), advance))
    return [Found(count, recalls[count], len(queries) / took[count].median) for count in ways]
