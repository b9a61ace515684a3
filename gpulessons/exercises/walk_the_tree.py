"""Walk down a tree of classes: the log-probability of the class at the end of its path."""

import numpy as np

from gpulessons.exercises.asking import a_function

text = '''\
import numpy as np

def my_log_probability(h, w, nodes, turns):
    """h: (dim,); w: (inner nodes, dim); nodes, turns: the path of one class. Returns a float.

    The probability of turn 0 at a node is sigmoid(w[node] @ h), that of turn 1 is what is left.
    """
    ### BEGIN SOLUTION
    scores = (1 - 2 * turns) * (w[nodes] @ h)  # sigmoid(-score) is 1 - sigmoid(score)
    return -np.logaddexp(0, -scores).sum()
    ### STUB
    ...  # Your turn. No step may overflow or take log(0), however sure it is and however many.
    ### END SOLUTION
'''


def path(steps, rng, dim=3):
    """h, w, nodes, turns: through each of so many inner nodes once."""
    h, w = rng.standard_normal(dim), rng.standard_normal((steps, dim))
    return h, w, rng.permutation(steps), rng.integers(0, 2, steps)


RNG, ONE, ROOT = np.random.default_rng(0), np.ones(1), np.array([0])
SURE = [(ONE, np.array([[score]]), ROOT, np.array([turn]))  # exp of 1,000 overflows
        for score in (1000.0, -1000.0) for turn in (0, 1)]  # fmt: skip
CASES = [*(path(steps, RNG) for steps in (1, 2, 3, 5, 2000)), *SURE]
mistakes = (
    ("Every turn is taken for the other one.", "1 - 2 * turns", "2 * turns - 1"),
    ("It is the probability, and its logarithm is expected.",
     "-np.logaddexp(0, -scores).sum()", "np.exp(-np.logaddexp(0, -scores).sum())"),
    ("Right where steps are few and unsure. exp overflows at a score of −1,000, and log(0) is −∞.",
     "-np.logaddexp(0, -scores)", "np.log(1 / (1 + np.exp(-scores)))"),
)  # fmt: skip

hints = (
    "The logarithm of a product is a sum of logarithms: one term for each node. And log sigmoid(s) "
    "is −log(1 + exp(−s)): np.logaddexp(0, −s) is that logarithm, and never overflows.",
    "return -np.logaddexp(0, -scores).sum()",
)

exercise = a_function(
    __name__, text, CASES,
    "one term for each node, with the sign of its turn; log(1 + exp(x)), for a large x, is x.",
    "A step as sure as can be does not overflow, and a path of 2,000 steps does not underflow.",
    mistakes, hints,
)
