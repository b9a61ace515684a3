"""Which all-reduce for this size and this network? The model says: messages, and bytes in each."""

import math

from gpulessons.grader.answers import check_answers
from gpulessons.grader.check import Exercise

text = '''\
from math import ceil, log2

def my_choice(workers, size, latency, bandwidth):
    """(seconds, "tree" or "ring"): the quicker one, for `size` bytes on each worker."""
    tree = 2 * ceil(log2(workers)) * (latency + size / bandwidth)
    ### BEGIN SOLUTION
    ring = 2 * (workers - 1) * (latency + size / workers / bandwidth)
    ### STUB
    ring = tree  # Is it? How many messages wait for each other, and how long is each?
    ### END SOLUTION
    return min((tree, "tree"), (ring, "ring"))
'''

# Many workers and few, with small vectors and large ones; two workers, and a close call. All are
# divided evenly, so that pieces of whole bytes are the same.
CASES = [
    (1000, 4e3, 50e-6, 1e9), (8, 4e8, 50e-6, 1e9), (8, 1e3, 50e-6, 1e9), (1000, 4e9, 50e-6, 1e9),
    (2, 1e6, 1e-6, 1e10), (33, 1.98e6, 2e-5, 5e9),
]  # fmt: skip


def quicker(workers, size, latency, bandwidth):
    return by_ring(lambda n, latency, whole: 2 * (n - 1) * (latency + whole / n))(
        workers, size, latency, bandwidth
    )


def by_ring(ring):
    """The choice, if the ring took ring(workers, latency, seconds for the whole vector)."""

    def choice(workers, size, latency, bandwidth):
        tree = 2 * math.ceil(math.log2(workers)) * (latency + size / bandwidth)
        return min((tree, "tree"), (ring(workers, latency, size / bandwidth), "ring"))

    return choice


HINT = "how many messages wait for each other, and the bytes in each."
mistakes = (
    ("As if the whole vector went in each message: there it is a piece, 1/n of it.", HINT,
     by_ring(lambda n, latency, whole: 2 * (n - 1) * (latency + whole))),
    ("That pays the latency of only two messages: each of the 2 (n − 1) has its own.", HINT,
     by_ring(lambda n, latency, whole: 2 * (latency + (n - 1) / n * whole))),
    ("Once more round: after n − 1 messages each worker has only one of the finished pieces.",
     HINT, by_ring(lambda n, latency, whole: (n - 1) * (latency + whole / n))),
)  # fmt: skip


def judge(attempt):
    check_answers(attempt, quicker, CASES, HINT, mistakes)
    return ("The tree for small vectors and many workers, the ring for large ones, as long as the "
            "tree sends whole vectors.")  # fmt: skip


exercise = Exercise(__name__, text, judge=judge)
