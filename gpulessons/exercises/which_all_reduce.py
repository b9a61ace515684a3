"""Which all-reduce for this size and this network? The model says: messages, and bytes in each."""

from gpulessons.exercises.asking import a_function

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

mistakes = (
    ("As if the whole vector went in each message: there it is a piece, 1/n of it.",
     "size / workers", "size"),
    ("That pays the latency of only two messages: each of the 2 (n − 1) has its own.",
     "(workers - 1) * (latency + size / workers / bandwidth)",
     "(latency + (workers - 1) / workers * size / bandwidth)"),
    ("Once more round: after n − 1 messages each worker has only one of the finished pieces.",
     "2 * (workers - 1)", "(workers - 1)"),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "how many messages wait for each other, and the bytes in each.",
    "The tree for small vectors and many workers, the ring for large ones, as long as the tree "
    "sends whole vectors.", mistakes,
)  # fmt: skip
