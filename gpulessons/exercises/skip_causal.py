"""Causal attention: which tiles of keys does a tile of queries have to visit at all?"""

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, Wasteful, returned

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


def judge(starts):
    """Every case by name, then the tiles of a whole text, counted."""
    for first, last, keys, tile in CASES:
        got = [int(start) for start in returned(run(starts, (first, last, keys, tile), {}))]
        needed = {*range(0, min(last, keys), tile)}
        here = f"For queries {first} … {last - 1} of {keys} keys, in tiles of {tile}:"
        if any(start % tile or start >= keys for start in got):
            raise Mismatch(f"{here} tiles start at 0, {tile}, {2 * tile} …, before the last key, "
                           f"and not at {got}.", "the step, and where it ends.")  # fmt: skip
        if missing := sorted(needed - {*got}):
            raise Mismatch(f"{here} the tile from {missing[0]} on is missing.",
                           "what query i sees: all from the beginning up to itself.")  # fmt: skip
        if len(got) > len(needed):
            many = len(got) - len(needed)
            raise Wasteful(f"{here} {len(got)} tiles, {many} of them for nothing.",
                           "which tiles nobody here may see, and which come twice.")  # fmt: skip
    length, tile = 4_096, 64
    visits = sum(len([*starts(i, i + tile, length, tile)]) for i in range(0, length, tile))
    return f"Of {(length // tile) ** 2:,} pairs of tiles in 4,096 tokens, you visit {visits:,}."


exercise = Exercise(__name__, text, judge=judge)
