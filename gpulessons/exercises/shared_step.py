"""What does one request take of the GPUs, in a batch of any size? One, timed alone, tells it."""

import random

from gpulessons.exercises.asking import a_function

text = '''\
def my_seconds(batch, prompt, answer, first, step, weights, cache):
    """GPU seconds of one request: those of its prompt, and its share of the steps of a batch.
    prompt, answer: tokens. The prompt gives the answer's first token, each step one more.
    first, step: seconds of one request alone, for its whole prompt and for one step after it.
    weights, cache: bytes. A step reads the weights once and the cache of each request in the batch;
    `step` read the weights and one cache. Its arithmetic is that of a prompt of `batch` tokens, and
    the step takes as long as the longer of the two.
    """
    ### BEGIN SOLUTION
    reading = step * (weights + batch * cache) / (weights + cache)
    computing = batch * first / prompt
    return first + (answer - 1) * max(reading, computing) / batch
    ### STUB
    return first + (answer - 1) * step  # Your turn: what do the requests of a batch share?
    ### END SOLUTION
'''


def drawn(rng):
    return (rng.randrange(1, 9), rng.randrange(1, 99), rng.randrange(2, 99), rng.randrange(1, 9),
            rng.randrange(1, 9) / 8, rng.randrange(1, 99), rng.randrange(1, 9))  # fmt: skip


FIRST = (1, 100, 9, 2.0, 0.5, 70, 1), (4, 100, 9, 2.0, 0.5, 70, 2), (64, 10, 9, 2.0, 0.5, 70, 1)
CASES = [*FIRST, *map(drawn, [random.Random(0)] * 20)]
mistakes = (
    ("Requests share the steps. Each has a prompt of its own.",
     "first + (answer - 1) * max(reading, computing) / batch",
     "(first + (answer - 1) * max(reading, computing)) / batch"),
    ("A larger batch reads more: a cache for each request.",
     "(weights + batch * cache) / (weights + cache)", "1"),
    ("With many requests the arithmetic of a step takes longer than its reading.",
     "max(reading, computing)", "reading"),
)
hints = ("A step serves the whole batch. So what is one request's part of its seconds?",
         "reading = step * (weights + batch * cache) / (weights + cache)")  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "which seconds are one request's alone, and which the batch shares.",
    "23 batches, of one and of many, some of which wait for arithmetic.", mistakes, hints,
)  # fmt: skip
