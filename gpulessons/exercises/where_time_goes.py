"""Where does a step's time go? Read it off its spans, and count each moment once."""

import numbers

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, Untouched

RIGHT = {"compute": 0.45, "Python": 0.35, "idle": 0.2}

stub = '''\
spans = [  # name, start, stop, kind; in ms. The next step starts at 20.
    ("step", 0, 16, "Python"),
    ("linear", 2, 10, "Python"),
    ("addmm", 3, 10, "compute"),  # linear calls it
    ("relu", 12, 14, "compute"),
]
my_shares = {"compute": ..., "Python": ..., "idle": ...}
'''

solution = '''\
compute = (10 - 3) + (14 - 12)  # addmm and relu
python = (16 - 0) - compute  # the step and linear, less what computes inside them
my_shares = {"compute": compute / 20, "Python": python / 20, "idle": (20 - 16) / 20}
'''


def judge(answer):
    """45 % of the step is computation, 35 % is Python (linear's first millisecond, too)."""
    hint = "each millisecond from 0 to 20, and the innermost span that covers it."
    if not isinstance(answer, dict) or set(answer) != set(RIGHT):
        raise Trouble('Three shares are due: {"compute": …, "Python": …, "idle": …}.', hint)
    if ... in answer.values():
        raise Untouched("The answer is still to come: three shares of the 20 ms.", hint)
    for kind, share in answer.items():
        if not isinstance(share, numbers.Real):
            raise Trouble(f"{share!r} is not a number, for {kind!r}.", hint)
    compute, python, idle = (answer[kind] for kind in RIGHT)
    if max(answer.values()) > 1:
        raise Trouble("A share is a part of 1, and one of these is more: in percent, perhaps; "
                      "write 0.5 for 50 %.", "what you divide by.")  # fmt: skip
    if near(compute, 10 / 20) or near(compute, 10 / 16):
        raise Trouble("linear's first millisecond is Python: nothing computes before addmm does.",
                      hint)  # fmt: skip
    if near(python, 15 / 20):
        raise Trouble("linear runs inside the step: its milliseconds are counted twice.", hint)
    if near(python, 16 / 20) or near(python, 1):
        raise Trouble("The step's span covers its operators: they are counted as Python, too.",
                      hint)  # fmt: skip
    if near(idle, 0) or (near(compute, 9 / 16) and near(python, 7 / 16)):
        raise Trouble("Idle is forgotten: from 16 to 20 nothing runs, and the step is not over.",
                      "where the next step starts.")  # fmt: skip
    if not near(compute + python + idle, 1):
        raise Trouble(f"The shares add up to {compute + python + idle:.0%}, and not to 100 %.",
                      hint)  # fmt: skip
    wrong = [kind for kind, share in RIGHT.items() if not near(answer[kind], share)]
    if wrong:
        raise Trouble(f"They add up to 100 %, but {' and '.join(wrong)} took another share.", hint)
    return "45 % is computation: with kernels that take no time, 11 ms of the 20 are left."


def near(a, b):
    return abs(a - b) < 0.004  # shares in whole percent will do


hints = (
    "Draw the 20 ms as a strip. Paint what computes first; of the rest, paint what some span "
    "still covers. What stays white?",
    "compute = (10 - 3) + (14 - 12)",
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
