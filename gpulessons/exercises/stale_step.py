"""Asynchronous SGD with a delay: which weights make the gradient, and which are moved?"""

from gpulessons.diagnosis import Trouble

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

wrong = [
    ("weights[max(0, step - delay)]", "weights[-1]", "has waited for everybody"),
    ("append(weights[-1]", "append(seen", "throws away"),
    ("weights[-1] - rate", "weights[-1] + rate", "uphill"),
    ("step - delay)", "step - delay - 1)", "one step too old"),
    ("step - delay)", "step - delay + 1)", "one step too young"),
    ("max(0, step - delay)", "step - delay", "IndexError"),
    ("    return weights\n", "    return weights[-1]\n", "not a list"),
    ("range(steps)", "range(steps - 1)", "8 weights"),
]


def judge(attempt):
    """Compare with every mistake that has a name, on ½(w − 3)² with a delay of two."""
    look = "what a worker has read, and what it adds to."
    case = {"start": 1.0, "rate": 0.1, "delay": 2, "steps": 8}
    got = attempt(lambda w: w - 3, **case)
    if got == [case["start"]]:
        raise Trouble("The stub is as it was: no step is taken.", look)
    if not isinstance(got, list):
        raise Trouble(f"It returned {got!r}, not a list of all weights.", "the last line.")
    due = walk(**case)
    if len(got) != len(due):
        raise Trouble(f"{len(got)} weights, where {len(due)} are due.", "how many steps you take.")
    for what, mistake in MISTAKES.items():
        if alike(got, walk(**{**case, **mistake})):
            raise Trouble(what, look)
    if not alike(got, due):
        raise Trouble(f"The weights are {got[:4]} …, where {due[:4]} … are due.", look)
    return "The gradient is from the past, and it is added to the present."


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
