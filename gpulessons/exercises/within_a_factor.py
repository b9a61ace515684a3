"""Which share of your guesses is within a factor of what was measured, too high or too low?"""

import random

from gpulessons.exercises.asking import a_function

text = '''\
def my_share(guesses, measured, factor):
    """The share of guesses, from 0 to 1, that are off by this factor or less, either way.

    Two lists of positive numbers, a guess and what was measured in its place; None for no guesses.
    """
    ### BEGIN SOLUTION
    near = [max(guess / true, true / guess) <= factor for guess, true in zip(guesses, measured)]
    return sum(near) / len(near) if near else None
    ### STUB
    near = [guess - true <= factor for guess, true in zip(guesses, measured)]  # Your turn
    return sum(near) / len(near) if near else None
    ### END SOLUTION
'''

# Exact in binary, so that whoever divides or takes logarithms has the same edge; then others.
GUESSES = [4, 2, 8, 1000, 9, 64, 32, 128, 1, 2, 0.5, 1]
MEASURED = [2, 4, 4, 900, 4, 4, 1, 1, 16, 32, 8, 0.25]
DRAW = random.Random(16)
DRAWN = [[2 ** DRAW.uniform(-9, 9) for _ in range(40)] for _ in range(2)]
CASES = (([1], [16], 2), (GUESSES, MEASURED, 2), (GUESSES, MEASURED, 16), (*DRAWN, 7.5),
         ([3], [3], 1), ([], [], 2))  # fmt: skip

mistakes = (
    ("A guess that is too low is off by a factor too: 1 for 16 passed.",
     "max(guess / true, true / guess)", "guess / true"),
    ("That is a difference: 1,000 for 900 is near by a factor, and 1 for 0.25 is not.",
     "max(guess / true, true / guess)", "abs(guess - true)"),
    ("A guess that is off by just that factor is within it: ≤, not <.", "<= factor", "< factor"),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES,
    "guess / measured and measured / guess: the larger is the factor. No guesses: None.",
    "Of 12 guesses {1:.1%} are within a factor of 2.", mistakes,
)
