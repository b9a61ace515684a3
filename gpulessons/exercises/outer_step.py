"""DiLoCo's meeting: what do the common weights become?"""

import numpy as np

from gpulessons.exercises.asking import a_function

text = '''\
def my_meeting(common, own, velocity, rate=0.7, momentum=0.9):
    """The new common weights, and the new velocity.

    common: (n,), where all workers began; own: (workers, n), where each has come to since.
    """
    ### BEGIN SOLUTION
    outer = common - own.mean(axis=0)
    velocity = momentum * velocity + outer
    common = common - rate * (outer + momentum * velocity)
    ### STUB
    common = own.mean(axis=0)  # Your turn: so far this is local SGD.
    ### END SOLUTION
    return common, velocity
'''

hints = (
    "The gradient points uphill: from where the workers have come to back to where they began.",
    "outer = common - own.mean(axis=0)",
)
mistakes = (
    ("It walks away from the workers: the outer gradient is common minus mean, so that minus the "
     "gradient leads to them.", "common - own.mean(axis=0)", "own.mean(axis=0) - common"),
    ("Each step of the workers counts in full: it is their mean that is asked for, not their sum.",
     "common - own.mean(axis=0)", "(common - own).sum(axis=0)"),
    ("That is plain momentum. Nesterov looks ahead: the newest outer gradient is in it once more.",
     "(outer + momentum * velocity)", "velocity"),
)  # fmt: skip

rng = np.random.default_rng(0)
CASES = (
    (np.array([1.0, 2.0]), np.array([[0.0, 2.0], [1.0, 4.0]]), np.array([0.5, -1.0])),
    (rng.random(3), rng.random((4, 3)), rng.random(3)),
    (rng.random(3), rng.random((2, 3)), np.zeros(3), 1.0, 0.5),
)

exercise = a_function(
    __name__, text, CASES, "the outer gradient: where they began, minus where they are.",
    "One message from each worker, however many steps it took alone.", mistakes, hints,
)
