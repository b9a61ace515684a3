"""Will Hogwild do? The chance that two sparse examples share no feature."""

from math import comb

from gpulessons.grader.answers import check_answers
from gpulessons.grader.check import Exercise

text = '''\
def my_chance(features, active):
    """That two examples, each of `active` different features, have none in common."""
    ### BEGIN SOLUTION
    chance = 1.0
    for taken in range(active):
        chance *= (features - active - taken) / (features - taken)
    return max(0.0, chance)
    ### STUB
    ...  # Your turn: the first example is given. Where may each feature of the second be?
    ### END SOLUTION
'''


def chance(features, active):
    """C(F − A, A) / C(F, A)"""
    return comb(features - active, active) / comb(features, active)


HINT = "the features of the second example, one by one."
mistakes = (
    ("That is the chance that they do share one.", HINT, lambda f, a: 1 - chance(f, a)),
    ("For each feature of the second it looks as if one place is taken, not all.", HINT,
     lambda f, a: (1 - 1 / f) ** a),
    ("As if a feature may be drawn twice; these are all different.", HINT,
     lambda f, a: (1 - a / f) ** a),
)  # fmt: skip


def judge(attempt):
    check_answers(attempt, chance, ((100, 3), (64, 30), (2_000, 40), (6, 3), (50, 40)), HINT,
                  mistakes)  # fmt: skip
    return "30 of 64 always meet, 30 of a million hardly ever: that decides about Hogwild."


hints = (
    "The first example is given. A first feature of the second has F - A places to be in, of F."
    " And the next one?",
    "chance *= (features - active - taken) / (features - taken)",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
