"""Which share of your guesses is within a factor of what was measured, too high or too low?"""

import math
import numbers
import random

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Trouble

# (guess, measured): exact in binary, so that whoever divides or takes logarithms has the same edge.
PAIRS = ((4, 2), (2, 4), (8, 4), (1000, 900), (9, 4), (64, 4), (32, 1), (128, 1), (1, 16), (2, 32),
         (0.5, 8), (1, 0.25))  # fmt: skip
DRAW = random.Random(16)
OTHERS = tuple((2 ** DRAW.uniform(-9, 9), 2 ** DRAW.uniform(-9, 9)) for _ in range(40))
CASES = (PAIRS, 2), (PAIRS, 16), (OTHERS, 7.5), (((3, 3),), 1)

stub = '''\
def my_share(guesses, measured, factor):
    """The share of guesses, from 0 to 1, that are off by this factor or less, either way.

    Two lists of positive numbers, a guess and what was measured in its place; None for no guesses.
    """
    near = [guess - true <= factor for guess, true in zip(guesses, measured)]  # Your turn
    return sum(near) / len(near)
'''

solution = '''\
def my_share(guesses, measured, factor):
    """The share of guesses, from 0 to 1, that are off by this factor or less, either way.

    Two lists of positive numbers, a guess and what was measured in its place; None for no guesses.
    """
    near = [max(guess / true, true / guess) <= factor for guess, true in zip(guesses, measured)]
    return sum(near) / len(near) if near else None
'''


def judge(attempt):
    """max(guess / measured, measured / guess) ≤ factor: how many, of how many."""
    refuse_others([called(attempt, *case) for case in CASES])
    refuse_a_share_of_nothing(attempt)
    return f"{in_words(*CASES[0])}: {share(*CASES[0]):.1%} are within it."


def called(attempt, pairs, factor):
    guesses, measured = map(list, zip(*pairs, strict=True))
    answer = run(attempt, (guesses, measured, factor), {})
    if not isinstance(answer, numbers.Real):
        raise Trouble(f"{in_words(pairs, factor)}: {answer!r} is no share.", "what it returns.")
    return answer


def share(pairs, factor):
    return counted(pairs, factor, lambda g, t, f: max(g / t, t / g) <= f)


def counted(pairs, factor, near):
    return sum(near(guess, true, factor) for guess, true in pairs) / len(pairs)


def in_words(pairs, factor):
    return f"{len(pairs)} guesses and a factor of {factor}"


# What each mistake makes of a guess, and what to say of it.
LOW = "A guess that is too low is off by a factor too: 1 for 16 passed."
HIGH = "A guess that is too high is off by a factor too: 64 for 4 passed."
DIFFERENCE = "That is a difference: 1,000 for 900 is near by a factor, and 1 for 0.25 is not."
UNITS = "That is a difference, and one way only: by a factor 64 for 4 is far, and so is 1 for 16."
RELATIVE = "A relative difference is no factor: 0.5 for 8 is 94 % off, and 16 times too low."
EDGE = "A guess that is off by just that factor is within it: ≤, not <."
ROUNDED = "A factor was rounded before it was compared: 9 for 4 is more than 2×."
MISTAKES = (
    (lambda g, t, f: g / t <= f, LOW),
    (lambda g, t, f: t / g <= f, HIGH),
    (lambda g, t, f: abs(g - t) <= f, DIFFERENCE),
    (lambda g, t, f: g - t <= f, UNITS),
    (lambda g, t, f: abs(g - t) / t <= f, RELATIVE),
    (lambda g, t, f: max(g / t, t / g) < f, EDGE),
    (lambda g, t, f: round(max(g / t, t / g)) <= f, ROUNDED),
    (lambda g, t, f: max(g // t, t // g) <= f, ROUNDED),
)


WHOLE = {
    "That is how many there are: divide by how many guesses there are.": lambda due, n: due * n,
    "That is in percent: a share goes from 0 to 1.": lambda due, n: 100 * due,
    "The share was rounded: return it as it is.": lambda due, n: round(due, 2),
    "The share was rounded: it is 0 or 1.": lambda due, n: round(due),
}


def refuse_others(answers):
    """A mistake is named if it explains the answer to every case."""
    due = [share(*case) for case in CASES]
    wrong = [at for at, each in enumerate(due) if not math.isclose(answers[at], each)]
    if not wrong:
        return
    made = [([counted(*case, near) for case in CASES], words) for near, words in MISTAKES]
    made += [([spoil(each, len(pairs)) for each, (pairs, _) in zip(due, CASES, strict=True)], words)
             for words, spoil in WHOLE.items()]  # fmt: skip
    said = [words for others, words in made if all(map(math.isclose, answers, others))]
    other = f"it was {float(answers[wrong[0]]):.4g}, where {due[wrong[0]]:.4g} is due."
    raise Trouble(f"{in_words(*CASES[wrong[0]])}: {said[0] if said else other}",
                  "guess / measured and measured / guess: the larger of the two is the factor.")


def refuse_a_share_of_nothing(attempt):
    hint = "no guesses at all: None."
    try:
        answer = run(attempt, ([], [], 2), {})
    except Trouble as trouble:
        if not isinstance(trouble.__cause__, ZeroDivisionError):
            raise
        raise Trouble("No guesses: yours divides by zero.", hint) from None
    if answer is not None:
        raise Trouble(f"No guesses have no share, and the answer was {answer!r}.", hint)


exercise = Exercise(__name__, stub, solution, judge=judge)
