"""A loop over elements becomes one NumPy expression over arrays."""

from gpulessons.backends import host
from gpulessons.grader.check import Exercise, check_op
from gpulessons.grader.diagnosis import refuse_loop, steps_of
from gpulessons.ops.activations import leaky_relu

stub = '''\
import numpy as np

def my_leaky_relu(x):
    """x where x > 0, else 0.01 x, for a whole array at once: no loop."""
    raise NotImplementedError  # Your turn.
'''

solution = '''\
import numpy as np

def my_leaky_relu(x):
    """x where x > 0, else 0.01 x, for a whole array at once: no loop."""
    return np.where(x > 0, x, np.float32(0.01) * x)
'''


def judge(attempt):
    """Right at every size; then, no more steps of Python for many numbers than for few."""
    said = check_op(leaky_relu, attempt, host)
    few, many = (steps_of(attempt, *leaky_relu.inputs(n)) for n in (7, 99))
    refuse_loop(few, many, "7 and 99 numbers", "np.where, or a product with x < 0: what does all?")
    return said


exercise = Exercise(__name__, stub, solution, judge=judge)
