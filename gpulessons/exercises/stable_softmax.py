"""A softmax that survives any score: subtract what, and from what?"""

import numpy as np

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, refuse_changes, returned
from gpulessons.grader.ownership import refuse_ready_made

stub = '''\
def my_softmax(x):
    """Each row of x (rows, columns) as probabilities: they add up to one."""
    exps = np.exp(x)  # Your turn: 1,000 is too much for it.
    return exps / exps.sum(axis=1, keepdims=True)
'''

solution = '''\
def my_softmax(x):
    """Each row of x (rows, columns) as probabilities: they add up to one."""
    exps = np.exp(x - x.max(axis=1, keepdims=True))
    return exps / exps.sum(axis=1, keepdims=True)
'''

ORDINARY = np.array([[1, 2.25, 3], [0, 0.5, 5]], np.float32)
LARGE = np.array([[1_000, 1_001, 1_002]], np.float32)
MIXED = np.array([[1_000, 1_001, 1_002], [-1_000, -999, -998]], np.float32)
WIDE = np.array([[-20_000, 0, 20_000], [20_000, 0, -20_000]], np.float32)


def judge(softmax):
    """Ordinary scores, large ones, a row of large ones above a row of small, all in one row."""
    refuse_ready_made(softmax, "softmax")
    try_scores(softmax, ORDINARY, "ordinary scores")
    try_scores(softmax, LARGE, "scores of about 1,000")
    try_scores(softmax, MIXED, "a row of scores of about 1,000 and the row of small ones below it")
    try_scores(softmax, WIDE, "scores that are far apart in one row")
    return "1,000 or −1,000: only the differences within a row matter."


def try_scores(softmax, x, what):
    given = x.copy()
    with np.errstate(all="ignore"):
        got = softmax(given)
    refuse_changes([x], [given])
    got = np.asarray(returned(got), float)
    if got.shape != x.shape:
        raise Trouble(f"Shape {got.shape}, where {x.shape} is due.", "axis=1, keepdims=True.")
    if not np.isfinite(got).all():
        raise Trouble(f"NaN or infinity for {what}.", "the largest number that exp sees, and the "
                      "smallest sum: inf / inf and 0 / 0 are both NaN.")  # fmt: skip
    if not np.allclose(got.sum(axis=1), 1, atol=1e-5):
        raise Trouble(f"For {what}, rows do not add up to one.", "what each row is divided by.")
    refuse_other_probabilities(got, x, what)


def refuse_other_probabilities(got, x, what):
    exps = np.exp(x - x.max(axis=1, keepdims=True))
    if np.allclose(got, exps / exps.sum(axis=1, keepdims=True), atol=1e-5):
        return
    if np.ptp(got) < 1e-6:
        raise Trouble(f"For {what}, all above some limit are alike.", "what became of the "
                      "differences between the scores.")  # fmt: skip
    if (got.argmax(axis=1) == x.argmin(axis=1)).any():
        raise Trouble("The smallest score gets most.", "the sign of the difference.")
    raise Trouble(f"For {what}, it gives other probabilities than exp(x) over its sum.",
                  "what may be done to all scores of a row without changing one.")  # fmt: skip


exercise = Exercise(__name__, stub, solution, judge=judge)
