"""Cut two layers for two workers, so that they need each other's results only once."""

import numpy as np

from gpulessons.grader.check import Exercise
from gpulessons.grader.counted_products import count_products
from gpulessons.grader.diagnosis import Trouble, refuse_changes, returned

stub = '''\
def my_layers(x, a, b, all_reduce):
    """relu(x @ a) @ b by two workers, each with half of the numbers of a and half of those of b.

    all_reduce([mine, yours]) is what both have afterwards: the sum. Call it as seldom as you can.
    """
    half = a.shape[1] // 2
    # Your turn: which half of a, by rows or by columns? Which half of b? And where is the sum?
    raise NotImplementedError
'''

solution = '''\
def my_layers(x, a, b, all_reduce):
    """relu(x @ a) @ b by two workers, each with half of the numbers of a and half of those of b.

    all_reduce([mine, yours]) is what both have afterwards: the sum. Call it as seldom as you can.
    """
    half = a.shape[1] // 2
    parts = []
    for own in (slice(0, half), slice(half, None)):
        h = np.maximum(x @ a[:, own], 0)
        parts.append(h @ b[own])
    return all_reduce(parts)
'''


class Meeting:
    """The all-reduce of two workers, counted."""

    def __init__(self):
        self.parts = []

    def __call__(self, parts):
        parts = list(parts)
        if len(parts) != 2:
            raise Trouble(f"It sums the parts of {len(parts)}, not of two workers.", "the list.")
        self.parts.append([np.array(part) for part in parts])
        return parts[0] + parts[1]


def judge(layers):
    """Right for two shapes, with one sum, in which both workers have a part, and only half."""
    rng = np.random.default_rng(1)
    for n, k, hidden in ((2, 4, 6), (3, 8, 10)):  # half of a or b is more than x or h
        given = [rng.normal(size=shape) for shape in ((n, k), (k, hidden), (hidden, k))]
        copies, products = count_products(given)
        meeting = Meeting()
        y = layers(*copies, meeting)
        refuse_changes(given, copies)
        refuse_wrong(returned(y), *given)
        refuse_waste(meeting, products, most=k * hidden // 2)
        if not np.allclose(layers(*copies, lambda parts: sum(parts) + 1), y + 1):
            raise Trouble("Right, but not by all_reduce: its sum is not what you return.",
                          "its return.")  # fmt: skip
    return "One sum, of the result alone: relu never had to wait for it."


def refuse_waste(meeting, products, most):
    """Trouble where they sum not once, or share nothing. most: numbers that a worker has."""
    if not meeting.parts:
        raise Trouble("Right, but all_reduce is never called: one cannot add what the other has.",
                      "all_reduce.")  # fmt: skip
    if len(meeting.parts) > 1:
        raise Trouble("Right, but all_reduce is called twice or more.",
                      "a by columns: then relu needs no sum.")  # fmt: skip
    seen = sum(max(map(np.prod, shapes)) for _, shapes in products)
    if seen < 4 * most:  # both halves of a, and of b
        raise Trouble("Right, but nobody can count its products.",
                      "np.asarray and the like: take the arrays as they are.")  # fmt: skip
    if any(np.prod(shape[-2:]) > most for _, shapes in products for shape in shapes):
        raise Trouble("Right, but a worker multiplies by more than half of a or b.",
                      "what each product has on its right.")  # fmt: skip
    if any(not part.any() for part in meeting.parts[0]):
        raise Trouble("Right, but one of the workers has nothing to do.", "the halves.")


def refuse_wrong(y, x, a, b):
    """Trouble that names the mistake, as far as it is a common one."""
    want, k, half = np.maximum(x @ a, 0) @ b, a.shape[0] // 2, a.shape[1] // 2
    if np.shape(y) != want.shape:
        raise Trouble(f"Shape {np.shape(y)}, where {want.shape} is due.", "its return.")
    if np.allclose(y, want):
        return
    apart = [np.maximum(x[:, own] @ a[own], 0) for own in (slice(0, k), slice(k, None))]
    mine = np.maximum(x @ a[:, :half], 0) @ b[:half]
    known = [
        (sum(apart) @ b, "The relu of a sum is not the sum of relus.", "a, cut by rows."),
        (mine, "It returns one worker's part: half of the sum.", "what all_reduce returns."),
        (x @ a @ b, "That is the result without relu.", "what comes between the layers."),
        (2 * want, "It is twice what is due: each worker computed all of it.", "the halves."),
    ]
    for value, sentence, hint in known:
        if np.allclose(y, value):
            raise Trouble(sentence, hint)
    raise Trouble("The result is wrong.",
                  "one worker's part by hand: its columns of a, relu, its rows of b.")  # fmt: skip


hints = (
    "relu of a sum is not the sum of relus, so h must be whole where relu is taken. Which "
    "halves of a give whole numbers of h?",
    "h = np.maximum(x @ a[:, own], 0)\n"
    "parts.append(h @ b[own])",
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
