"""Replicas should be equal after a step. One worker used its own gradient: which?"""

import numpy as np

from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Trouble, refuse_changes

stub = '''\
import numpy as np

def my_suspect(replicas):
    """The rank of the worker that forgot to average. replicas: an array of weights for each."""
    return 0  # At least two others did it right.
'''

solution = '''\
import numpy as np

def my_suspect(replicas):
    """The rank of the worker that forgot to average. replicas: an array of weights for each."""
    middle = np.median(replicas, axis=0)  # what most of them have
    far = [np.abs(weights - middle).max() for weights in replicas]
    return int(np.argmax(far))
'''


def cases():
    """(replicas, who forgot, what an answer misses that names another one)"""
    same = np.array([3.0, -4.0, 1.0, 2.0])
    yield (
        [same, same, same * 1.1, same, same], 2,
        "Worker {} did it right: its weights are those of most workers.",
    )
    yield (
        [same * 1.1, same, same, same], 0,
        "Here worker 0 forgot, and worker {} is called the suspect. Compare with most, not with 0.",
    )
    yield (
        [same, same, same * 0.5, same], 2,
        "Worker {} has large weights, but the same ones as the others.",
    )
    yield (
        [same, same + np.array([0.5, -0.5, 0.5, -0.5]), same, same], 1,
        "Differences up and down cancel in a sum: worker {} is no different.",
    )
    yield (
        [same, same, same, same + np.array([0.0, 0.0, 0.0, -0.2])], 3,
        "Here a single weight differs, and not the first one; not worker {}.",
    )  # fmt: skip


def judge(suspect):
    """Five groups of replicas; in each, one is not what the others are."""
    for replicas, guilty, missed in cases():
        named = suspect(given := [weights.copy() for weights in replicas])
        refuse_changes(replicas, given, "the weights")
        if np.ndim(named) or named not in range(len(replicas)):  # 2.0 is
            raise Trouble(f"{named!r} is no rank: return a whole number from 0 on.", "argmax.")
        if named != guilty:
            raise Trouble(missed.format(named), "how far each is from what most of them have.")
    rng = np.random.default_rng()
    for _ in range(10):
        replicas, guilty = [np.array([3.0, -4.0, 1.0, 2.0])] * 5, int(rng.integers(5))
        replicas[guilty] = replicas[guilty] + rng.normal(size=4)
        if suspect(replicas) != guilty:
            raise Trouble(f"Right for five groups; in another, drawn by chance, it was {guilty}.",
                          "what it returns when it has never seen the weights.")  # fmt: skip
    return "Found each time, also where worker 0 itself forgot."


exercise = Exercise(__name__, stub, solution, judge=judge)
