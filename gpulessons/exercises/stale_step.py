"""Asynchronous SGD with a delay: which weights make the gradient, and which are moved?"""

from collections.abc import Iterable

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, number

stub = '''\
def my_weights(gradient, start, rate, delay, steps):
    """All weights from the first to the last; each gradient is `delay` steps old."""
    weights = [start]
    for step in range(steps):
        ...  # Your turn: before the delay has passed, the oldest weights are weights[0].
    return weights
'''

solution = '''\
def my_weights(gradient, start, rate, delay, steps):
    """All weights from the first to the last; each gradient is `delay` steps old."""
    weights = [start]
    for step in range(steps):
        seen = weights[max(0, step - delay)]
        weights.append(weights[-1] - rate * gradient(seen))
    return weights
'''

HINT = "what a worker has read, and what it adds to."
CASES = (
    {"start": 1.0, "rate": 0.1, "delay": 2, "steps": 8},
    {"start": -2.0, "rate": 0.25, "delay": 3, "steps": 8},
    {"start": 1.0, "rate": 0.1, "delay": 0, "steps": 3},
)


def judge(attempt):
    """On ½(w − 3)² with a delay of two, where mistakes have names; then with others."""
    for case in CASES:
        got, due = weights_of(attempt, case), walk(**case)
        if len(got) != len(due):
            raise Trouble(f"{len(got)} weights, where {len(due)} are due.", "how many steps it is.")
        if not alike(got, due):
            raise Trouble(wrong_weights(got, due, case), HINT)
    other = attempt(lambda w: 0.5 * w + 1, 2.0, 0.5, 1, 2)
    if not alike(map(float, other), (2.0, 1.0, 0.0)):
        raise Trouble("Right for a loss with its minimum at 3, and wrong for another.",
                      "gradient(…): the function that it is given.")  # fmt: skip
    return "The gradient is from the past, and it is added to the present."


def weights_of(attempt, case):
    got = attempt(lambda w: w - 3, *case.values())
    if not isinstance(got, Iterable):
        raise Trouble(f"It returned {got!r}, not a list of all weights.", "the last line.")
    return [number(weight, "what the list is made of.") for weight in got]


def wrong_weights(got, due, case):
    """The mistake that explains them all, or the first that is wrong."""
    for what, mistake in MISTAKES.items():
        if alike(got, walk(**{**case, **mistake})):
            return what
    i = next(i for i in range(len(due)) if not alike(got[i : i + 1], due[i : i + 1]))
    late = f"With a delay of {case['delay']}"
    return f"{late}, weights[{i}] is {got[i]:.10g}, where {due[i]:.10g} is due."


def walk(start, rate, delay, steps, age=0, onto_stale=False):
    """The right weights; age and onto_stale are mistakes."""
    weights = [start]
    for step in range(steps):
        at = step - delay - age
        seen = weights[min(step, max(0, at))]
        weights.append((seen if onto_stale else weights[-1]) - rate * (seen - 3))
    return weights


MISTAKES = {
    "Every gradient is fresh: a worker that knows the newest weights has waited for everybody.":
        {"age": -2},
    "It adds to the weights that it read, and so throws away what the others have done since.":
        {"onto_stale": True},
    "It goes uphill: the gradient points to where the loss rises.": {"rate": -0.1},
    "The gradients are one step too old.": {"age": 1},
    "The gradients are one step too young.": {"age": -1},
}  # fmt: skip


def alike(some, others):
    return all(abs(a - b) < 1e-9 for a, b in zip(some, others, strict=True))


exercise = Exercise(__name__, stub, solution, judge=judge)
