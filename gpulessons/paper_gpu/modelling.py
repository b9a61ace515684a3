"""modelled(kernel, on="A100")[grid, block](x, y): how long a launch would take, and what it waits for."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gpulessons import microscope
from gpulessons.machine_code import cuda, sass
from gpulessons.microscope import Trace

from . import bounds as parts
from .devices import GPU, named
from .occupancy import Occupancy, occupancy
from .rounds import rounds
from .sampling import TURNS, Sample, chosen, sampled
from .value import Modelled


def modelled(kernel: Any, on: str | GPU = "A100") -> Modelling:
    """A kernel ready to be modelled: give it a grid, a block and its arguments, as in a launch.

    Only a few blocks are run, under the microscope, and of long loops a few turns: large grids
    cost no more than small ones, and the arrays hold no result afterwards.
    """
    return Modelling(kernel, named(on))


class Modelling:
    """What `modelled(kernel)` gives: it waits for a grid and a block."""

    def __init__(self, kernel: Any, gpu: GPU) -> None:
        self.kernel, self.gpu = kernel, gpu

    def __getitem__(self, sizes: Any) -> Callable[..., Modelled]:
        grid = microscope.lanes.launch.extent(sizes[0], "the grid")
        launch = microscope.trace(self.kernel, blocks=chosen(grid), turns=TURNS)[sizes]
        return lambda *arguments: of_trace(launch(*arguments), self.gpu)


def of_trace(trace: Trace, gpu: GPU) -> Modelled:
    sample = sampled(trace)
    launch = trace.launch
    code = cuda.assembly(launch.function, *launch.arguments, capability=gpu.capability)
    code = sass.machine_code(code.ptx, gpu.capability)
    return of_code(sample, code, gpu)


def of_code(sample: Sample, code: sass.Code, gpu: GPU) -> Modelled:
    launch = sample.trace.launch
    held = occupancy(launch.threads, code.registers, code.shared + launch.dynamic_shared, gpu)
    turns = rounds(code, sample)
    found = parts.bounds(gpu, sample, code, turns, held.blocks)
    seconds, low, high = put_together(gpu, found)
    return Modelled(sample.trace.kernel, gpu.name, seconds, low, high, found, "machine code")


def put_together(gpu, found):
    values = sorted(found.values())
    together = sum(t**3 for t in values) ** (1 / 3)
    seconds = together + parts.LAUNCH
    slow = gpu.boost / (gpu.sustained or gpu.base)
    two = sum(values[-2:])
    return seconds, 0.9 * values[-1], max(1.1 * seconds, two * slow)
