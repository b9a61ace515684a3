"""After how many calls has compiling paid? Sometimes never."""

from gpulessons.exercises.asking import a_function

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

mistakes = (
    ("So many compiled calls take as long as compiling. What counts is what a call saves.",
     "(eager - compiled))", "compiled)"),
    ("That many eager calls take as long as compiling, but the compiled ones take time too.",
     "(eager - compiled))", "eager)"),
    ("A fraction of a call, or one too few: round up.",
     "ceil(compiling / (eager - compiled))", "compiling // (eager - compiled)"),
)  # fmt: skip

hints = (
    "Each compiled call saves eager − compiled. How many such savings are as much as compiling? "
    "And what if there is nothing to save?",
    "return ceil(compiling / (eager - compiled))",
)

exercise = a_function(
    __name__, text, CASES,
    "compiling + n × compiled ≤ n × eager, solved for n. None where it never pays.",
    "Compiling 12 s, then 400 instead of 900 µs a call: {0:,} calls.", mistakes, hints,
)
