"""A kernel's program: the Python function that runs whole warps of it, and what it was made of.

A program takes any arguments, grid and block. What the names around the kernel mean is looked up
once, while it is written: `tracing()` keeps the program of a kernel's first launch with arguments
of such types, as Numba keeps its machine code; `trace(kernel)` makes a new one for every launch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from .writer import Writer


@dataclass(frozen=True)
class Program:
    """A generator function `run(w, *arguments)` on warps, and its kernel's source."""

    run: Callable[..., Any]
    source: str
    first_line: int
    names: frozenset[str]  # all that the code speaks of, and that of its device functions


# decorated kernel → types of its arguments → program; a program must not hold the kernel
FIRST: WeakKeyDictionary[Any, dict[tuple, Program]] = WeakKeyDictionary()


def compiled_first(kernel: Any, function: FunctionType, types: tuple) -> Program:
    """The program of a kernel at its first launch with such types, whatever names mean later."""
    known = FIRST.setdefault(kernel, {})
    if types not in known:
        known[types] = compiled(function)
    return known[types]


def compiled(function: FunctionType, callers: tuple[FunctionType, ...] = ()) -> Program:
    """The program of a kernel, or of a device function that these callers came to."""
    called: dict[FunctionType, Program] = {}

    def device(other: FunctionType) -> Callable[..., Any] | None:
        if other in (*callers, function):
            return None  # it calls itself
        if other not in called:
            called[other] = compiled(other, (*callers, function))
        return called[other].run

    writer = Writer(function, not callers, device)
    names = names_in(function.__code__).union(*(program.names for program in called.values()))
    return Program(writer.run, writer.source.text, writer.source.first_line, frozenset(names))


def names_in(code: CodeType) -> set[str]:
    """The names that a function's code speaks of, and functions inside it."""
    inside = [names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inside)
