"""A loop over elements becomes one NumPy expression over arrays."""

from gpulessons.backends import host
from gpulessons.grader.check import Exercise, check_op
from gpulessons.grader.diagnosis import Trouble, refuse_loop, steps_of
from gpulessons.grader.ownership import behind, mentioned, names_in, refuse_ready_made
from gpulessons.grader.taken_apart import elements_taken
from gpulessons.ops.activations_more import leaky_relu

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


HINT = "np.where, or a product with x < 0: what does all?"


def judge(attempt):
    """Right at every size; then, no more steps of Python for many numbers than for few."""
    said = check_op(leaky_relu, attempt, host)
    refuse_ready_made(attempt, "leaky_relu")
    few, many = (steps_of(attempt, *leaky_relu.inputs(n)) for n in (7, 99))
    refuse_loop(few, many, "7 and 99 numbers", HINT)
    refuse_loops_elsewhere(attempt)
    if (taken := elements_taken(attempt, leaky_relu.inputs(99))) > 10:
        raise Trouble(f"Right, but of 99 numbers {taken} are taken one by one.", HINT)
    return said


def refuse_loops_elsewhere(attempt):
    """Trouble where the loop runs in C, or Numba compiles it: no step of Python shows."""
    for name in ("map", "filter", "nditer", "ndenumerate"):
        if name in names_in(attempt):
            raise Trouble(f"Right, but {name} goes from one number to the next.", HINT)
    for name, value in mentioned(behind(attempt)).items():
        if hasattr(value, "py_func"):
            raise Trouble(f"Right, but {name} is compiled by Numba: that may loop.", HINT)


exercise = Exercise(__name__, stub, solution, judge=judge)
