"""A softmax that survives any score: subtract what, and from what?"""

import numpy as np

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, check_unchanged, returned
from gpulessons.grader.ownership import require_own_code

text = '''\
def my_softmax(x):
    """Each row of x (rows, columns) as probabilities: they add up to one."""
    ### BEGIN SOLUTION
    exps = np.exp(x - x.max(axis=1, keepdims=True))
    ### STUB
    exps = np.exp(x)  # Your turn: 1,000 is too much for it.
    ### END SOLUTION
    return exps / exps.sum(axis=1, keepdims=True)
'''

SCORES = {
    "ordinary scores": [[1, 2.25, 3], [0, 0.5, 5]],
    "scores of about 1,000": [[1_000, 1_001, 1_002]],
    "a row of scores of about 1,000 and the row of small ones below it":
        [[1_000, 1_001, 1_002], [-1_000, -999, -998]],
    "scores that are far apart in one row": [[-20_000, 0, 20_000], [20_000, 0, -20_000]],
}  # fmt: skip


def judge(attempt):
    """Ordinary scores, large ones, a row of large ones above a row of small, all in one row."""
    require_own_code(attempt, "softmax")
    for what, rows in SCORES.items():
        x = np.array(rows, np.float32)
        given, exps = x.copy(), np.exp(x - x.max(axis=1, keepdims=True))
        with np.errstate(all="ignore"):
            result = returned(run(attempt, (given,), {}))
        check_unchanged([x], [given])
        got = np.asarray(result, float)
        if got.shape != x.shape:
            raise Mismatch(f"Shape {got.shape}, where {x.shape} is expected.",
                           "axis=1, keepdims=True.")  # fmt: skip
        if not np.isfinite(got).all():
            raise Mismatch(f"NaN or infinity for {what}.", "the largest number that exp sees, and "
                           "the smallest sum: inf / inf and 0 / 0 are both NaN.")  # fmt: skip
        if not np.allclose(got.sum(axis=1), 1, atol=1e-5):
            raise Mismatch(f"For {what}, rows do not add up to one.",
                           "what each row is divided by.")  # fmt: skip
        if not np.allclose(got, exps / exps.sum(axis=1, keepdims=True), atol=1e-5):
            hint = "what may be done to all scores of a row without changing one."
            raise Mismatch(f"For {what}, it gives other probabilities than exp(x) over its sum.",
                           hint)  # fmt: skip
    return "1,000 or −1,000: only the differences within a row matter."


exercise = Exercise(__name__, text, judge=judge)
