"""A loop over elements becomes one NumPy expression over arrays."""

from gpulessons.backends import host
from gpulessons.grader.check import Exercise, check_op
from gpulessons.grader.ownership import require_own_code
from gpulessons.grader.waste import check_steps, steps_of
from gpulessons.ops.activations_more import leaky_relu

text = '''\
import numpy as np

def my_leaky_relu(x):
    """x where x > 0, else 0.01 x, for a whole array at once: no loop."""
    ### BEGIN SOLUTION
    return np.where(x > 0, x, np.float32(0.01) * x)
    ### STUB
    raise NotImplementedError  # Your turn.
    ### END SOLUTION
'''


def judge(attempt):
    """Right at every size; then, no more steps of Python for many numbers than for few."""
    ran = check_op(leaky_relu, attempt, host)
    for name in ("leaky_relu", "map"):
        require_own_code(attempt, name)
    few, many = (steps_of(attempt, *leaky_relu.inputs(n)) for n in (7, 99))
    check_steps(few, many, "7 and 99 numbers", "np.where, or a product with x < 0: what does all?")
    return ran


exercise = Exercise(__name__, text, judge=judge)
