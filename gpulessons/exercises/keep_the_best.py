"""Keep the k nearest of a stream: who is near enough to join is decided by one comparison."""

import random

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, returned

stub = '''\
def my_nearest(stream, k):
    """The k least of many (distance, index), least first; of equals, the lower index first.

    Indices count up from 0. Distances can be compared, and nothing else.
    """
    best = []
    for distance, index in stream:
        best.append((distance, index))  # Your turn: must a newcomer really meet everybody?
        best.sort()
        del best[k:]
    return best
'''

solution = '''\
def my_nearest(stream, k):
    """The k least of many (distance, index), least first; of equals, the lower index first.

    Indices count up from 0. Distances can be compared, and nothing else.
    """
    best = []
    for distance, index in stream:
        if len(best) == k and not distance < best[-1][0]:
            continue  # farther than all of them, and so are nearly all that come
        best.append((distance, index))
        best.sort()
        del best[k:]
    return best
'''

MANY, NEAREST = 2000, 10
MOST = 3  # comparisons for each that comes; to join takes more, and few do


class Distance:
    """A number that can be compared, and counts how often any of its kind is."""

    compared = 0
    __hash__ = None

    def __init__(self, value):
        self.within = lambda: value  # not to be had by the way: sorted(stream, key=…) would

    def __lt__(self, other):
        return counted(value_of(self) < value_of(other))

    def __le__(self, other):
        return counted(value_of(self) <= value_of(other))

    def __gt__(self, other):
        return counted(value_of(self) > value_of(other))

    def __ge__(self, other):
        return counted(value_of(self) >= value_of(other))

    def __eq__(self, other):
        return counted(value_of(self) == value_of(other))

    def __neg__(self):
        return Distance(-value_of(self))

    def __repr__(self):
        return f"{value_of(self)}"


def value_of(other):
    return other.within() if isinstance(other, Distance) else other


def counted(answer):
    Distance.compared += 1
    return answer


def judge(nearest):
    """Streams short and long, with equals, in falling order; then the comparisons are counted."""
    for values, k, what in (
        ([3, 1, 2], 3, "three numbers"),
        ([5, 4, 3, 2, 1, 0], 2, "falling numbers"),
        ([7, 7, 7, 7, 7], 2, "equal numbers"),
        ([1, 1, 0, 0, 0, 1], 4, "zeros and ones"),
        ([2, 9, 4], 1, "three numbers"),
    ):
        refuse_wrong(nearest, values, k, what)
    values = random.choices(range(MANY // 4), k=MANY)
    needed = refuse_wrong(nearest, values, NEAREST, f"{MANY:,} random numbers")
    if needed < MANY - NEAREST:  # who stays out is farther than somebody: one comparison each
        raise Trouble(f"The right ones, but after {needed:,} comparisons of {MANY:,} distances: "
                      "whoever stays out has to lose one.",
                      "the distances: they can be compared, and nothing else.")  # fmt: skip
    if needed > MOST * MANY:
        raise Trouble(f"Right, but after {needed:,} comparisons of {MANY:,} distances.",
                      "how far the last of the best is, which one comparison tells.")  # fmt: skip
    return f"{needed:,} comparisons of {MANY:,} distances: nearly all are turned away by one."


def refuse_wrong(nearest, values, k, what):
    """Trouble unless these values give the k least in order; how many comparisons it took."""
    stream = ((Distance(value), index) for index, value in enumerate(values))
    Distance.compared = 0
    result, needed = returned(nearest(stream, k)), Distance.compared
    where = f"of {what} for k = {k}"
    try:
        got = [(value_of(distance), int(index)) for distance, index in result]
    except (TypeError, ValueError):
        raise Trouble(f"It returned {result!r}, not pairs.", "its return.") from None
    due = sorted((value, index) for index, value in enumerate(values))[:k]
    if len(got) != k:
        raise Trouble(f"It kept {len(got)} {where}.", "who has to leave when another joins.")
    if next(stream, None) and got != due:
        raise Trouble(f"It left before the end of the stream, {where}.", "what ends the loop.")
    if [distance for distance, _ in got] == [distance for distance, _ in due] and got != due:
        raise Trouble(f"Of equals a higher index comes first, {where}.", "who moves past whom.")
    if sorted(got) == due and got != due:
        raise Trouble(f"They are the right ones in a wrong order, {where}.", "least first.")
    if got != due:
        n = next(n for n in range(k) if got[n] != due[n])
        raise Trouble(f"Place {n} has {got[n]} {where}, where {due[n]} is due.",
                      "who is turned away.")  # fmt: skip
    return needed


hints = (
    "Nearly all that come are farther than everybody kept. Who is the one that they have to be "
    "compared with?",
    "if len(best) == k and not distance < best[-1][0]:",
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
