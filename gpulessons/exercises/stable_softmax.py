"""A softmax that survives any score: subtract what, and from what?"""

import numpy as np

from gpulessons.exercises.asking import check_like
from gpulessons.grader.check import Exercise
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

# Ordinary scores; large ones; a row of large ones above a row of small; all in one row.
SCORES = (
    [[1, 2.25, 3], [0, 0.5, 5]],
    [[1_000, 1_001, 1_002]],
    [[1_000, 1_001, 1_002], [-1_000, -999, -998]],
    [[-20_000, 0, 20_000], [20_000, 0, -20_000]],
)
mistakes = (
    ("A row's sum is 0 where another row has much larger scores: each has a largest of its own.",
     "x.max(axis=1, keepdims=True)", "x.max()"),
    ("What is subtracted must be the row's own: exp of ordinary scores less 1,000 is 0.",
     "x.max(axis=1, keepdims=True)", "1_000"),
    ("Rows do not add up to one: each is divided by its own sum.",
     "exps / exps.sum(axis=1, keepdims=True)", "exps / exps.sum()"),
)  # fmt: skip


def judge(attempt):
    require_own_code(attempt, "softmax")
    cases = [(np.array(rows, np.float32),) for rows in SCORES]
    hint = "the largest number that exp sees, and the smallest sum: inf / inf and 0 / 0 are NaN."
    check_like(text, attempt, cases, hint, mistakes)
    return "1,000 or −1,000: only the differences within a row matter."


exercise = Exercise(__name__, text, judge=judge)
