"""Cut two layers for two workers, so that they need each other's results only once."""

import numpy as np

from gpulessons.exercises.asking import check_like
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Wasteful

text = '''\
def my_layers(x, a, b, all_reduce):
    """relu(x @ a) @ b by two workers, each with half of the numbers of a and half of those of b.

    all_reduce([mine, yours]) is what both have afterwards: the sum. Call it as seldom as you can.
    """
    half = a.shape[1] // 2
    ### BEGIN SOLUTION
    halves = slice(0, half), slice(half, None)
    return all_reduce([np.maximum(x @ a[:, own], 0) @ b[own] for own in halves])
    ### STUB
    # Your turn: which half of a, by rows or by columns? Which half of b? And where is the sum?
    raise NotImplementedError
    ### END SOLUTION
'''

mistakes = (
    ("The relu of a sum is not the sum of relus: a is cut by rows.",
     "x @ a[:, own], 0) @ b[own]", "x[:, own] @ a[own], 0) @ b"),
    ("It returns one worker's part: half of the sum.", "return all_reduce(",
     "return (lambda parts: parts[0])("),
    ("It is twice the result: each worker computed all of it.", "x @ a[:, own], 0) @ b[own]",
     "x @ a, 0) @ b"),
)  # fmt: skip


def judge(layers):
    """Right at two sizes, with one sum, in which both workers have a part."""
    rng, sums, sides = np.random.default_rng(1), [], []

    def all_reduce(parts):
        mine, yours = parts
        sums.append((mine, yours))
        return mine + yours

    cases = [(*map(rng.standard_normal, ((n, k), (k, k), (k, k))), all_reduce)
             for n, k in ((2, 4), (3, 8))]  # fmt: skip
    hint = "one worker's part by hand: its columns of a, relu, its rows of b."
    check_like(text, layers, cases, hint, mistakes)
    sums.clear()
    layers(*cases[0])
    if len(sums) != 1:
        how = "called twice or more" if sums else "never called: one cannot add what the other has"
        raise Wasteful(f"all_reduce is {how}.", "a by columns: then relu needs no sum.")
    x, a, b = map(np.abs, cases[0][:3])  # so that every hidden number counts
    for twice in 1 + np.eye(len(b)):  # one of them counts twice: for whose part?
        sums.clear()
        layers(x, a, b, all_reduce)
        layers(x, a, b * twice[:, None], all_reduce)
        sides.append([np.array_equal(*part) for part in zip(*sums, strict=True)])
    if sum(map(np.array, sides)).tolist() != [len(b) / 2] * 2 or [True, True] in sides:
        raise Wasteful("one of the workers computes more than half of it.", "the halves.")
    return "One sum, of the result alone: relu never had to wait for it."


hints = (
    "relu of a sum is not the sum of relus, so h must be whole where relu is taken. Which "
    "halves of a give whole numbers of h?",
    "return all_reduce([np.maximum(x @ a[:, own], 0) @ b[own] for own in halves])",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
