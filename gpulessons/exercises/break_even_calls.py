"""After how many calls has compiling paid? Sometimes never."""

import math
import numbers

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Trouble

# Compiling, an eager call, a compiled one, in µs: whole numbers, for which quotients are exact.
CASES = ((12_000_000, 900, 400), (10_000_000, 500, 200), (300, 200, 100), (50, 400, 100))
NEVER = ((12_000_000, 400, 400), (12_000_000, 10, 15))

stub = '''\
from math import ceil

def my_calls(compiling, eager, compiled):
    """The least number of calls for which compiling first is no slower; None if there is none.

    compiling, once; then each call eager or compiled: three times in the same unit.
    """
    return ceil(compiling / compiled)  # Your turn: what does one call save?
'''

solution = '''\
from math import ceil

def my_calls(compiling, eager, compiled):
    """The least number of calls for which compiling first is no slower; None if there is none.

    compiling, once; then each call eager or compiled: three times in the same unit.
    """
    if compiled >= eager:
        return None
    return ceil(compiling / (eager - compiled))
'''


def judge(attempt):
    """compiling + n × compiled ≤ n × eager, for the least whole n."""
    hint = "compiling + n × compiled ≤ n × eager, solved for n."
    for case in CASES:
        refuse_other(run(attempt, case, {}), case, hint)
    for case in NEVER:
        refuse_hope(attempt, case)
    case = CASES[0]
    return f"{in_words(case)}: {due(*case):,} calls."


def due(compiling, eager, compiled):
    return math.ceil(compiling / (eager - compiled))


def in_words(case):
    compiling, eager, compiled = case
    return f"Compiling {compiling:,} µs, then {compiled} instead of {eager} µs a call"


def refuse_other(answer, case, hint):
    compiling, eager, compiled = case
    exact = compiling / (eager - compiled)
    if answer is None:
        raise Trouble(f"{in_words(case)}: it pays, and the answer was None.", "when it never does.")
    if not isinstance(answer, numbers.Real):
        raise Trouble(f"{answer!r} is not a number of calls.", "its return.")
    if answer == due(*case) and answer == int(answer):
        return
    reasons = {
        math.ceil(compiling / compiled): "So many compiled calls take as long as compiling. "
        "What counts is what a call saves.",
        math.ceil(compiling / eager): "That many eager calls take as long as compiling, but the "
        "compiled ones take time too.",
        due(*case) + 1: "That is one call too many: one call earlier, compiling was already no "
        "slower.",
        math.floor(exact): "After so many it has not paid yet: round up.",
        exact: "Nobody calls a fraction of a time: round up.",
    }
    other = f"it was {answer:,}, where {due(*case):,} is due."
    raise Trouble(f"{in_words(case)}: {reasons.get(answer, other)}", hint)


def refuse_hope(attempt, case):
    hint = "compiled calls that are no faster: None."
    try:
        answer = run(attempt, case, {})
    except Trouble as trouble:
        if not isinstance(trouble.__cause__, ZeroDivisionError):
            raise
        raise Trouble(f"{in_words(case)}: equal times, so it never pays; yours divides by zero.",
                      hint) from None  # fmt: skip
    if answer is None or answer == math.inf:
        return
    raise Trouble(f"{in_words(case)}: that never pays, and the answer was {answer!r}.", hint)


hints = (
    "Each compiled call saves eager − compiled. How many such savings are as much as compiling? "
    "And what if there is nothing to save?",
    "return ceil(compiling / (eager - compiled))",
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
