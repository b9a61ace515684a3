"""Move forty parameters with a handful of operator calls: PyTorch takes lists, too."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gpulessons.grader.check import Exercise, run
from gpulessons.grader.diagnosis import Trouble

COUNT, MOST, RATE = 40, 5, 0.125
TAKES_LISTS = "a function of torch that takes lists."

stub = '''\
import torch

def my_update(parameters, gradients, rate):
    """Take rate × gradient off each parameter, in place. Two lists of tensors, and a number."""
    for p, g in zip(parameters, gradients):
        p -= rate * g  # Your turn: two operator calls each. Functions torch._foreach_… take lists.
'''

solution = '''\
import torch

def my_update(parameters, gradients, rate):
    """Take rate × gradient off each parameter, in place. Two lists of tensors, and a number."""
    torch._foreach_add_(parameters, gradients, alpha=-rate)
'''


class OperatorCalls(TorchDispatchMode):
    """Inside, the names of all operators that are called, those that only make views left out."""

    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_dispatch__(self, operator, types, args=(), kwargs=None):
        if not operator.is_view:
            self.names.append(str(operator))
        return operator(*args, **(kwargs or {}))


def judge(attempt):
    """Forty parameters of many shapes: the right values, in the same memory, by few calls."""
    parameters, gradients = given()
    old, slopes = ([each.clone() for each in some] for some in (parameters, gradients))
    places = [each.data_ptr() for each in parameters]
    lists = list(parameters), list(gradients)
    run(attempt, (*lists, RATE), {})
    refuse_changed(slopes, gradients)
    refuse_elsewhere(parameters, lists[0], places, old)
    refuse_wrong(parameters, old, slopes)
    refuse_unseen(parameters)
    calls = calls_without_numbers(attempt)
    if len(calls.names) > MOST:
        raise Trouble(
            f"Right, but with {len(calls.names)} operator calls for {COUNT} parameters; "
            f"{MOST} will do.", "functions that take whole lists: torch._foreach_add_, and others.",
        )  # fmt: skip
    word = "call" if len(calls.names) == 1 else "calls"
    return f"{COUNT} parameters moved by {len(calls.names)} operator {word} instead of {2 * COUNT}."


def calls_without_numbers(attempt):
    """What is called for tensors that have shapes only ("meta"), which NumPy cannot touch."""
    parameters, gradients = ([each.to("meta") for each in some] for some in given())
    with OperatorCalls() as calls:
        try:
            run(attempt, (list(parameters), list(gradients), RATE), {})
        except Trouble as trouble:
            raise Trouble(
                "Right on the CPU, but it needs the numbers themselves; on a GPU they are out of "
                f"Python's reach. {trouble}", TAKES_LISTS,
            ) from trouble  # fmt: skip
    return calls


def given():
    """Parameters and gradients of a small network's shapes: matrices and vectors in turn."""
    generator = torch.Generator().manual_seed(10)
    shapes = [shape for n in range(COUNT // 2) for shape in ((8, 5 + n), (8,))]
    return ([torch.randn(shape, generator=generator) for shape in shapes] for _ in range(2))


def refuse_changed(before, after):
    if not all(map(torch.equal, before, after)):
        raise Trouble("It changed the gradients.", "what it writes to: parameters, and only they.")


def refuse_elsewhere(parameters, listed, places, old):
    """Trouble where the tensors that the network holds are not those that moved."""
    same = len(listed) == len(parameters) and all(map(lambda a, b: a is b, listed, parameters))
    if not same or [each.data_ptr() for each in parameters] != places:
        raise Trouble("It put new tensors in place of the parameters; the network keeps the old.",
                      "names that end in _: they write where the parameter is.")  # fmt: skip
    if all(map(torch.equal, parameters, old)):
        raise Trouble("No parameter has moved.", "names that end in _: they work in place.")


def refuse_unseen(parameters):
    """Trouble where somebody wrote who is not PyTorch: it counts what writes to a tensor."""
    if not all(each._version for each in parameters):
        raise Trouble("Right, but PyTorch has not seen every parameter written to: autograd would "
                      "take the new numbers for the old.", TAKES_LISTS)  # fmt: skip


def refuse_wrong(parameters, old, slopes):
    def by(factor):
        moved = (o + factor * g for o, g in zip(old, slopes, strict=True))
        return all(torch.allclose(p, m, atol=1e-5) for p, m in zip(parameters, moved, strict=True))

    if by(-RATE):
        return
    if by(RATE):
        raise Trouble("It climbs: the step is against the gradient.", "the sign.")
    if by(-1) or by(1):
        raise Trouble("The step is the whole gradient: the rate is missing.", "alpha.")
    moved = [not torch.equal(*pair) for pair in zip(parameters, old, strict=True)]
    if not all(moved):
        raise Trouble(f"Only {sum(moved)} of {COUNT} parameters have moved.", "the whole lists.")
    raise Trouble("The parameters are not what the loop makes of them.", "p − rate × g.")


hints = (
    "The step is an addition: p + (−rate) × g. PyTorch adds lists in place, with a factor alpha "
    "for the second one.",
    "torch._foreach_add_(parameters, gradients, alpha=-rate)",
)

exercise = Exercise(__name__, stub, solution, judge=judge, hints=hints)
