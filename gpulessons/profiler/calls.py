"""cost_of_a_call(): how long it takes to ask for next to nothing, by who is asked.

Two numbers are added. The sum itself takes less than a nanosecond, so what is measured is the way
there: Python's call, the library's checks, the choice of a kernel, a new array for the result. A
step of many small operators pays it for each of them. Every figure holds one Python call more, that
of the function which makes the call.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from gpulessons import units
from gpulessons.hardware.budget import capped, note
from gpulessons.hardware.timer import Spread, interleaved

from .listing import Listing


@dataclass(frozen=True, repr=False)
class CallCost(Spread):
    """One call of one kind, in seconds; without samples, why there are none."""

    name: str
    why: str = ""

    @property
    def row(self) -> tuple[str, str, str]:
        if self.why:
            return self.name, "–", self.why
        low, high = map(units.seconds, self.quartiles)
        return self.name, units.seconds(self.median), f"{low} to {high}"


def cost_of_a_call(*, budget: float = 0.2) -> Listing:
    """Measure calls that add two numbers, each for `budget` seconds, in turns with the others.

    What cannot run here, or would have to be compiled for seconds under GPULESSONS_BUDGET, gets a
    row that says why. ValueError for a budget that is no time.
    """
    if not capped(budget) > 0:
        raise ValueError(f"A budget is a number of seconds above 0, not {budget}.")
    ready, missing = {}, {}
    for name, make in KINDS_OF_CALL.items():
        try:
            ready[name] = make()
            ready[name]()
        except Exception as trouble:
            ready.pop(name, None)
            missing[name] = str(trouble).strip().partition("\n")[0] or type(trouble).__name__
    spreads = dict(interleaved(ready, budget))
    costs = tuple(
        CallCost((), 1, name, missing[name]) if name in missing
        else CallCost(spreads[name].samples, 1, name)
        for name in KINDS_OF_CALL
    )  # fmt: skip
    title = f"What a call costs that adds two numbers{f' ({note()})' if note() else ''}"
    head = ("call", "median", "middle half")
    return Listing(title, head, [cost.row for cost in costs], values=costs)


def python_function() -> Callable[[], Any]:
    def add(a: float, b: float) -> float:
        return a + b

    return lambda: add(1.0, 2.0)


def numpy_add() -> Callable[[], Any]:
    import numpy

    one = numpy.ones(2, numpy.float32)
    return lambda: numpy.add(one, one)


def numba_function() -> Callable[[], Any]:
    import numba
    import numpy

    one = numpy.ones(2, numpy.float32)

    @numba.njit
    def add(a, b, out):  # type: ignore[no-untyped-def]
        for i in range(out.size):
            out[i] = a[i] + b[i]

    out = numpy.empty_like(one)
    return lambda: add(one, one, out)


def torch_add(**options: Any) -> Callable[[], Any]:
    import torch

    one = torch.ones(2, **options)
    return lambda: torch.add(one, one)


def compiled_torch_add() -> Callable[[], Any]:
    import torch

    if note():
        raise RuntimeError("compiling takes seconds: not measured under GPULESSONS_BUDGET")
    one = torch.ones(2)
    add = torch.compile(lambda a, b: a + b)
    return lambda: add(one, one)


def cuda_launch() -> Callable[[], Any]:
    """The host's part only: the GPU is waited for once in a thousand launches."""
    import torch

    if not torch.cuda.is_available():
        raise RuntimeError("PyTorch finds no CUDA GPU here")
    one = torch.ones(2, device="cuda")
    out = torch.empty_like(one)
    launched = 0

    def launch() -> None:
        nonlocal launched
        torch.add(one, one, out=out)
        launched += 1
        if launched % 1000 == 0:
            torch.cuda.synchronize()

    return launch


KINDS_OF_CALL: dict[str, Callable[[], Callable[[], Any]]] = {
    "a Python function": python_function,
    "NumPy": numpy_add,
    "Numba, compiled": numba_function,
    "PyTorch": torch_add,
    "PyTorch, with autograd": partial(torch_add, requires_grad=True),
    "PyTorch, torch.compile": compiled_torch_add,
    "PyTorch, launching on a GPU": cuda_launch,
}
