"""Replicas should be equal after a step. One worker used its own gradient: which?"""

import numpy as np

from gpulessons.grader.diagnosis import Trouble

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

FAR = "np.abs(weights - middle).max()"

wrong = [
    ("np.median(replicas, axis=0)", "replicas[0]", "worker 0 forgot"),
    (FAR, "np.abs(weights).max()", "large weights"),
    (FAR, "abs((weights - middle).sum())", "cancel"),
    (FAR, "abs(weights[0] - middle[0])", "a single weight"),
    ("int(np.argmax(far))", "far", "is no rank"),
    ("argmax", "argmin", "did it right"),
    (FAR, "np.abs(weights - middle)[:-1].max()", "a single weight"),
    (FAR, "(weights - middle).max()", "a single weight"),
    ("weights - middle", "np.subtract(weights, middle, out=weights)", "changed the weights"),
    ("int(np.argmax(far))", "np.flatnonzero(far)", "is no rank"),
]
right = [
    ("int(np.argmax(far))", "float(np.argmax(far))"),
    ("np.median(replicas, axis=0)", "sum(replicas) / len(replicas)"),
    ("int(np.argmax(far))", "next(i for i, d in enumerate(far) if d > 0)"),
]


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
        if not np.array_equal(given, replicas):
            raise Trouble("It changed the weights.", "which array it writes to.")
        if np.ndim(named) or named not in range(len(replicas)):  # 2.0 is
            raise Trouble(f"{named!r} is no rank: return a whole number from 0 on.", "argmax.")
        if named != guilty:
            raise Trouble(missed.format(named), "how far each is from what most of them have.")
    return "Found each time, also where worker 0 itself forgot."
