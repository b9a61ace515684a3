"""Which all-reduce for this size and this network? The model says: messages, and bytes in each."""

import math

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble

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
# Many workers and few, with small vectors and large ones; two workers, and a close call. All are
# divided evenly, so that pieces of whole bytes are the same.
CASES = [
    (1000, 4e3, 50e-6, 1e9), (8, 4e8, 50e-6, 1e9), (8, 1e3, 50e-6, 1e9), (1000, 4e9, 50e-6, 1e9),
    (2, 1e6, 1e-6, 1e10), (33, 1.98e6, 2e-5, 5e9),
]  # fmt: skip


def right_ring(n, latency, whole):
    return 2 * (n - 1) * (latency + whole / n)


def ways(case, ring=right_ring):
    """(seconds, name) of both, the quicker one first, by the model."""
    workers, size, latency, bandwidth = case
    tree = 2 * math.ceil(math.log2(workers)) * (latency + size / bandwidth)
    return sorted([(tree, "tree"), (ring(workers, latency, size / bandwidth), "ring")])


def judge(choice):
    """All cases: right, or one mistake that explains every answer, or the first wrong answer."""
    hint = "how many messages wait for each other, and the bytes in each."
    answers = [choice(*case) for case in CASES]
    if explained(answers, right_ring):
        return ("The tree for small vectors and many workers, the ring for large ones, as long as "
                "the tree sends whole vectors.")  # fmt: skip
    for sentence, ring in MISTAKES.items():
        if explained(answers, ring):
            raise Trouble(sentence, hint)
    for case, answer in zip(CASES, answers, strict=True):
        quicker, slower = ways(case)
        if not agrees(answer, *quicker):
            given = "yours is the slower of the two" if agrees(answer, *slower) else f"not {answer}"
            raise Trouble(f"{case[0]:,} workers and {case[1]:,.0f} bytes: {quicker[1]} is due, in "
                          f"{quicker[0]:.3g} s; {given}.", hint)  # fmt: skip


def explained(answers, ring):
    return all(agrees(a, *ways(case, ring)[0]) for a, case in zip(answers, CASES, strict=True))


def agrees(answer, seconds, name):
    """Is it this pair? Trouble where it is no pair of a time and a name at all."""
    try:
        time, named = answer
        close = math.isclose(time, seconds, rel_tol=1e-6)
    except (TypeError, ValueError):
        raise Trouble(f"{answer!r} is not (seconds, name).", "what is returned.") from None
    return named == name and close


exercise = Exercise(__name__, stub, solution, judge=judge)
