"""Asynchronous SGD with a delay: which weights make the gradient, and which are moved?"""

from gpulessons.grader.answers import check_answers
from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import number, returned

text = '''\
def my_weights(gradient, start, rate, delay, steps):
    """All weights from the first to the last; each gradient is `delay` steps old."""
    weights = [start]
    for step in range(steps):
        ### BEGIN SOLUTION
        seen = weights[max(0, step - delay)]
        weights.append(weights[-1] - rate * gradient(seen))
        ### STUB
        ...  # Your turn: before the delay has passed, the oldest weights are weights[0].
        ### END SOLUTION
    return weights
'''


def weights(start, rate, delay, steps, offset=3.0):
    """The right ones, on a loss with its minimum at the offset."""
    return tuple(walk(start, rate, delay, steps, offset))


def walk(start, rate, delay, steps, offset=3.0, fresh=False, onto_stale=False, sign=1):
    """fresh, onto_stale and sign are for mistakes."""
    found = [start]
    for step in range(steps):
        seen = found[-1] if fresh else found[max(0, step - delay)]
        found.append((seen if onto_stale else found[-1]) - sign * rate * (seen - offset))
    return found


CASES = ((1.0, 0.1, 2, 8, 3.0), (-2.0, 0.25, 3, 8, 3.0), (1.0, 0.1, 0, 3, 3.0),
         (2.0, 0.5, 1, 5, -2.0))  # fmt: skip
HINT = "what a worker has read, and what it adds to."
mistakes = (
    ("Every gradient is fresh: a worker that knows the newest weights has waited for everybody.",
     HINT, lambda *case: tuple(walk(*case, fresh=True))),
    ("It adds to the weights that it read, and so throws away what the others have done since.",
     HINT, lambda *case: tuple(walk(*case, onto_stale=True))),
    ("It goes uphill: the gradient points to where the loss rises.", HINT,
     lambda *case: tuple(walk(*case, sign=-1))),
)  # fmt: skip


def judge(attempt):
    """On ½(w − 3)², where mistakes have names, and on another loss."""

    def tried(start, rate, delay, steps, offset):
        found = run(attempt, (lambda w: w - offset, start, rate, delay, steps), {})
        return [float(number(weight, "what the list is made of.")) for weight in returned(found)]

    check_answers(tried, weights, CASES, HINT, mistakes)
    return "The gradient is from the past, and it is added to the present."


exercise = Exercise(__name__, text, judge=judge)
