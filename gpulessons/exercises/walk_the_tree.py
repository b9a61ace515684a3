"""Walk down a tree of classes: the log-probability of the class at the end of its path."""

import numpy as np

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, refuse_changes
from gpulessons.ops.huffman import huffman

stub = '''\
import numpy as np

def my_log_probability(h, w, nodes, turns):
    """h: (dim,); w: (inner nodes, dim); nodes, turns: the path of one class. Returns a float.

    The probability of turn 0 at a node is sigmoid(w[node] @ h), that of turn 1 is what is left.
    """
    ...  # Your turn. No step may overflow or take log(0), however sure it is and however many.
'''

solution = '''\
import numpy as np

def my_log_probability(h, w, nodes, turns):
    """h: (dim,); w: (inner nodes, dim); nodes, turns: the path of one class. Returns a float.

    The probability of turn 0 at a node is sigmoid(w[node] @ h), that of turn 1 is what is left.
    """
    scores = (1 - 2 * turns) * (w[nodes] @ h)  # sigmoid(-score) is 1 - sigmoid(score)
    return -np.logaddexp(0, -scores).sum()
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
    steps = [(w[tree.nodes[path]].astype(float) @ h, tree.turns[path]) for path in paths]
    refuse_wrong(got, steps)
    refuse_unsure(attempt)
    refuse_shallow(attempt)
    total = np.exp(got).sum()
    return (f"The probabilities of all {CLASSES} classes add up to {total:.6f}, and a path of "
            f"{STEPS:,} steps does not underflow.")  # fmt: skip


def answer(attempt, h, w, nodes, turns):
    """What the attempt says about one path, as a float."""
    given = h.copy(), w.copy(), nodes.copy(), turns.copy()
    with np.errstate(all="ignore"):
        result = attempt(*given)
    refuse_changes((h, w, nodes, turns), given)
    if result is None:
        raise Trouble("It returned nothing.", "its last line: return the result.")
    value = np.asarray(result)
    if value.size != 1 or value.dtype.kind not in "fiu":
        raise Trouble(f"It returned {result!r}, where one number is due.", "the sum over the path.")
    return float(value.reshape(()))


def log_sigmoid(scores):
    return -np.logaddexp(0, -scores)


def log_probability(scores, turns):
    return log_sigmoid((1 - 2 * turns) * scores).sum()


def refuse_wrong(got, steps):
    due = [log_probability(*path) for path in steps]
    if alike(got, due):
        return
    for sentence, (hint, mistake) in MISTAKES.items():
        if alike(got, [mistake(*path) for path in steps]):
            raise Trouble(sentence, hint)
    c = next(c for c in range(len(due)) if not alike(got[c : c + 1], due[c : c + 1]))
    raise Trouble(f"Class {c}: {got[c]:.6g}, where {due[c]:.6g} is due.",
                  "one step alone: a class whose path has one node.")  # fmt: skip


def sigmoid(scores):
    return np.exp(log_sigmoid(scores))


SIGN = "which turn has the probability sigmoid(score)."
MISTAKES = {
    "Every turn is taken for the other one.":
        (SIGN, lambda scores, turns: log_probability(scores, 1 - turns)),
    "Every turn is taken for turn 0.": (SIGN, lambda scores, turns: log_sigmoid(scores).sum()),
    "Every turn is taken for turn 1.": (SIGN, lambda scores, turns: log_sigmoid(-scores).sum()),
    "It is the loss: right, but for its sign.":
        ("the logarithm of a probability: never above 0.", lambda *path: -log_probability(*path)),
    "It is the probability, and its logarithm is due.":
        ("a product of 2,000 of them, in float32 or float64.",
         lambda *path: np.exp(log_probability(*path))),
    "It is the mean over the path, and the sum is due.":
        ("a product of probabilities: each step counts.",
         lambda scores, turns: log_probability(scores, turns) / scores.size),
    "It is a logarithm to base 2, and the natural one is due.":
        ("np.log.", lambda *path: log_probability(*path) / np.log(2)),
    "The last node of the path is left out.":
        ("where the loop ends.", lambda scores, turns: log_probability(scores[:-1], turns[:-1])),
    "The root is left out.":
        ("where the loop begins.", lambda scores, turns: log_probability(scores[1:], turns[1:])),
    "It adds probabilities: a path is taken if all of its turns are.":
        ("whether it is a sum or a product.",
         lambda scores, turns: np.log(sigmoid((1 - 2 * turns) * scores).sum())),
}  # fmt: skip


def refuse_unsure(attempt):
    """One step with a score of a thousand, right or wrong: 0 and −1,000."""
    for score, turn in ((SURE, 0), (SURE, 1), (-SURE, 0), (-SURE, 1)):
        h, w = np.ones(1, np.float32), np.full((1, 1), score, np.float32)
        due = log_probability(np.array([score]), np.array([turn]))
        step = f"A step with the score {score:+,.0f} and turn {turn}"
        try:
            got = answer(attempt, h, w, np.zeros(1, np.int32), np.full(1, turn, np.int8))
        except (ArithmeticError, ValueError) as error:  # of the module math; NumPy gives inf or NaN
            why = "exp overflows" if isinstance(error, OverflowError) else "log(0)"
            raise Trouble(
                f"{step} raises {said(error)}, where {due:,.0f} is due: {why}.",
                "log(1 + exp(x)), for an x of a thousand: it is x.",
            ) from None
        if not np.isfinite(got):
            why = "exp overflows" if np.isnan(got) or due > -1 else "log(0), or exp overflows"
            raise Trouble(f"{step} gives {got}, where {due:,.0f} is due: {why}.",
                          "log(1 + exp(x)), for an x of a thousand: it is x.")  # fmt: skip
        if not alike([got], [due]):
            raise Trouble(f"{step} gives {got:.6g}, where {due:.6g} is due.",
                          "what is added inside the logarithm, or cut off.")  # fmt: skip


def refuse_shallow(attempt):
    """2,000 steps, none of them unlikely: their product is no float."""
    rng = np.random.default_rng(1)
    h, w = np.ones(1, np.float32), rng.standard_normal((STEPS, 1), np.float32)
    turns = rng.integers(0, 2, STEPS).astype(np.int8)
    nodes = rng.permutation(STEPS).astype(np.int32)
    try:
        got = answer(attempt, h, w, nodes, turns)
    except RecursionError:
        raise Trouble(f"Right for a short path, but {STEPS:,} steps are deeper than Python calls "
                      "itself.", "a loop over the path, or arrays, instead of a call for "
                      "each step.") from None  # fmt: skip
    except (ArithmeticError, ValueError) as error:
        raise Trouble(f"{STEPS:,} steps raise {said(error)}: a product of so many probabilities "
                      "is 0.", "a sum of logarithms instead.") from None  # fmt: skip
    due = log_probability(w[nodes, 0].astype(float), turns)
    if np.isinf(got) or np.isnan(got):
        raise Trouble(f"{STEPS:,} steps give {got}: a product of so many probabilities is 0.",
                      "a sum of logarithms instead.")  # fmt: skip
    if not alike([got], [due]):
        raise Trouble(f"{STEPS:,} steps give {got:.6g}, where {due:.6g} is due.",
                      "what is cut off, or stops early.")  # fmt: skip


def said(error):
    return f"{type(error).__name__} ({error})"


def alike(some, others):
    return np.allclose(some, others, rtol=1e-4, atol=1e-5)  # float32 will do


hints = (
    "The logarithm of a product is a sum of logarithms: one term for each node. And log sigmoid(s) "
    "is −log(1 + exp(−s)): np.logaddexp(0, −s) is that logarithm, and never overflows.",
    "return -np.logaddexp(0, -scores).sum()",
)

exercise = Exercise(
    __name__, stub, solution, judge=judge, forbidden=(log_probability,), hints=hints
)  # fmt: skip
