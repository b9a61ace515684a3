"""One more score, and the maximum and the sum so far: the step of the online softmax."""

import math

import numpy as np

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble

stub = '''\
from math import exp

def my_update(row_max, total, score):
    """row_max: the largest score so far; total: the sum of exp(each score - row_max).

    Returns both with one more score taken in.
    """
    ...  # Your turn.
'''

solution = '''\
from math import exp

def my_update(row_max, total, score):
    """row_max: the largest score so far; total: the sum of exp(each score - row_max).

    Returns both with one more score taken in.
    """
    new = max(row_max, score)
    return new, total * exp(row_max - new) + exp(score - new)
'''

FALLING = (2.0, 1.5)
RISING = (2.0, 3.0, 3.0, 3.5)
LARGE = (-1_000.0, 1_000.0, 1_001.0)


def judge(update):
    """Falling scores, then rising ones, then large ones."""
    for scores in (FALLING, RISING, LARGE):
        row_max, total, seen = scores[0], 1.0, scores[:1]
        for score in scores[1:]:
            given, seen = (row_max, total), (*seen, score)
            row_max, total = one_step(update, *given, score)
            compare(row_max, total, seen, given)
    return "Nine scores in, each read once, and the sums are right at every moment."


def one_step(update, row_max, total, score):
    try:
        result = update(row_max, total, score)
    except OverflowError as error:
        raise Trouble(f"exp overflows at a score of {score:,.0f}.",
                      "whether exp ever sees more than 0.") from error  # fmt: skip
    pair = np.asarray(result)
    if pair.shape != (2,) or pair.dtype.kind not in "fiu":
        raise Trouble(f"It returned {result!r}.", "the docstring: the maximum and the sum.")
    return pair.tolist()


def compare(row_max, total, seen, given):
    """seen: all scores so far; given: the (maximum, sum) before the last of them."""
    (before, old), largest = given, max(seen)
    due = sum(math.exp(score - largest) for score in seen)
    step = f"After the scores {', '.join(f'{score:g}' for score in seen)}:"
    if close(row_max, due) and close(total, largest):
        raise Trouble(f"{step} right, but in the other order.", "the docstring.")
    if row_max != largest:
        raise Trouble(f"{step} {row_max:g} is not the largest.", "a new score may be smaller.")
    if close(total, due):
        return
    reasons = mistakes(old, before, largest, seen[-1])
    reason = next((r for value, r in reasons.items() if close(total, value)), "")
    raise Trouble(f"{step} {reason or f'the sum is {total:.4g}, where {due:.4g} is due.'}",
                  "exp(a - new) = exp(a - row_max) × exp(row_max - new).")  # fmt: skip


def mistakes(old, before, largest, score):
    """{what the sum would be: the mistake that makes it so}"""
    rescaled, new = old * math.exp(before - largest), math.exp(score - largest)

    def exp(x):
        return math.exp(min(x, 700))  # the largest that is no overflow

    return {
        old + new: "it did not rescale the sum for the new maximum.",
        old * exp(largest - before) + new: "it rescaled the sum the wrong way.",
        rescaled: "it left the new score out.",
        rescaled + exp(score - before): "it took the new score from the old maximum.",
        rescaled + exp(score): "it took the new score as it is, without a maximum.",
        rescaled + exp(largest - score):
            "it took the difference of the new score the wrong way round.",
        rescaled + 1: "it took the new score as if it were the largest.",
    }  # fmt: skip


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-6)  # a float32 will do


hints = (
    "The old sum is measured from the old maximum. exp(a - new) is exp(a - old) times what?",
    "return new, total * exp(row_max - new) + exp(score - new)",
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
