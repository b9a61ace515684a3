"""The loss of a sampled softmax: the label against a few classes that were drawn by chance."""

import numpy as np

from gpulessons.backends import host
from gpulessons.grader.check import Exercise, check_op, run
from gpulessons.operation import op

EXAMPLES = 12

text = '''\
def my_sampled_loss(right, others, labels, drawn, expected):
    """−log p[label] of each example, among its label and the drawn classes. All scores are given.

    right: (examples,) the labels' scores; others: (examples, draws) those of the drawn classes.
    labels: (examples,), drawn: (draws,) which classes, each once; expected: (classes,) how often
    each class is expected among the drawn ones.
    """
    ### BEGIN SOLUTION
    right = right - np.log(expected[labels])
    others = others - np.log(expected[drawn])
    others[drawn == labels[:, None]] = -np.inf
    return np.logaddexp(right, np.logaddexp.reduce(others, axis=1)) - right
    ### STUB
    # Your turn: correct all scores for how they came here, leave out a label that was drawn as
    # its own rival, and keep exp from overflowing.
    raise NotImplementedError
    ### END SOLUTION
'''


def scores_and_samples(draws, rng):
    """right, others, labels, drawn, expected; a third of the labels are among the drawn classes.

    Every fourth example is a wide one, where exp of its scores overflows, in float64 too.
    """
    classes = 2 * draws + 9
    expected = (0.02 + 0.9 * rng.random(classes, np.float32) ** 2).astype(np.float32)
    drawn = rng.choice(classes, draws, replace=False)
    labels = rng.integers(0, classes, EXAMPLES)
    labels[::3] = rng.choice(drawn, len(labels[::3]))
    labels[1::3] = rng.choice(np.setdiff1d(np.arange(classes), drawn), len(labels[1::3]))
    scores = rng.standard_normal((EXAMPLES, classes), np.float32)
    scores[::4] = 900 + 30 * scores[::4]
    return scores[np.arange(EXAMPLES), labels], scores[:, drawn], labels, drawn, expected


@op(inputs=scores_and_samples, flops=lambda right, others, *_: 5 * others.size, sizes=(64,),
    rtol=5e-4, unit="draws", edge_cases=(31, 100, 1))  # fmt: skip
def sampled_loss(right, others, labels, drawn, expected):
    """−log p[label] among the label and the drawn classes: (examples,)."""
    return loss_by_parts(right, others, labels, drawn, expected)


def loss_by_parts(right, others, labels, drawn, expected, corrected=True, hits=False):
    """The right loss; what stands behind `expected` are mistakes: scores as they are, hits kept."""
    correction = corrected * np.log(expected)
    right, others = right - correction[labels], others - correction[drawn]
    if not hits:
        others = np.where(drawn == labels[:, None], -np.inf, others)
    total = np.logaddexp(right, np.logaddexp.reduce(others, axis=1))
    return (total - right).astype(right.dtype)


mistakes = (
    ("no score is corrected: what is drawn often is then pushed down often.",
     "what `expected` is for.", lambda *inputs: loss_by_parts(*inputs, corrected=False)),
    ("accidental hits are kept: a label that was drawn is its own rival.",
     "where `drawn` and a label are the same class.",
     lambda *inputs: loss_by_parts(*inputs, hits=True)),
    ("that is log p, where −log p is expected.", "the sign of what you return.",
     lambda *inputs: -loss_by_parts(*inputs)),
)  # fmt: skip


def judge(attempt):
    """Its numbers count, and not whether it added them up in float32 or in float64."""

    def in_float32(*inputs):
        result = run(attempt, inputs, {})
        wide = isinstance(result, np.ndarray) and result.dtype == np.float64
        return result.astype(np.float32) if wide else result

    return check_op(sampled_loss, in_float32, host, mistakes=mistakes)


hints = (
    "Take log(expected) of its own class off every score, the label's too: a class that is drawn "
    "twice as often then counts half each time. A rival that is the label gets −∞: its exp is 0. "
    "np.logaddexp adds exps without overflow.",
    "right = right - np.log(expected[labels])\nothers = others - np.log(expected[drawn])",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
