"""One more score, and the maximum and the sum so far: the step of the online softmax."""

import math

import numpy as np

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble

stub = '''\
from math import exp

def my_update(top, total, score):
    """top: the largest score so far; total: the sum of exp(each score - top).

    Returns both with one more score taken in.
    """
    ...  # Your turn.
'''

solution = '''\
from math import exp

def my_update(top, total, score):
    """top: the largest score so far; total: the sum of exp(each score - top).

    Returns both with one more score taken in.
    """
    new = max(top, score)
    return new, total * exp(top - new) + exp(score - new)
'''


FALLING = (2.0, 1.5)
RISING = (2.0, 3.0, 3.0, 3.5)
LARGE = (-1_000.0, 1_000.0, 1_001.0)


def judge(update):
    """Falling scores, then rising ones, then large ones."""
    for scores in (FALLING, RISING, LARGE):
        top, total, seen = scores[0], 1.0, scores[:1]
        for score in scores[1:]:
            given, seen = (top, total), (*seen, score)
            top, total = one_step(update, *given, score)
            compare(top, total, seen, given)
    return "Nine scores in, each read once, and the sums are right at every moment."


def one_step(update, top, total, score):
    try:
        result = update(top, total, score)
    except OverflowError as error:
        raise Trouble(f"exp overflows at a score of {score:,.0f}.",
                      "whether exp ever sees more than 0.") from error  # fmt: skip
    pair = np.asarray(result)
    if pair.shape != (2,) or pair.dtype.kind not in "fiu":
        raise Trouble(f"It returned {result!r}.", "the docstring: the maximum and the sum.")
    return pair.tolist()


def compare(top, total, seen, given):
    """seen: all scores so far; given: the (maximum, sum) before the last of them."""
    (before, old), most = given, max(seen)
    due = sum(math.exp(score - most) for score in seen)
    step = f"After the scores {', '.join(f'{score:g}' for score in seen)}:"
    if close(top, due) and close(total, most):
        raise Trouble(f"{step} right, but in the other order.", "the docstring.")
    if top != most:
        raise Trouble(f"{step} {top:g} is not the largest so far.", "a new score may be smaller.")
    if close(total, due):
        return
    new = math.exp(seen[-1] - most)
    reasons = {
        old + new: "it did not mend the sum for the new maximum.",
        old * math.exp(min(most - before, 700)) + new: "it mended the sum the wrong way.",
        old * math.exp(before - most): "it left the new score out.",
        old * math.exp(before - most) + math.exp(min(seen[-1] - before, 700)):
            "it took the new score from the old maximum.",
        old * math.exp(before - most) + math.exp(min(seen[-1], 700)):
            "it took the new score as it is, without a maximum.",
        old * math.exp(before - most) + math.exp(min(most - seen[-1], 700)):
            "it took the difference of the new score the wrong way round.",
        old * math.exp(before - most) + 1: "it took the new score as if it were the largest.",
    }  # fmt: skip
    reason = next((r for value, r in reasons.items() if close(total, value)), "")
    raise Trouble(f"{step} {reason or f'the sum is {total:.4g}, where {due:.4g} is due.'}",
                  "exp(a - new) = exp(a - top) × exp(top - new).")  # fmt: skip


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-6)  # a float32 will do


exercise = Exercise(__name__, stub, solution, judge=judge)
