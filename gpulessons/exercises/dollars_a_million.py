"""What does a million tokens cost at any load? One request, measured alone, tells it."""

import random

from gpulessons.exercises.asking import a_function

text = '''\
def my_dollars(requests, room, first, step, answer, rent):
    """Dollars for a million written tokens, where so many requests are sent at once.

    room: how many of them fit into memory. The others wait in a queue.
    first: seconds for one prompt. step: seconds for one step. Both as measured of one request alone.
    answer: tokens of an answer; the prompt gives the first, each step one more. rent: $ an hour.
    """
    ### BEGIN SOLUTION
    sharing = min(requests, room)
    seconds = first + (answer - 1) * step / sharing  # of the GPUs' time, for one request
    ### STUB
    seconds = first + (answer - 1) * step  # Your turn: which part do requests share?
    ### END SOLUTION
    return rent / 3600 * seconds / answer * 1e6
'''


def drawn(rng):
    return (rng.randrange(1, 9), rng.randrange(1, 9), rng.randrange(1, 9), rng.randrange(1, 9) / 8,
            rng.randrange(2, 99), 36)  # fmt: skip


CASES = [(1, 4, 2.0, 0.5, 9, 36), (4, 4, 2.0, 0.5, 9, 36), (8, 4, 2.0, 0.5, 9, 36),
         *map(drawn, [random.Random(0)] * 20)]  # fmt: skip
mistakes = (
    ("Requests share the steps. Each has a prompt of its own.",
     "first + (answer - 1) * step / sharing", "(first + (answer - 1) * step) / sharing"),
    ("Those in the queue share nothing yet.", "min(requests, room)", "requests"),
    ("The prompt gives the first token.", "(answer - 1)", "answer"),
)
hints = ("A step writes one token for every request that fits. So what is one request's part of it?",
         "sharing = min(requests, room)")  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "which seconds are one request's alone, and which it shares, with whom.",
    "23 servers: below their room, at it, and beyond it.", mistakes, hints,
)  # fmt: skip
