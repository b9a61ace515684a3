"""Answers to `walk_the_tree`: its solution with one edit each."""

from gpulessons.exercises import walk_the_tree

SCORES = "    scores = (1 - 2 * turns) * (w[nodes] @ h)  # sigmoid(-score) is 1 - sigmoid(score)\n"
RETURN = "    return -np.logaddexp(0, -scores).sum()\n"
BODY = SCORES + RETURN
LOOP = """\
    total = 0.0
    for node, turn in zip({path}):
        score = float(w[node] @ h)
        {step}
    return {result}
"""
BORROWED = """\
from gpulessons import tree_softmax

def mine(h, w, nodes, turns):
    starts = np.array([0, len(nodes)])
    path = starts, nodes, turns, len(nodes)
    return -tree_softmax(h[None], np.array([0]), w, *path)[0]
"""
BORROWED_TOO = """\
import sys

log_probability = sys.modules["gpulessons.exercises.walk_the_tree"].log_probability

def mine(h, w, nodes, turns):
    return log_probability(w[nodes] @ h, turns)
"""


def loop(step, result="total", path="nodes, turns"):
    return LOOP.format(step=step, result=result, path=path)


wrong = [
    ("1 - 2 * turns", "2 * turns - 1", "taken for the other one"),
    ("(1 - 2 * turns) * ", "", "taken for turn 0"),
    ("(1 - 2 * turns) * ", "-", "taken for turn 1"),
    ("return -np", "return np", "right, but for its sign"),
    ("return -np.logaddexp(0, -scores).sum()", "return np.exp(-np.logaddexp(0, -scores).sum())",
     "its logarithm is due"),
    (".sum()", ".mean()", "It is the mean"),
    ("np.logaddexp(", "np.logaddexp2(", "Class 0"),
    (".sum()", ".sum() / np.log(2)", "base 2"),
    ("w[nodes] @ h)", "w[nodes] @ h)[:-1]", "could not be broadcast"),
    (RETURN, "    return -np.logaddexp(0, -scores[:-1]).sum()\n", "The last node"),
    (RETURN, "    return -np.logaddexp(0, -scores[1:]).sum()\n", "The root is left out"),
    (RETURN, "    return np.log((1 / (1 + np.exp(-scores))).sum())\n", "It adds probabilities"),
    (RETURN, "    return np.log(1 / (1 + np.exp(-scores))).sum()\n", "-1,000 is due: log(0)"),
    (RETURN, "    return np.log(np.prod(np.exp(-np.logaddexp(0, -scores))))\n",
     "-1,000 is due: log(0)"),
    (RETURN, "    return np.log(np.prod(np.maximum(np.exp(-np.logaddexp(0, -scores)), 1e-30)))\n",
     "gives -69.0776, where -1000 is due"),
    (RETURN, "    return (scores - np.log(1 + np.exp(scores))).sum()\n", ": exp overflows"),
    (RETURN, "    e = np.exp(scores)\n    return np.log(e / (1 + e)).sum()\n",
     ": exp overflows"),
    (RETURN, "    return -np.where(scores < -50, -scores, np.log1p(np.exp(-scores))).sum(\n"
     "        where=np.arange(scores.size) < 1000)\n", "2,000 steps give"),
    (BODY, "    p, sure = 1.0, 0.0\n"
     "    for node, turn in zip(nodes, turns):\n"
     "        s = float(w[node] @ h) * (1 - 2 * int(turn))\n"
     "        sure += min(s, 0.0) if abs(s) > 50 else 0.0\n"
     "        p *= 1.0 if abs(s) > 50 else 1 / (1 + np.exp(-s))\n"
     "    return sure + np.log(p)\n", "2,000 steps give -inf"),
    (BODY, loop("total += -np.log(1 + np.exp(-score)) if turn == 0 else -np.log(np.exp(-score))"),
     "Class 0"),
    (BODY, loop("total += -np.log(1 + np.exp(-score)) if turn == 0 "
                "else np.log(1 - 1 / (1 + np.exp(-score)))"), "-1,000 is due: log(0)"),
    (BODY, loop("total = -np.logaddexp(0, -score if turn == 0 else score)"), "Class"),
    (BODY, "    import math\n    p = 1.0\n"
     "    for s in (1 - 2 * turns) * (w[nodes] @ h):\n        p *= 1 / (1 + np.exp(-s))\n"
     "    return math.log(p)\n", "score +1,000 and turn 1 raises ValueError"),
    (BODY, "    import math\n    p = 1.0\n"
     "    for s in (1 - 2 * turns) * (w[nodes] @ h):\n        p *= 1 / (1 + math.exp(-s))\n"
     "    return math.log(p)\n", "score +1,000 and turn 1 raises OverflowError"),
    (BODY, "    import math\n    p, sure = 1.0, 0.0\n"
     "    for s in (1 - 2 * turns) * (w[nodes] @ h):\n"
     "        sure += min(s, 0.0) if abs(s) > 50 else 0.0\n"
     "        p *= 1.0 if abs(s) > 50 else 1 / (1 + math.exp(-s))\n"
     "    return sure + math.log(p)\n", "2,000 steps raise ValueError"),
    (BODY, "    if len(nodes) == 0:\n        return 0.0\n"
     "    s = (1 - 2 * turns[0]) * (w[nodes[0]] @ h)\n"
     "    rest = my_log_probability(h, w, nodes[1:], turns[1:])\n"
     "    return rest - np.logaddexp(0, -s)\n", "deeper than Python calls itself"),
    (BODY, "    return my_log_probability(h, w, nodes[1:], turns[1:])\n", "RecursionError"),
    ("return -np.logaddexp(0, -scores).sum()", "return -np.logaddexp(0, -scores)", "one number"),
    ("return -np.logaddexp(0, -scores).sum()", "h -= 1\n    return -np.logaddexp(0, -scores).sum()",
     "changed its input"),
    (RETURN, "    -np.logaddexp(0, -scores).sum()\n", "It returned nothing"),
    (walk_the_tree.solution, BORROWED, "the course's own"),
    (walk_the_tree.solution, BORROWED_TOO, "the course's own"),
]  # fmt: skip
right = [
    (BODY, loop("total -= np.logaddexp(0, -score if turn == 0 else score)"),
     "a path of 2,000 steps does not underflow"),
    (BODY, loop("total -= np.logaddexp(0, -score if turn == 0 else score)",
                path="nodes[::-1], turns[::-1]")),  # from the leaf up
    (BODY, loop("total += min(score if turn == 0 else -score, 0) - np.log1p(np.exp(-abs(score)))")),
    (RETURN, "    return np.minimum(scores, 0).sum() - np.log1p(np.exp(-np.abs(scores))).sum()\n"),
    (RETURN, "    return np.float32([-np.logaddexp(0, -scores).sum()])\n"),
    (RETURN, "    import torch\n"
     "    return torch.nn.functional.logsigmoid(torch.tensor(scores)).sum()\n"),
]  # fmt: skip
