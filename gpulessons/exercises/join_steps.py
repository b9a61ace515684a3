"""Two steps of a linear recurrence as one step of the same form: what makes a scan possible."""

import numpy as np

from gpulessons.exercises.asking import a_function

text = '''\
def my_join(first, second):
    """A step (a, b) makes a h + b of h. One step (a, b) that does both, the first one first."""
    ### BEGIN SOLUTION
    (a, b), (later_a, later_b) = first, second
    return later_a * a, later_a * b + later_b
    ### STUB
    ...  # Your turn.
    ### END SOLUTION
'''

CASES = (((2.0, 1.0), (3.0, 5.0)), ((0.5, -1.0), (0.0, 4.0)), ((1.0, 0.0), (0.25, 2.0)),
         ((np.array([2.0, 0.5]), np.array([1.0, 3.0])), (np.array([4.0, 2.0]), np.array([0, 1.0]))),
         )  # fmt: skip

mistakes = (
    ("That is the second step before the first.", "later_a * b + later_b", "a * later_b + b"),
    ("The second step multiplies all that the first one made, its b too.",
     "later_a * b + later_b", "b + later_b"),
    ("That is h after both steps from h = 0; but the next step needs a, too.",
     "return later_a * a, later_a * b + later_b", "return later_a * b + later_b"),
)  # fmt: skip

hints = ("Do both steps to h on paper: later_a * (a * h + b) + later_b. What stands at h, and what "
         "without it?", "return later_a * a, later_a * b + later_b")

exercise = a_function(
    __name__, text, CASES, "h after the first step, put into the second; then multiplied out.",
    "Two steps are one: so four are two, and all of them wait in log₂ n rounds.", mistakes, hints,
)
