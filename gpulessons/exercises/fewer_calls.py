"""Move forty parameters with a handful of operator calls: PyTorch takes lists, too."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gpulessons.exercises.asking import check_like, in_place
from gpulessons.grader.check import Exercise
from gpulessons.grader.diagnosis import Mismatch, Wasteful

COUNT, MOST, RATE = 40, 5, 0.125
HINT = "functions that take whole lists and end in _: torch._foreach_add_, and others."

text = '''\
import torch

def my_update(parameters, gradients, rate):
    """Take rate × gradient off each parameter, in place. Two lists of tensors, and a number."""
    ### BEGIN SOLUTION
    torch._foreach_add_(parameters, gradients, alpha=-rate)
    ### STUB
    for p, g in zip(parameters, gradients):
        p -= rate * g  # Your turn: two operator calls each. Functions torch._foreach_… take lists.
    ### END SOLUTION
'''

mistakes = (
    ("It climbs: the step is against the gradient.", "-rate", "rate"),
    ("The step is the whole gradient: the rate is missing.", ", alpha=-rate", ", alpha=-1"),
    ("The whole gradient is added: sign and rate are missing.", ", alpha=-rate", ""),
)


class OperatorCalls(TorchDispatchMode):
    """Inside, how many operators are called, those that only make views left out."""

    count = 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        self.count += not operator.is_view
        return operator(*args, **(kwargs or {}))


def judge(attempt):
    """Forty parameters of many shapes: the right values, in the same memory, by few calls."""
    shapes = [shape for n in range(COUNT // 2) for shape in ((8, 5 + n), (8,))]
    parameters, gradients = ([torch.randn(shape) for shape in shapes] for _ in range(2))
    check_like(text, attempt, [(parameters, gradients, RATE)], HINT, mistakes, in_place)
    listed = list(parameters)
    attempt(listed, gradients, RATE)
    if not all(a is b for a, b in zip(listed, parameters, strict=True)):
        raise Mismatch("It put new tensors in place of the parameters; the network keeps the old.",
                       "names that end in _: they write where the parameter is.")  # fmt: skip
    if not all(each._version for each in parameters):  # PyTorch counts what writes to a tensor
        raise Wasteful("PyTorch has not seen every parameter written to, as by way of NumPy: on a "
                       "GPU that is out of reach.", HINT)  # fmt: skip
    with OperatorCalls() as calls:
        attempt(listed, gradients, RATE)
    if calls.count > MOST:
        raise Wasteful(f"with {calls.count} operator calls for {COUNT} parameters; {MOST} will do.",
                       HINT)  # fmt: skip
    return f"{COUNT} parameters moved, operator calls instead of {2 * COUNT}: {calls.count}."


hints = (
    "The step is an addition: p + (−rate) × g. PyTorch adds lists in place, with a factor alpha "
    "for the second one.",
    "torch._foreach_add_(parameters, gradients, alpha=-rate)",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
