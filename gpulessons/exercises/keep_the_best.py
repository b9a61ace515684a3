"""Keep the k nearest of a stream: who is near enough to join is decided by one comparison."""

import random

from gpulessons.exercises.asking import check_like
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Wasteful

text = '''\
def my_nearest(stream, k):
    """The k least of many (distance, index), least first; of equals, the lower index first.

    Indices count up from 0. Distances can be compared, and nothing else.
    """
    best = []
    for distance, index in stream:
        ### BEGIN SOLUTION
        if len(best) == k and not distance < best[-1][0]:
            continue  # farther than all of them, and so are nearly all that come
        best.append((distance, index))
        ### STUB
        best.append((distance, index))  # Your turn: must a newcomer really meet everybody?
        ### END SOLUTION
        best.sort()
        del best[k:]
    return best
'''

MANY, NEAREST = 2000, 10
MOST = 3  # comparisons for each that comes; to join takes more, and few do


class Distance(float):
    """A number that counts how often any of its kind is compared."""

    compared = 0

    def __lt__(self, other):
        Distance.compared += 1
        return float(self) < float(other)

    def __gt__(self, other):
        return Distance.__lt__(other, self)


def stream(values):
    return [(Distance(value), index) for index, value in enumerate(values)]


VALUES = (([3, 1, 2], 3), ([5, 4, 3, 2, 1, 0], 2), ([7, 7, 7], 2), ([1, 0, 0, 1], 3),
          (random.choices(range(50), k=99), 9))  # fmt: skip
mistakes = (
    ("The nearest are turned away, and the farthest stay.", "not distance <", "distance <"),
    ("Of equals a higher index comes first.",
     "best.sort()", "best.sort(key=lambda pair: (pair[0], -pair[1]))"),
)  # fmt: skip


def judge(nearest):
    """Streams short and long, with equals, in falling order; then the comparisons are counted."""
    hint = "who is turned away, who has to leave when another joins, and the order: least first."
    check_like(text, nearest, [(stream(values), k) for values, k in VALUES], hint, mistakes)
    many = stream(random.choices(range(MANY // 4), k=MANY))
    Distance.compared = 0
    nearest(many, NEAREST)
    if Distance.compared > MOST * MANY:
        raise Wasteful(f"after {Distance.compared:,} comparisons of {MANY:,} distances.",
                       "how far the last of the best is, which one comparison tells.")  # fmt: skip
    return (f"{Distance.compared:,} comparisons of {MANY:,} distances: nearly all are turned away "
            "by one.")  # fmt: skip


hints = (
    "Nearly all that come are farther than everybody kept. Who is the one that they have to be "
    "compared with?",
    "if len(best) == k and not distance < best[-1][0]:",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
