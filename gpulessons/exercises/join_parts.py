"""Two parts of a softmax's row become one: the heart of tiled attention and of split-K."""

import numpy as np

from gpulessons.exercises.asking import a_function

text = '''\
import numpy as np

def my_join(one, other):
    """Two parts of a row, each (largest score, sum of exps, exps @ values), as one part.

    The exps of a part are measured from its own largest score.
    """
    ### BEGIN SOLUTION
    largest = max(one[0], other[0])
    a, b = (np.exp(each[0] - largest) for each in (one, other))
    return largest, a * one[1] + b * other[1], a * one[2] + b * other[2]
    ### STUB
    ...  # Your turn.
    ### END SOLUTION
'''


def part(scores, values):
    scores, values = np.array(scores, float), np.array(values, float)
    exps = np.exp(scores - scores.max())
    return scores.max(), exps.sum(), exps @ values


# The largest score in the second part, in the first, in both; scores where exp overflows.
ONE, TWO, NEAR, FAR = ([1, 2], [[1, 0], [0, 1]]), ([3], [[2, 2]]), ([2, 0], 2 * [[1, 3]]), (
    [1_000, 999], [[1, 2], [3, 4]])  # fmt: skip
CASES = [(part(*a), part(*b)) for a, b in ((ONE, TWO), (TWO, ONE), (ONE, NEAR), (TWO, FAR))]

mistakes = (
    ("The sums are rescaled, the outputs are not: they were added up with the same exps.",
     "a * one[2] + b * other[2]", "one[2] + other[2]"),
    ("The factor is upside down: a part shrinks.", "each[0] - largest", "largest - each[0]"),
    ("The output is divided already: then it cannot be joined any more. Divide once, at the end.",
     "a * one[2] + b * other[2]", "(a * one[2] + b * other[2]) / (a * one[1] + b * other[1])"),
)  # fmt: skip

hints = (
    "Each part is measured from its own maximum, which may be too small. Which factor mends it?",
    "a, b = (np.exp(each[0] - largest) for each in (one, other))",
)

exercise = a_function(
    __name__, text, CASES, "the new maximum; then a factor for each part, of its sum and output.",
    "The parts may come in any order, from any block: a row can be cut wherever you like.",
    mistakes, hints,
)
