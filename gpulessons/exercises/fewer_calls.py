"""Move forty parameters with a handful of operator calls: PyTorch takes lists, too."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Mismatch, Wasteful

COUNT, MOST, RATE = 40, 5, 0.125

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


class OperatorCalls(TorchDispatchMode):
    """Inside, how many operators are called, those that only make views left out."""

    count = 0

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        self.count += not operator.is_view
        return operator(*args, **(kwargs or {}))


def judge(attempt):
    """Forty parameters of many shapes: the right values, in the same memory, by few calls."""
    generator = torch.Generator().manual_seed(10)
    shapes = [shape for n in range(COUNT // 2) for shape in ((8, 5 + n), (8,))]
    old, gradients = ([torch.randn(s, generator=generator) for s in shapes] for _ in range(2))
    parameters, slopes = [each.clone() for each in old], [each.clone() for each in gradients]
    places = [each.data_ptr() for each in parameters]
    listed = list(parameters)
    run(attempt, (listed, list(gradients), RATE), {})
    if not all(map(torch.equal, gradients, slopes)):
        raise Mismatch("It changed the gradients.", "what it writes to: parameters, and only they.")
    same = all(a is b for a, b in zip(listed, parameters, strict=True))
    if not same or [each.data_ptr() for each in parameters] != places:
        raise Mismatch("It put new tensors in place of the parameters; the network keeps the old.",
                       "names that end in _: they write where the parameter is.")  # fmt: skip
    check_moved(parameters, old, slopes)
    hint = "functions that take whole lists: torch._foreach_add_, and others."
    if not all(each._version for each in parameters):  # PyTorch counts what writes to a tensor
        raise Wasteful("PyTorch has not seen every parameter written to, as by way of NumPy: on a "
                       "GPU that is out of reach.", hint)  # fmt: skip
    with OperatorCalls() as calls:
        run(attempt, (list(parameters), list(gradients), RATE), {})
    if calls.count > MOST:
        raise Wasteful(f"with {calls.count} operator calls for {COUNT} parameters; {MOST} will do.",
                       hint)  # fmt: skip
    return f"{COUNT} parameters moved, operator calls instead of {2 * COUNT}: {calls.count}."


def check_moved(parameters, old, slopes):
    def by(factor):
        moved = (o + factor * g for o, g in zip(old, slopes, strict=True))
        return all(torch.allclose(p, m, atol=1e-5) for p, m in zip(parameters, moved, strict=True))

    if by(-RATE):
        return
    if by(0):
        raise Mismatch("No parameter has moved.", "names that end in _: they work in place.")
    if by(RATE):
        raise Mismatch("It climbs: the step is against the gradient.", "the sign.")
    if by(-1) or by(1):
        raise Mismatch("The step is the whole gradient: the rate is missing.", "alpha.")
    raise Mismatch("The parameters are not what the loop makes of them.", "p − rate × g.")


hints = (
    "The step is an addition: p + (−rate) × g. PyTorch adds lists in place, with a factor alpha "
    "for the second one.",
    "torch._foreach_add_(parameters, gradients, alpha=-rate)",
)

exercise = Exercise(__name__, text, judge=judge, hints=hints)
