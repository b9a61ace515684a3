"""Recall: which share of the true neighbors did a search find?"""

import numpy as np

from gpulessons.exercises.asking import a_function
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
RNG = np.random.default_rng()  # the last case is another every time
CASES = (
    (TRUTH[:, ::-1], TRUTH),  # all, in another order
    (np.array([[1, 2, 30, -1], [5, 40, 50, -1]]), TRUTH),
    (np.hstack([TRUTH[:, :2], TRUTH + 20]), TRUTH),
    (np.array([[1, 1, 1, 1], [5, 5, 6, 6]]), TRUTH),
    (TRUTH[::-1], TRUTH),  # each query was given the other's
    tuple(RNG.permuted(np.tile(np.arange(20), (9, 1)), axis=1)[:, :5] for _ in range(2)),
)
mistakes = (
    ("It compares by position: neighbors may come in any order.",
     "len(set(mine) & set(due))", "sum(a == b for a, b in zip(mine, due))"),
    ("It divides by the number of queries: of all that are to be found is asked.",
     "truth.size", "len(truth)"),
    ("It counts a neighbor again where it is named twice.",
     "len(set(mine) & set(due))", "sum(n in due for n in mine)"),
)  # fmt: skip

hints = (
    "Take one row of truth and the same row of found: how many numbers do they share, each counted "
    "once? A -1 is in no row of truth. Add that up over the rows; divide by all that are due.",
    "hits = [len(set(mine) & set(due)) for mine, due in zip(found, truth)]",
)

exercise = a_function(
    __name__, text, CASES, "what it counts, whose neighbors they are, and what it divides by.",
    "By query and by name, each once, of all that are to be found.", mistakes, hints, (recall,),
)
