"""cost_of_a_call(): how long it takes to ask for next to nothing, by who is asked.

Two numbers are added. The sum itself takes less than a nanosecond, so what is measured is the way
there: Python's call, the library's checks, the choice of a kernel, a new array for the result. A
step of many small operators pays it for each of them. Every figure holds one Python call more, that
of the function which makes the call.
"""

import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from gpulessons import units
from gpulessons.hardware.budget import capped, note

from .tables import Table

SAMPLE = 1e-3  # seconds: shorter calls are batched until the clock's own cost vanishes
ROUNDS = 7  # at least, however little time there is


@dataclass(frozen=True)
class CallCost:
    """One call of one kind, or why there is none; seconds."""

    name: str
    samples: tuple[float, ...] = ()
    why: str = ""

    @property
    def median(self) -> float:
        return median(self.samples)

    @property
    def quartiles(self) -> tuple[float, float]:
        low, _, high = quantiles(self.samples, n=4)
        return low, high


@dataclass(frozen=True, repr=False)
class CallCosts(Table):
    """A table of calls that can be looped over."""

    costs: tuple[CallCost, ...] = ()

    def __iter__(self) -> Iterator[CallCost]:
        return iter(self.costs)


def cost_of_a_call(*, budget: float = 0.2) -> CallCosts:
    """Measure calls that add two numbers, each for `budget` seconds, in turns with the others.

    What cannot run here, or would have to be compiled for seconds under GPULESSONS_BUDGET, gets a
    row that says why. ValueError for a budget that is no time.
    """
    if not capped(budget) > 0:
        raise ValueError(f"A budget is a number of seconds above 0, not {budget}.")
    found = {name: prepared(make) for name, make in KINDS_OF_CALL.items()}
    samples: dict[str, list[float]] = {name: [] for name in found}
    ready = {name: call for name, call in found.items() if not isinstance(call, str)}
    batches = {name: batch(call) for name, call in ready.items()}
    until = time.perf_counter() + capped(budget) * len(ready)
    while time.perf_counter() < until or len(samples["a Python function"]) < ROUNDS:
        for name, call in ready.items():
            samples[name].append(clocked(call, batches[name]))
    costs = tuple(
        CallCost(name, tuple(samples[name]), call if isinstance(call, str) else "")
        for name, call in found.items()
    )
    title = f"What a call costs that adds two numbers{f' ({note()})' if note() else ''}"
    return CallCosts(title, ("call", "median", "middle half"), tuple(map(row, costs)), costs)


def row(cost: CallCost) -> tuple[str, str, str]:
    if cost.why:
        return cost.name, "–", cost.why
    low, high = map(units.seconds, cost.quartiles)
    return cost.name, units.seconds(cost.median), f"{low} to {high}"


def clocked(call: Callable[[], Any], times: int) -> float:
    began = time.perf_counter()
    for _ in range(times):
        call()
    return (time.perf_counter() - began) / times


def batch(call: Callable[[], Any]) -> int:
    """How many calls fill a sample."""
    times = 1
    while clocked(call, times) * times < SAMPLE:
        times *= 2
    return times


def prepared(make: Callable[[], Callable[[], Any]]) -> Callable[[], Any] | str:
    """A call that has run once, and so is compiled; or why there is none."""
    try:
        call = make()
        call()
        return call
    except Exception as trouble:
        return str(trouble).strip().partition("\n")[0] or type(trouble).__name__


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


def torch_add() -> Callable[[], Any]:
    import torch

    one = torch.ones(2)
    return lambda: torch.add(one, one)


def torch_add_with_autograd() -> Callable[[], Any]:
    import torch

    one = torch.ones(2, requires_grad=True)
    return lambda: torch.add(one, one)


def compiled_torch_add() -> Callable[[], Any]:
    import torch

    if note():
        raise RuntimeError("compiling takes seconds: not measured under GPULESSONS_BUDGET")
    if not any(map(shutil.which, ("c++", "g++", "clang++", "cl"))):
        raise RuntimeError("torch.compile needs a C++ compiler, and none is here")
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
    "PyTorch, with autograd": torch_add_with_autograd,
    "PyTorch, torch.compile": compiled_torch_add,
    "PyTorch, launching on a GPU": cuda_launch,
}
