"""Will Hogwild do? The chance that two sparse examples share no feature."""

from math import comb

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, number, returned

stub = '''\
def my_chance(features, active):
    """That two examples, each of `active` different features, have none in common."""
    ...  # Your turn: the first example is given. Where may each feature of the second be?
'''

solution = '''\
def my_chance(features, active):
    """That two examples, each of `active` different features, have none in common."""
    chance = 1.0
    for taken in range(active):
        chance *= (features - active - taken) / (features - taken)
    return max(0.0, chance)
'''


def judge(attempt):
    """The chance is C(F − A, A) / C(F, A)."""
    hint = "the features of the second example, one by one."
    returned(attempt(64, 30))
    for features, active in ((100, 3), (64, 30), (1_000, 30), (2_000, 40), (6, 3)):
        due = comb(features - active, active) / comb(features, active)
        got = float(number(attempt(features, active), hint))
        if abs(got - due) > 1e-9 * due + 1e-15:
            raise Trouble(f"{active} of {features}: {reason(got, due, features, active)}", hint)
    if number(attempt(50, 40), hint) != 0:
        raise Trouble("40 of 50, twice: there it cannot be avoided, the chance is 0.", hint)
    return "30 of 64 always meet, 30 of a million hardly ever: that decides about Hogwild."


def reason(got, due, features, active):
    if close(got, 1 - due):
        return "that is the chance that they do share one."
    if close(got, (1 - 1 / features) ** active):
        return "for each feature of the second it looks as if one place is taken, not all."
    if close(got, (1 - active / features) ** active):
        return "as if a feature may be drawn twice; these are all different."
    if close(got, 1 - active / features):
        return "that is the chance for only one feature of the second."
    if not 0 <= got <= 1:
        return f"{got:.4g}, and a chance lies between 0 and 1."
    return f"{got:.10g}, where {due:.10g} is due."


def close(a, b):
    return abs(a - b) < 1e-9


hints = (
    "The first example is given. A first feature of the second has F - A places to be in, of F."
    " And the next one?",
    "chance *= (features - active - taken) / (features - taken)",
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
