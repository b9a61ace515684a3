"""Causal attention: which tiles of keys does a tile of queries have to visit at all?"""

from collections.abc import Iterable

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, number

stub = '''\
def my_starts(first, last, keys, tile):
    """Where the tiles of keys start that queries first … last - 1 need.

    Query i sees keys 0 … i, and there are so many keys in all.
    """
    return range(0, keys, tile)  # Your turn: every tile, also those that nobody here may see.
'''

solution = '''\
def my_starts(first, last, keys, tile):
    """Where the tiles of keys start that queries first … last - 1 need.

    Query i sees keys 0 … i, and there are so many keys in all.
    """
    return range(0, min(last, keys), tile)
'''

CASES = ((0, 64, 256, 64), (64, 128, 256, 64), (192, 256, 256, 128), (0, 48, 256, 32),
         (130, 200, 200, 64), (128, 192, 100, 64), (64, 65, 256, 64), (128, 192, 65, 64),
         (128, 192, 128, 64))  # fmt: skip


def judge(starts):
    """Every case by name, then the tiles of a whole text, counted."""
    for case in CASES:
        compare(listed(starts, case), case)
    text, tile = 4_096, 64
    visits = sum(len(listed(starts, (i, i + tile, text, tile))) for i in range(0, text, tile))
    return f"Of {(text // tile) ** 2:,} pairs of tiles in 4,096 tokens, you visit {visits:,}."


def listed(starts, case):
    got, hint = starts(*case), "what the docstring asks for: where each tile starts."
    if not isinstance(got, Iterable):
        raise Trouble(f"It returned {got!r}.", hint)
    return [number(start, hint) for start in got]


def compare(got, case):
    first, last, keys, tile = case
    needed = [start for start in range(0, keys, tile) if start < last]
    here = f"For queries {first} … {last - 1} of {keys} keys, in tiles of {tile}:"
    if any(start % tile for start in got):
        raise Trouble(f"{here} starts of tiles are 0, {tile}, {2 * tile} …", "the step.")
    if len(set(got)) < len(got):
        raise Trouble(f"{here} a tile is visited twice.", "the loop.")
    if any(start >= keys for start in got):
        raise Trouble(f"{here} there is a tile behind the last key.", "keys may be few.")
    if missing := sorted(set(needed) - set(got)):
        if missing[0] == 0 and first:
            raise Trouble(f"{here} the beginning of the text is missing.", "what query i sees.")
        raise Trouble(f"{here} its own tile is missing, from {missing[0]} on.",
                      "the last query of the tile: it sees itself.")  # fmt: skip
    if extra := sorted(set(got) - set(needed)):
        many = "one that nobody may see" if len(extra) == 1 else f"{len(extra)} that nobody may see"
        raise Trouble(f"{here} {len(got)} tiles, {many}.", f"the tile from {extra[0]} on.")


exercise = Exercise(__name__, stub, solution, judge=judge)
