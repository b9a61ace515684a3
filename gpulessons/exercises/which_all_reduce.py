"""Which all-reduce for this size and this network? The model says: messages, and bytes in each."""

import math

from gpulessons.diagnosis import Trouble

stub = '''\
from math import ceil, log2

def my_choice(workers, size, latency, bandwidth):
    """(seconds, "tree" or "ring"): the quicker one, for `size` bytes on each worker."""
    tree = 2 * ceil(log2(workers)) * (latency + size / bandwidth)
    ring = tree  # Is it? How many messages wait for each other, and how long is each?
    return min((tree, "tree"), (ring, "ring"))
'''

solution = '''\
from math import ceil, log2

def my_choice(workers, size, latency, bandwidth):
    """(seconds, "tree" or "ring"): the quicker one, for `size` bytes on each worker."""
    tree = 2 * ceil(log2(workers)) * (latency + size / bandwidth)
    ring = 2 * (workers - 1) * (latency + size / workers / bandwidth)
    return min((tree, "tree"), (ring, "ring"))
'''

RING = "2 * (workers - 1) * (latency + size / workers / bandwidth)"

wrong = [
    ("size / workers", "size", "whole vector"),
    (RING, "2 * (workers - 1) * size / workers / bandwidth", "no latency"),
    (RING, "2 * (latency + (workers - 1) / workers * size / bandwidth)", "only two messages"),
    ("2 * (workers - 1)", "(workers - 1)", "Once more round"),
    ("(workers - 1)", "workers", "n − 1 steps"),
    ("min(", "max(", "slower"),
]

MISTAKES = {  # what the ring would take if they were right: n workers, the latency, S/B seconds
    "As if the whole vector went in each message: there it is a piece, 1/n of it.":
        lambda n, latency, whole: 2 * (n - 1) * (latency + whole),
    "That ring has no latency, however many messages wait for each other.":
        lambda n, latency, whole: 2 * (n - 1) / n * whole,
    "That pays the latency of only two messages: each of the 2 (n − 1) has its own.":
        lambda n, latency, whole: 2 * (latency + (n - 1) / n * whole),
    "Once more round: after n − 1 messages each worker has only one of the finished pieces.":
        lambda n, latency, whole: (n - 1) * (latency + whole / n),
    "A piece is home after n − 1 steps, not n.":
        lambda n, latency, whole: 2 * n * (latency + whole / n),
}  # fmt: skip
CASES = [(1000, 4e3, 50e-6, 1e9), (8, 4e8, 50e-6, 1e9), (2, 1e6, 1e-6, 1e10), (33, 2e6, 2e-5, 5e9)]


def ways(workers, size, latency, bandwidth):
    """{name: seconds}, by the model."""
    tree = 2 * math.ceil(math.log2(workers)) * (latency + size / bandwidth)
    ring = 2 * (workers - 1) * (latency + size / workers / bandwidth)
    return {"tree": tree, "ring": ring}


def judge(choice):
    """Four networks: many workers, a large vector, two workers, and a close call."""
    look = "how many messages wait for each other, and the bytes in each."
    for workers, size, latency, bandwidth in CASES:
        answer = choice(workers, size, latency, bandwidth)
        due = ways(workers, size, latency, bandwidth)
        quickest = min(due, key=due.get)
        if agrees(answer, due[quickest], quickest):
            continue
        for sentence, ring in MISTAKES.items():
            seconds = {**due, "ring": ring(workers, latency, size / bandwidth)}
            name = min(seconds, key=seconds.get)
            if agrees(answer, seconds[name], name):
                raise Trouble(sentence, look)
        where = f"{workers:,} workers and {size:,.0f} bytes"
        if any(agrees(answer, seconds, name) for name, seconds in due.items()):
            raise Trouble(f"{where}: that is the slower of the two.", "which is less.")
        raise Trouble(f"{where}: {quickest} is due, in {due[quickest]:.3g} s; not {answer}.", look)
    return "The tree for small vectors and many workers, the ring for large ones."


def agrees(answer, seconds, name):
    """Is it this pair? Trouble where it is no pair of a time and a name at all."""
    try:
        time, named = answer
        close = math.isclose(time, seconds, rel_tol=1e-6)
    except (TypeError, ValueError):
        raise Trouble(f"{answer!r} is not (seconds, name).", "what is returned.") from None
    return named == name and close
