"""One more score, and the maximum and the sum so far: the step of the online softmax."""

import math

from gpulessons.exercises.asking import a_function

text = '''\
from math import exp

def my_update(row_max, total, score):
    """row_max: the largest score so far; total: the sum of exp(each score - row_max).

    Returns both with one more score taken in.
    """
    ### BEGIN SOLUTION
    new = max(row_max, score)
    return new, total * exp(row_max - new) + exp(score - new)
    ### STUB
    ...  # Your turn.
    ### END SOLUTION
'''

ROWS = ((2.0, 1.5), (2.0, 3.0, 3.0, 3.5), (-1_000.0, 1_000.0, 1_001.0))
# A maximum, a sum and one more score, at every step: falling, rising, and where exp overflows.
CASES = [
    (max(row[:n]), sum(math.exp(score - max(row[:n])) for score in row[:n]), row[n])
    for row in ROWS for n in range(1, len(row))
]  # fmt: skip

mistakes = (
    ("It did not rescale the sum for the new maximum.", "total * exp(row_max - new)", "total"),
    ("It took the new score as if it were the largest.", "exp(score - new)", "1"),
    ("Right, but in the other order: the maximum, then the sum.",
     "return new, total * exp(row_max - new) + exp(score - new)",
     "return total * exp(row_max - new) + exp(score - new), new"),
)  # fmt: skip

hints = (
    "The old sum is measured from the old maximum. exp(a - new) is exp(a - old) times what?",
    "return new, total * exp(row_max - new) + exp(score - new)",
)

exercise = a_function(
    __name__, text, CASES,
    "exp(a - new) = exp(a - row_max) × exp(row_max - new); a new score may be smaller.",
    "Nine scores in, each read once, and the sums are right at every moment.", mistakes, hints,
)
