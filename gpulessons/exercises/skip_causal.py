"""Causal attention: which tiles of keys does a tile of queries have to visit at all?"""

from gpulessons.exercises.asking import check_like
from gpulessons.grader.check import Exercise, run

text = '''\
def my_starts(first, last, keys, tile):
    """Where the tiles of keys start that queries first … last - 1 need.

    Query i sees keys 0 … i, and there are so many keys in all.
    """
    ### BEGIN SOLUTION
    return range(0, min(last, keys), tile)
    ### STUB
    return range(0, keys, tile)  # Your turn: every tile, also those that nobody here may see.
    ### END SOLUTION
'''

CASES = ((0, 64, 256, 64), (64, 128, 256, 64), (192, 256, 256, 128), (0, 48, 256, 32),
         (130, 200, 200, 64), (128, 192, 100, 64), (64, 65, 256, 64), (128, 192, 65, 64),
         (128, 192, 128, 64))  # fmt: skip
mistakes = (
    ("Right, but with a tile that nobody here may see: it starts behind the last query.",
     "min(last, keys)", "min(last + 1, keys)"),
    ("The tile from `first` on is missing: query i sees all from the beginning up to itself.",
     "min(last, keys)", "min(first, keys)"),
    ("A tile starts behind the last key: a text may end before its queries do.",
     "min(last, keys)", "last"),
)  # fmt: skip


def judge(attempt):
    """Every case by name, then the tiles of a whole text, counted."""

    def starts(*case):
        return sorted(run(attempt, case, {}))

    check_like(text, starts, CASES, "which tiles nobody here may see, and which come twice.",
               mistakes)  # fmt: skip
    length, tile = 4_096, 64
    visits = sum(len(starts(i, i + tile, length, tile)) for i in range(0, length, tile))
    return f"Of {(length // tile) ** 2:,} pairs of tiles in 4,096 tokens, you visit {visits:,}."


exercise = Exercise(__name__, text, judge=judge)
