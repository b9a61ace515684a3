"""`trace(kernel)[grid, block](*args)`: run a kernel warp by warp, keep what it did."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any, NoReturn

from .arguments import admitted
from .lanes.launch import Launch
from .report.traces import Trace
from .signatures import matched, signatures_of
from .source.compile import Program, compiled, compiled_first
from .source.names import python_function


def trace(
    kernel: Any, blocks: Iterable[Any] | None = None, iterations: int | None = None
) -> Tracer:
    """A kernel ready to be launched under the microscope.

    `kernel` is a plain function or one decorated with `cuda.jit`; `trace(kernel)[grid, block,
    stream, dynamic_shared]` is launched like any kernel of Numba's, works on the arrays it is
    given, and returns a `Trace`. `blocks={0, 7}` runs only these blocks of the grid, numbered from
    0 with x running fastest, or given as (x, y) and (x, y, z). `iterations=16` samples long loops:
    sixteen at the beginning stand for those in the middle, which are left out. Counts are then
    estimates, and results are wrong.
    """
    return Tracer(kernel, blocks, iterations)


class Tracer:
    """What `trace(kernel)` gives: it waits for a grid and a block."""

    def __init__(
        self,
        kernel: Any,
        blocks: Iterable[Any] | None = None,
        iterations: int | None = None,
        once: bool = False,  # compiled at the first launch with such types, and never again
    ) -> None:
        function = kernel if inspect.isfunction(kernel) else python_function(kernel)
        if function is None:
            raise TypeError(f"trace() takes a kernel (a function), not a {type(kernel).__name__}")
        self.function: FunctionType = function
        self.kernel, self.blocks, self.iterations, self.once = kernel, blocks, iterations, once

    def __getitem__(self, sizes: Any) -> Callable[..., Trace]:
        if not isinstance(sizes, tuple) or not 2 <= len(sizes) <= 4:
            raise TypeError(
                "launch as kernel[grid, block], or kernel[grid, block, stream, dynamic_shared]"
            )
        grid, block, _, dynamic = (*sizes, 0, 0)[:4]

        def launched(*args: Any) -> Trace:
            typed = matched(args, signatures_of(self.kernel))
            launch = Launch(self.function, grid, block, dynamic, self.blocks, self.iterations)
            return run(launch, typed, self.program)

        return launched

    def program(self, args: tuple) -> Program:
        if not self.once:
            return compiled(self.function)
        return compiled_first(self.kernel, self.function, tuple(map(kind, args)))

    def __call__(self, *args: Any) -> NoReturn:
        raise TypeError("a kernel needs a grid and a block: trace(kernel)[grid, block](…)")


def kind(value: Any) -> Any:
    """What Numba tells arguments apart by: arrays by their elements and axes, others by type."""
    if isinstance(value, tuple):
        return tuple(map(kind, value))
    if hasattr(value, "shape"):
        return str(value.dtype), len(value.shape)
    return type(value)


def run(launch: Launch, args: tuple, program_of: Callable[[tuple], Program]) -> Trace:
    function = launch.function
    parameters = list(inspect.signature(function).parameters.values())
    needed = sum(p.default is p.empty for p in parameters)
    if not needed <= len(args) <= len(parameters):
        raise TypeError(f"{function.__name__} takes {len(parameters)} arguments, not {len(args)}")
    names = [p.name for p in parameters[: len(args)]]
    launch.arguments = args
    with admitted(args, names) as values:
        program = program_of(args)
        launch.run(program.run, program.names, values)
    return Trace.of(launch, values, program.source, program.first_line)
