"""Cut two layers for two workers, so that they need each other's results only once."""

import numpy as np

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, Wasteful, check_unchanged, returned

text = '''\
def my_layers(x, a, b, all_reduce):
    """relu(x @ a) @ b by two workers, each with half of the numbers of a and half of those of b.

    all_reduce([mine, yours]) is what both have afterwards: the sum. Call it as seldom as you can.
    """
    half = a.shape[1] // 2
    ### BEGIN SOLUTION
    parts = []
    for own in (slice(0, half), slice(half, None)):
        h = np.maximum(x @ a[:, own], 0)
        parts.append(h @ b[own])
    return all_reduce(parts)
    ### STUB
    # Your turn: which half of a, by rows or by columns? Which half of b? And where is the sum?
    raise NotImplementedError
    ### END SOLUTION
'''


def judge(layers):
    """Right for two shapes, with one sum, in which both workers have a part."""
    rng = np.random.default_rng(1)
    for n, k, hidden in ((2, 4, 6), (3, 8, 10)):
        given = [rng.normal(size=shape) for shape in ((n, k), (k, hidden), (hidden, k))]
        copies, sums = [each.copy() for each in given], []

        def all_reduce(parts, sums=sums):
            parts = list(parts)
            if len(parts) != 2:
                raise Mismatch(f"It sums the parts of {len(parts)}, not of two workers.",
                               "the list.")  # fmt: skip
            sums.append([np.array(part) for part in parts])
            return parts[0] + parts[1]

        y = returned(run(layers, (*copies, all_reduce), {}))
        check_unchanged(given, copies)
        check_result(y, *given)
        check_sums(sums)
        if not np.allclose(layers(*copies, lambda parts: sum(parts) + 1), y + 1):
            raise Wasteful("not by all_reduce: its sum is not what you return.", "its return.")
    return "One sum, of the result alone: relu never had to wait for it."


def check_sums(sums):
    """Mismatch where they sum not once, or one of them does the work."""
    if not sums:
        raise Wasteful("all_reduce is never called: one cannot add what the other has.",
                       "all_reduce.")  # fmt: skip
    if len(sums) > 1:
        raise Wasteful("all_reduce is called twice or more.",
                       "a by columns: then relu needs no sum.")  # fmt: skip
    mine, yours = sums[0]
    if not mine.any() or not yours.any() or np.array_equal(mine, yours):
        raise Wasteful("one of the workers computes all of it.", "the halves.")


def check_result(y, x, a, b):
    """Mismatch that names the mistake, as far as it is a common one."""
    want, k, half = np.maximum(x @ a, 0) @ b, a.shape[0] // 2, a.shape[1] // 2
    if np.shape(y) != want.shape:
        raise Mismatch(f"Shape {np.shape(y)}, where {want.shape} is expected.", "its return.")
    if np.allclose(y, want):
        return
    parts = [np.maximum(x[:, own] @ a[own], 0) for own in (slice(0, k), slice(k, None))]
    mine = np.maximum(x @ a[:, :half], 0) @ b[:half]
    for value, sentence, hint in (
        (sum(parts) @ b, "The relu of a sum is not the sum of relus.", "a, cut by rows."),
        (mine, "It returns one worker's part: half of the sum.", "what all_reduce returns."),
        (2 * want, "It is twice the result: each worker computed all of it.", "the halves."),
    ):
        if np.allclose(y, value):
            raise Mismatch(sentence, hint)
    raise Mismatch("The result is wrong.",
                   "one worker's part by hand: its columns of a, relu, its rows of b.")  # fmt: skip


hints = (
    "relu of a sum is not the sum of relus, so h must be whole where relu is taken. Which "
    "halves of a give whole numbers of h?",
    "h = np.maximum(x @ a[:, own], 0)\n"
    "parts.append(h @ b[own])",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
