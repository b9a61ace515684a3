"""Replicas should be equal after a step. One worker used its own gradient: which?"""

import numpy as np

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, check_unchanged

text = '''\
import numpy as np

def my_suspect(replicas):
    """The rank of the worker that forgot to average. replicas: an array of weights for each."""
    ### BEGIN SOLUTION
    middle = np.median(replicas, axis=0)  # what most of them have
    far = [np.abs(weights - middle).max() for weights in replicas]
    return int(np.argmax(far))
    ### STUB
    return 0  # At least two others did it right.
    ### END SOLUTION
'''


def cases():
    """(replicas, who forgot, what an answer misses that names another one); the last by chance."""
    same = np.array([3.0, -4.0, 1.0, 2.0])
    yield ([same * 1.1, same, same, same], 0,
           "Here worker 0 forgot, and worker {} is called the suspect. Compare with most, not with "
           "0.")  # fmt: skip
    yield ([same, same, same * 0.5, same], 2,
           "Worker {} has large weights, but the same ones as the others.")  # fmt: skip
    yield ([same, same + np.array([0.5, -0.5, 0.5, -0.5]), same, same], 1,
           "Differences up and down cancel in a sum: worker {} is no different.")  # fmt: skip
    yield ([same, same, same, same + np.array([0.0, 0.0, 0.0, -0.2])], 3,
           "Here a single weight differs, and not the first one; not worker {}.")  # fmt: skip
    rng = np.random.default_rng()
    for _ in range(10):
        replicas, guilty = [same] * 5, int(rng.integers(5))
        replicas[guilty] = same + rng.normal(size=4)
        yield replicas, guilty, f"In a group drawn by chance it was {guilty}, and not {{}}."


def judge(suspect):
    """Groups of replicas; in each, one is not what the others are."""
    for replicas, guilty, missed in cases():
        given = [weights.copy() for weights in replicas]
        named = run(suspect, (given,), {})
        check_unchanged(replicas, given, "the weights")
        if np.ndim(named) or named not in range(len(replicas)):  # 2.0 is
            raise Mismatch(f"{named!r} is no rank: return a whole number from 0 on.", "argmax.")
        if named != guilty:
            raise Mismatch(missed.format(named), "how far each is from what most of them have.")
    return "Found each time, also where worker 0 itself forgot."


exercise = Exercise(__name__, text, judge=judge)
