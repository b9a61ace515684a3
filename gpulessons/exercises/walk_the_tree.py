"""Walk down a tree of classes: the log-probability of the class at the end of its path."""

import numpy as np

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, check_unchanged, number, returned
from gpulessons.ops.huffman import huffman

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

DIM, CLASSES, STEPS = 8, 24, 2000
SURE = 1000.0  # a score; exp of it overflows, in float64 too


def judge(attempt):
    """Every class of a small tree, where mistakes have names; then sure steps, then many steps."""
    rng = np.random.default_rng(0)
    tree = huffman(1 / np.arange(1, CLASSES + 1))
    h, w = rng.standard_normal(DIM, np.float32), rng.standard_normal((CLASSES - 1, DIM), np.float32)
    paths = [slice(first, end) for first, end in zip(tree.starts, tree.starts[1:], strict=False)]
    got = [answer(attempt, h, w, tree.nodes[path], tree.turns[path]) for path in paths]
    check_paths(got, [(w[tree.nodes[p]].astype(float) @ h, tree.turns[p]) for p in paths])
    one = np.ones(1, np.float32)
    for score, turn in ((SURE, 0), (SURE, 1), (-SURE, 0), (-SURE, 1)):
        step = f"A step with the score {score:+,.0f} and turn {turn}"
        check_path(attempt, one, np.array([[score]], np.float32), np.array([0]), np.array([turn]),
                   step, "log(1 + exp(x)), for an x of a thousand: it is x.")  # fmt: skip
    w, turns = rng.standard_normal((STEPS, 1), np.float32), rng.integers(0, 2, STEPS)
    check_path(attempt, one, w, rng.permutation(STEPS), turns, f"A path of {STEPS:,} steps",
               "a sum of logarithms: a product of so many probabilities is 0.")  # fmt: skip
    return (f"The probabilities of all {CLASSES} classes add up to {np.exp(got).sum():.6f}, and a "
            f"path of {STEPS:,} steps does not underflow.")  # fmt: skip


def answer(attempt, h, w, nodes, turns):
    """What the attempt says about one path, as a float."""
    given = h.copy(), w.copy(), nodes.astype(np.int32), turns.astype(np.int8)
    with np.errstate(all="ignore"):
        result = returned(run(attempt, given, {}))
    check_unchanged((h, w, nodes, turns), given)
    value = np.asarray(result)
    if value.size != 1:
        raise Mismatch(f"It returned {result!r}, where one number is expected.",
                       "the sum over the path.")  # fmt: skip
    return float(value.reshape(()))


def log_probability(scores, turns):
    return -np.logaddexp(0, -(1 - 2 * turns) * scores).sum()


def alike(some, others):
    return np.allclose(some, others, rtol=1e-4, atol=1e-5)  # float32 will do


def check_paths(got, paths):
    expected = [log_probability(*path) for path in paths]
    for sentence, hint, mistake in mistakes:
        if not alike(got, expected) and alike(got, [mistake(*path) for path in paths]):
            raise Mismatch(sentence, hint)
    for c, (mine, right) in enumerate(zip(got, expected, strict=True)):
        if not alike(mine, right):
            raise Mismatch(f"Class {c}: {mine:.6g}, where {right:.6g} is expected.",
                           "one step alone: a class whose path has one node.")  # fmt: skip


def check_path(attempt, h, w, nodes, turns, path, hint):
    expected = log_probability(w[nodes, 0].astype(float), turns)
    try:
        got = number(answer(attempt, h, w, nodes, turns), hint)
    except Mismatch as found:
        raise Mismatch(f"{path}: {expected:,.0f} is expected. {found.sentence}", hint) from found
    if not alike(got, expected):
        raise Mismatch(f"{path} gives {got:,.6g}, where {expected:,.6g} is expected.", hint)


SIGN = "which turn has the probability sigmoid(score)."
mistakes = (
    ("Every turn is taken for the other one.", SIGN,
     lambda scores, turns: log_probability(scores, 1 - turns)),
    ("Every turn is taken for turn 0.", SIGN,
     lambda scores, turns: log_probability(scores, 0 * turns)),
    ("It is the probability, and its logarithm is expected.",
     "a product of 2,000 of them, in float32 or float64.",
     lambda *path: np.exp(log_probability(*path))),
)  # fmt: skip

hints = (
    "The logarithm of a product is a sum of logarithms: one term for each node. And log sigmoid(s) "
    "is −log(1 + exp(−s)): np.logaddexp(0, −s) is that logarithm, and never overflows.",
    "return -np.logaddexp(0, -scores).sum()",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
