"""Keep the k nearest of a stream: who is near enough to join is decided by one comparison."""

import random
from functools import total_ordering

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, Wasteful, returned

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


@total_ordering
class Distance:
    """A number that can be compared, and counts how often any of its kind is."""

    compared = 0
    __hash__ = None

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        Distance.compared += 1
        return self.value < other.value

    def __eq__(self, other):
        return self.value == other.value

    def __neg__(self):
        return Distance(-self.value)

    def __repr__(self):
        return f"{self.value}"


def judge(nearest):
    """Streams short and long, with equals, in falling order; then the comparisons are counted."""
    for values, k in (([3, 1, 2], 3), ([5, 4, 3, 2, 1, 0], 2), ([7, 7, 7], 2), ([1, 0, 0, 1], 3)):
        check_nearest(nearest, values, k)
    needed = check_nearest(nearest, random.choices(range(MANY // 4), k=MANY), NEAREST)
    if needed > MOST * MANY:
        raise Wasteful(f"after {needed:,} comparisons of {MANY:,} distances.",
                       "how far the last of the best is, which one comparison tells.")  # fmt: skip
    return f"{needed:,} comparisons of {MANY:,} distances: nearly all are turned away by one."


def check_nearest(nearest, values, k):
    """Mismatch unless it gives the k least of these in order; how many comparisons it took."""
    Distance.compared = 0
    stream = ((Distance(value), index) for index, value in enumerate(values))
    pairs, needed = returned(run(nearest, (stream, k), {})), Distance.compared
    got = [(getattr(distance, "value", distance), index) for distance, index in pairs]
    expected = sorted((value, index) for index, value in enumerate(values))[:k]
    where = f"of {str(values)[:30]} for k = {k}"
    if len(got) != k:
        raise Mismatch(f"It kept {len(got)} {where}.", "who has to leave when another joins.")
    if [pair[0] for pair in got] == [pair[0] for pair in expected] and got != expected:
        raise Mismatch(f"Of equals a higher index comes first, {where}.", "who moves past whom.")
    if sorted(got) == expected != got:
        raise Mismatch(f"They are the right ones in a wrong order, {where}.", "least first.")
    for n in range(k):
        if got[n] != expected[n]:
            raise Mismatch(f"Place {n} has {got[n]} {where}, where {expected[n]} is expected.",
                           "who is turned away, and what ends the loop.")  # fmt: skip
    return needed


hints = (
    "Nearly all that come are farther than everybody kept. Who is the one that they have to be "
    "compared with?",
    "if len(best) == k and not distance < best[-1][0]:",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
