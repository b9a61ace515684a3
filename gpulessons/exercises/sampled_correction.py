"""The loss of a sampled softmax: the label against a few classes that were drawn by chance."""

import numpy as np

from gpulessons.exercises.asking import a_function

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

    Every fourth example is a wide one, where exp of its scores overflows.
    """
    classes = 2 * draws + 9
    expected = 0.02 + 0.9 * rng.random(classes) ** 2
    drawn = rng.choice(classes, draws, replace=False)
    labels = rng.integers(0, classes, EXAMPLES)
    labels[::3] = rng.choice(drawn, len(labels[::3]))
    labels[1::3] = rng.choice(np.setdiff1d(np.arange(classes), drawn), len(labels[1::3]))
    scores = rng.standard_normal((EXAMPLES, classes))
    scores[::4] = 900 + 30 * scores[::4]
    return scores[np.arange(EXAMPLES), labels], scores[:, drawn], labels, drawn, expected


mistakes = (
    ("No score is corrected: what is drawn often is then pushed down often. What is `expected` "
     "for?", "np.log(expected[", "(0 * expected["),
    ("Accidental hits are kept: a label that was drawn is its own rival.",
     "others[drawn == labels[:, None]] = -np.inf", ""),
    ("That is log p, where −log p is expected.",
     "np.logaddexp(right, np.logaddexp.reduce(others, axis=1)) - right",
     "right - np.logaddexp(right, np.logaddexp.reduce(others, axis=1))"),
)  # fmt: skip

hints = (
    "Take log(expected) of its own class off every score, the label's too: a class that is drawn "
    "twice as often then counts half each time. A rival that is the label gets −∞: its exp is 0. "
    "np.logaddexp adds exps without overflow.",
    "right = right - np.log(expected[labels])\nothers = others - np.log(expected[drawn])",
)

RNG = np.random.default_rng(11)
exercise = a_function(
    __name__, text, [scores_and_samples(draws, RNG) for draws in (31, 100, 1)],
    "one example by hand: its own score, and those of its rivals, each less log(expected).",
    "Corrected, without accidental hits, and exp never overflows.", mistakes, hints,
)
