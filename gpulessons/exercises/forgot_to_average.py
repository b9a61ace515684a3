"""Replicas should be equal after a step. One worker used its own gradient: which?"""

import numpy as np

from gpulessons.exercises.asking import a_function

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
    """(replicas,): one is not what the others are; ten times it is drawn anew."""
    same, rng = np.array([3.0, -4.0, 1.0, 2.0]), np.random.default_rng()
    yield ([same * 1.1, same, same, same],)
    yield ([same, same, same * 0.5, same],)
    yield ([same, same + np.array([0.5, -0.5, 0.5, -0.5]), same, same],)
    yield ([same, same, same, same - np.array([0.0, 0.0, 0.0, 0.2])],)
    for guilty in rng.integers(0, 5, 10):
        yield ([same + (rank == guilty) * rng.normal(size=4) for rank in range(5)],)


mistakes = (
    ("Worker 0 may be the one that forgot: compare with most, not with 0.",
     "np.median(replicas, axis=0)", "replicas[0]"),
    ("Large weights are no mistake: the others may have the same ones.",
     "weights - middle", "weights"),
    ("Differences up and down cancel in a sum.",
     "np.abs(weights - middle).max()", "abs((weights - middle).sum())"),
)  # fmt: skip

exercise = a_function(
    __name__, text, [*cases()], "how far each is from what most of them have.",
    "Found each time, also where worker 0 itself forgot.", mistakes,
)
