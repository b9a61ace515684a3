"""After how many calls has compiling paid? Sometimes never."""

import math

from gpulessons.grader.answers import check_answers
from gpulessons.grader.check import Exercise

text = '''\
from math import ceil

def my_calls(compiling, eager, compiled):
    """The least number of calls for which compiling first is no slower; None if there is none.

    compiling, once; then each call eager or compiled: three times in the same unit.
    """
    ### BEGIN SOLUTION
    if compiled >= eager:
        return None
    return ceil(compiling / (eager - compiled))
    ### STUB
    return ceil(compiling / compiled)  # Your turn: what does one call save?
    ### END SOLUTION
'''

# Compiling, an eager call, a compiled one, in µs: whole numbers, for which quotients are exact.
CASES = (
    (12_000_000, 900, 400), (10_000_000, 500, 200), (300, 200, 100), (50, 400, 100),
    (12_000_000, 400, 400), (12_000_000, 10, 15),
)  # fmt: skip


def calls(compiling, eager, compiled):
    return math.ceil(compiling / (eager - compiled)) if compiled < eager else None


def judge(attempt):
    """compiling + n × compiled ≤ n × eager, for the least whole n."""
    check_answers(attempt, calls, CASES, HINT, mistakes)
    return f"Compiling 12 s, then 400 instead of 900 µs a call: {calls(*CASES[0]):,} calls."


HINT = "compiling + n × compiled ≤ n × eager, solved for n. None where it never pays."
mistakes = (
    ("So many compiled calls take as long as compiling. What counts is what a call saves.", HINT,
     lambda compiling, eager, compiled: math.ceil(compiling / compiled)),
    ("That many eager calls take as long as compiling, but the compiled ones take time too.", HINT,
     lambda compiling, eager, compiled: math.ceil(compiling / eager)),
    ("A fraction of a call, or one too few: round up.", HINT,
     lambda compiling, eager, compiled: compiling // max(1, eager - compiled)),
)  # fmt: skip

hints = (
    "Each compiled call saves eager − compiled. How many such savings are as much as compiling? "
    "And what if there is nothing to save?",
    "return ceil(compiling / (eager - compiled))",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
