"""Recall: which share of the true neighbors did a search find?"""

import numpy as np

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, returned
from gpulessons.ops.forest import recall

stub = '''\
def my_recall(found, truth):
    """The share of the true neighbors that were found, from 0 to 1.

    A row for each query, of the indices of points, in any order: truth (queries, k), found
    (queries, any number). -1 stands where nothing was found.
    """
    ...  # Your turn.
'''

solution = '''\
def my_recall(found, truth):
    """The share of the true neighbors that were found, from 0 to 1.

    A row for each query, of the indices of points, in any order: truth (queries, k), found
    (queries, any number). -1 stands where nothing was found.
    """
    hits = [len(set(mine) & set(due)) for mine, due in zip(found, truth)]
    return sum(hits) / truth.size
'''

TRUTH = np.array([[1, 2, 3, 4], [5, 6, 7, 8]])
CASES = (
    (TRUTH, 1, "all of them were found.", "what counts as found."),
    (TRUTH[:, ::-1], 1, "all were found, in another order.", "whether it compares by position."),
    (TRUTH + 20, 0, "none was found.", "what counts as found."),
    (np.array([[1, 2, 30, -1], [5, 40, 50, -1]]), 3 / 8, "three of eight were found.",
     "what it counts, and what it divides by."),
    (TRUTH[:, :1], 2 / 8, "one was found of each four.",
     "what it divides by: what is due, not what came."),
    (np.hstack([TRUTH[:, :2], TRUTH + 20]), 4 / 8, "two of each four were found, among others.",
     "what it divides by: what is due, not what came."),
    (np.array([[1, 1, 1, 1], [5, 5, 6, 6]]), 3 / 8, "some were named twice, and three were found.",
     "how often one neighbor counts."),
    (TRUTH[::-1], 0, "each query was given the other's neighbors.", "whose neighbors they are."),
)  # fmt: skip


def judge(recall):
    """Two queries with four neighbors each; then random ones, which no list of answers foresees."""
    for found, due, what, hint in CASES:
        got = number(recall(found.copy(), TRUTH.copy()))
        if not abs(got - due) < 1e-6:
            raise Trouble(f"It says {got:.4g}, where {due:g} is due: {what}", hint)
    rng = np.random.default_rng()
    found, truth = (rng.permuted(np.tile(np.arange(20), (9, 1)), axis=1)[:, :5] for _ in range(2))
    due = np.mean([np.isin(due, mine) for mine, due in zip(found, truth, strict=True)])
    got = number(recall(found.copy(), truth.copy()))
    if not abs(got - due) < 1e-6:
        raise Trouble(f"It says {got:.4g} of nine queries at random, where {due:.4g} is due.",
                      "what it knows of the two queries before.")  # fmt: skip
    return "By query and by name, each once, of all that are due."


def number(result):
    """What was returned, as a float; Trouble where it is nothing, or no number."""
    result = returned(result)
    try:
        return float(result)
    except (TypeError, ValueError):
        raise Trouble(f"It returned {result!r}, not a number.", "its return.") from None


hints = (
    "Take one row of truth and the same row of found: how many numbers do they share, each counted "
    "once? A -1 is in no row of truth. Add that up over the rows; divide by all that are due.",
    "hits = [len(set(mine) & set(due)) for mine, due in zip(found, truth)]",
)

exercise = Exercise(
    __name__, stub, solution, judge=judge, forbidden=(recall,), hints=hints
)  # fmt: skip
