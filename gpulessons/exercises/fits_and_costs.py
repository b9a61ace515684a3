"""What fits on a card, how long may a step be, and what does a token then cost?"""

import random

from gpulessons.exercises.asking import a_function

text = '''\
def fits_and_costs(memory, bandwidth, rent, weights, cache, slowest):
    """Dollars of a million tokens, with as many requests in flight as may be. None if none may be.

    memory: bytes. bandwidth: bytes a second. rent: dollars an hour. weights: bytes, always there.
    cache: bytes of one request. A step reads all that is there, and gives each request one token.
    slowest: the most seconds that a step may take, as each user waits so long for a token.
    """
    ### BEGIN SOLUTION
    room = (memory - weights) // cache
    in_time = (slowest * bandwidth - weights) // cache
    requests = min(room, in_time)
    if requests < 1:
        return None
    seconds = (weights + requests * cache) / bandwidth
    return rent / 3600 * seconds / requests * 1e6
    ### STUB
    requests = memory // cache  # Your turn: what else needs room, and how long may a step be?
    seconds = weights / bandwidth  # Your turn: what else is read?
    return rent / 3600 * seconds * 1e6  # Your turn: how many tokens is that for?
    ### END SOLUTION
'''

# Round numbers that stand for no card. The bandwidth of most is a power of two, as the order of
# operations would else decide whether a request that is just in time still is.
FULL = (100, 10, 36, 40, 7, 60)  # 8 fit, and in 60 seconds a step could read them all
SOON = (100, 10, 36, 40, 7, 7)  # 4 in time
NONE_FIT = (40, 10, 36, 40, 7, 60)
NONE_IN_TIME = (100, 10, 36, 40, 7, 4)
ONE = (47, 10, 36, 40, 7, 60)


def drawn(rng):
    weights = rng.randrange(20, 60)
    return (rng.randrange(50, 150), 2 ** rng.randrange(2, 5), rng.randrange(1, 9), weights,
            rng.randrange(1, 9), rng.randrange(3, 20))  # fmt: skip


CASES = [FULL, SOON, NONE_FIT, NONE_IN_TIME, ONE, *map(drawn, [random.Random(0)] * 40)]
mistakes = (
    ("The weights need room, too.", "(memory - weights) // cache", "memory // cache"),
    ("A step may not take longer than `slowest`.", "min(room, in_time)", "room"),
    ("That is the price of a step: it writes a token for each request.", " / requests *", " *"),
)

exercise = a_function(
    __name__, text, CASES,
    "The smaller of what fits and what is in time. Then rent × seconds of a step, over its tokens.",
    "45 cards: one has no room, one is too slow for its weights alone, one has room for one.",
    mistakes,
)
