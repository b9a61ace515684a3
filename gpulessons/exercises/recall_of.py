"""Recall: which share of the true neighbors did a search find?"""

import numpy as np

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, number, returned
from gpulessons.ops.forest import recall

text = '''\
def my_recall(found, truth):
    """The share of the true neighbors that were found, from 0 to 1.

    A row for each query, of the indices of points, in any order: truth (queries, k), found
    (queries, any number). -1 stands where nothing was found.
    """
    ### BEGIN SOLUTION
    hits = [len(set(mine) & set(due)) for mine, due in zip(found, truth)]
    return sum(hits) / truth.size
    ### STUB
    ...  # Your turn.
    ### END SOLUTION
'''

TRUTH = np.array([[1, 2, 3, 4], [5, 6, 7, 8]])
CASES = (
    (TRUTH[:, ::-1], 1, "all were found, in another order.", "whether it compares by position."),
    (np.array([[1, 2, 30, -1], [5, 40, 50, -1]]), 3 / 8, "three of eight were found.",
     "what it counts, and what it divides by."),
    (np.hstack([TRUTH[:, :2], TRUTH + 20]), 4 / 8, "two of each four were found, among others.",
     "what it divides by: what is to be found, not what came."),
    (np.array([[1, 1, 1, 1], [5, 5, 6, 6]]), 3 / 8, "some were named twice, and three were found.",
     "how often one neighbor counts."),
    (TRUTH[::-1], 0, "each query was given the other's neighbors.", "whose neighbors they are."),
)  # fmt: skip


def judge(attempt):
    """Two queries with four neighbors each; then random ones, which no list of answers foresees."""
    rng = np.random.default_rng()
    found, truth = (rng.permuted(np.tile(np.arange(20), (9, 1)), axis=1)[:, :5] for _ in range(2))
    share = np.mean([np.isin(these, mine) for mine, these in zip(found, truth, strict=True)])
    drawn = found, truth, share, "nine queries at random.", "what it knows of two queries alone."
    for found, truth, share, what, hint in (*((c[0], TRUTH, *c[1:]) for c in CASES), drawn):
        got = number(returned(run(attempt, (found.copy(), truth.copy()), {})), "its return.")
        if abs(got - share) > 1e-6:
            raise Mismatch(f"It says {got:.4g}, where {share:.4g} is expected: {what}", hint)
    return "By query and by name, each once, of all that are to be found."


hints = (
    "Take one row of truth and the same row of found: how many numbers do they share, each counted "
    "once? A -1 is in no row of truth. Add that up over the rows; divide by all that are due.",
    "hits = [len(set(mine) & set(due)) for mine, due in zip(found, truth)]",
)

exercise = Exercise(__name__, text, judge=judge, forbidden=(recall,), hints=hints)
