"""What does one request take of the GPUs, in a batch of any size? One, timed alone, tells it."""

import random

from gpulessons.exercises.asking import a_function

text = '''\
def my_seconds(batch, first, step, answer, weights, cache):
    """Seconds of the GPUs that one request takes, where `batch` requests share every step.

    first, step: seconds of one request alone, for its prompt and for one step after it.
    answer: tokens. The prompt gives the first of them, each step one more.
    weights, cache: bytes. A step reads the weights once, and the cache of each request in the
    batch. Its seconds are in proportion to what it reads.
    """
    ### BEGIN SOLUTION
    shared = step * (weights + batch * cache) / (weights + cache)
    return first + (answer - 1) * shared / batch
    ### STUB
    return first + (answer - 1) * step  # Your turn: what is shared, and by how many?
    ### END SOLUTION
'''


def drawn(rng):
    return (rng.randrange(1, 9), rng.randrange(1, 9), rng.randrange(1, 9) / 8,
            rng.randrange(2, 99), rng.randrange(1, 99), rng.randrange(1, 9))  # fmt: skip


CASES = [(1, 2.0, 0.5, 9, 70, 1), (4, 2.0, 0.5, 9, 70, 2), (64, 2.0, 0.5, 9, 70, 1),
         *map(drawn, [random.Random(0)] * 20)]  # fmt: skip
mistakes = (
    ("Requests share the steps. Each has a prompt of its own.",
     "first + (answer - 1) * shared / batch", "(first + (answer - 1) * shared) / batch"),
    ("A larger batch reads more: a cache for each request.",
     "(weights + batch * cache) / (weights + cache)", "1"),
    ("The prompt gives the first token.", "(answer - 1)", "answer"),
)
hints = ("A step serves the whole batch. So what is one request's part of its seconds?",
         "shared = step * (weights + batch * cache)")  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "which seconds are one request's alone, and which the batch shares.",
    "23 batches, of one and of many.", mistakes, hints,
)  # fmt: skip
