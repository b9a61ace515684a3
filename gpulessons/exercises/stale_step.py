"""Asynchronous SGD with a delay: which weights make the gradient, and which are moved?"""

from gpulessons.exercises.asking import a_function

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


def slope(w):
    """Of ½(w − 3)²."""
    return w - 3


CASES = ((slope, 1.0, 0.1, 2, 8), (slope, -2.0, 0.25, 3, 8), (slope, 1.0, 0.1, 0, 3))
mistakes = (
    ("Every gradient is fresh: a worker that knows the newest weights has waited for everybody.",
     "weights[max(0, step - delay)]", "weights[-1]"),
    ("It adds to the weights that it read, and so throws away what the others have done since.",
     "append(weights[-1]", "append(seen"),
    ("It goes uphill: the gradient points to where the loss rises.",
     "weights[-1] - rate", "weights[-1] + rate"),
)  # fmt: skip

exercise = a_function(
    __name__, text, CASES, "what a worker has read, and what it adds to.",
    "The gradient is from the past, and it is added to the present.", mistakes,
)
