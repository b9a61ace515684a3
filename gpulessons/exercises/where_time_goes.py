"""Where does a step's time go? Read it off its spans, and count each moment once."""

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, NotTried, number

text = '''\
### BEGIN SOLUTION
compute = (10 - 3) + (14 - 12)  # addmm and relu
python = (16 - 0) - compute  # the step and linear, less what computes inside them
my_shares = {"compute": compute / 20, "Python": python / 20, "idle": (20 - 16) / 20}
### STUB
spans = [  # name, start, stop, kind; in ms. The next step starts at 20.
    ("step", 0, 16, "Python"),
    ("linear", 2, 10, "Python"),
    ("addmm", 3, 10, "compute"),  # linear calls it
    ("relu", 12, 14, "compute"),
]
my_shares = {"compute": ..., "Python": ..., "idle": ...}
### END SOLUTION
'''

RIGHT = {"compute": 0.45, "Python": 0.35, "idle": 0.2}
MISTAKES = (
    ("compute", (10 / 20, 10 / 16), "linear's first millisecond is Python: nothing computes before "
     "addmm does."),
    ("Python", (15 / 20, 16 / 20), "Spans cover each other: the step's own, and linear's, are "
     "counted with what runs inside them."),
    ("idle", (0,), "Idle is forgotten: from 16 to 20 nothing runs, and the step is not over."),
)  # fmt: skip


def judge(answer):
    """45 % of the step is computation, 35 % is Python (linear's first millisecond, too)."""
    hint = "each millisecond from 0 to 20, and the innermost span that covers it."
    if not isinstance(answer, dict) or set(answer) != set(RIGHT):
        raise Mismatch("Three shares are expected, of compute, Python and idle.", hint)
    if ... in answer.values():
        raise NotTried("The answer is still to come: three shares of the 20 ms.", hint)
    shares = {kind: number(share, hint) for kind, share in answer.items()}
    for kind, values, sentence in MISTAKES:
        if any(abs(shares[kind] - value) < 0.004 for value in values):
            raise Mismatch(sentence, hint)
    for kind, share in RIGHT.items():
        if abs(shares[kind] - share) > 0.004:  # whole percent will do
            raise Mismatch(f"{kind} took another part of the 20 ms than {shares[kind]:g}.", hint)
    return "45 % is computation: with kernels that take no time, 11 ms of the 20 are left."


hints = (
    "Draw the 20 ms as a strip. Paint what computes first; of the rest, paint what some span "
    "still covers. What stays white?",
    "compute = (10 - 3) + (14 - 12)",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
