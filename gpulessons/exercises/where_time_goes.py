"""How long was each span at work itself? What it called counts for those."""

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, NotTried, number

text = '''\
### BEGIN SOLUTION
my_self = {"step": 16 - 8 - 2, "linear": 8 - 7, "addmm": 7, "relu": 2}
### STUB
spans = [("step", 0, 16), ("linear", 2, 10), ("addmm", 3, 10), ("relu", 12, 14)]  # ms
my_self = {"step": ..., "linear": ..., "addmm": ..., "relu": ...}
### END SOLUTION
'''

RIGHT = {"step": 6, "linear": 1, "addmm": 7, "relu": 2}
HINT = "each millisecond from 0 to 16, and the innermost span that covers it."
MISTAKES = {
    ("step", 16): "What runs inside a span counts for that alone: not for the step as well.",
    ("step", -1): "addmm stands inside linear: it is taken off the step with linear.",
    ("linear", 8): "Of linear's 8 ms addmm has 7.",
}


def judge(answer):
    if not isinstance(answer, dict) or set(answer) != set(RIGHT):
        raise Mismatch("Four numbers are expected: of step, linear, addmm and relu.", HINT)
    if ... in answer.values():
        raise NotTried("The answer is still to come: four numbers of milliseconds.", HINT)
    for name, right in RIGHT.items():
        if abs((took := number(answer[name], HINT)) - right) > 1e-3:
            raise Mismatch(MISTAKES.get((name, took), f"{name} itself took not {took:g} ms."), HINT)
    return "They add up to the step's 16 ms: each moment is counted once."


hints = (
    "Draw the 16 ms as a strip. Paint addmm and relu first, then linear where it is still white.",
    'my_self = {"step": 16 - 8 - 2, "linear": 8 - 7, "addmm": 7, "relu": 2}',
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
