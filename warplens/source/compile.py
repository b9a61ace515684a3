"""Compiled once, run many times: the programs of kernels, kept as long as they hold.

A program is made of a function's source and of what the names around it meant. It is used again
while the function has the same code and every name still means the very same object; a kernel that
is defined anew is another function. What the arguments, the grid and the block are makes no
difference: a program takes any.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from ..faults import NoProgress
from ..lanes.warps import Warps
from .names import Meaning
from .writer import Writer


@dataclass(frozen=True)
class Program:
    """A function as a generator function `run(w, *arguments)` on warps, and what it was made of.

    It must not hold the function itself, or neither would ever be forgotten.
    """

    run: Callable[..., Any]
    source: str
    first_line: int
    code: CodeType
    defaults: tuple[Any, ...] | None
    meanings: list[Meaning]
    calls: dict[FunctionType, Program]  # device functions

    @property
    def names(self) -> set[str]:
        """All names that the code speaks of, and that of its device functions."""
        return names_in(self.code).union(*(program.names for program in self.calls.values()))

    def holds(self, function: FunctionType) -> bool:
        """Would compiling the function give the same again?"""
        return (
            function.__code__ is self.code
            and function.__defaults__ is self.defaults
            and all(meaning.holds(function) for meaning in self.meanings)
            and all(program.holds(called) for called, program in self.calls.items())
        )


def names_in(code: CodeType) -> set[str]:
    """The names that a function's code speaks of, and functions inside it."""
    inside = [names_in(part) for part in code.co_consts if isinstance(part, CodeType)]
    return set(code.co_names).union(*inside)


# decorated kernel → types of its arguments → program
FIRST: WeakKeyDictionary[Any, dict[tuple, Program]] = WeakKeyDictionary()
# function → is it called as a kernel? → program
PROGRAMS: WeakKeyDictionary[FunctionType, dict[bool, Program]] = WeakKeyDictionary()
LOCK = threading.RLock()


def compiled(function: FunctionType, kernel: bool = True, callers: tuple = ()) -> Program:
    """The program of a kernel, or of a device function that these callers came from."""
    with LOCK:
        kept = PROGRAMS.setdefault(function, {})
        if kernel not in kept or not kept[kernel].holds(function):
            kept[kernel] = program_of(function, kernel, (*callers, function))
        return kept[kernel]


def compiled_first(kernel: Any, function: FunctionType, types: tuple) -> Program:
    """The program of a kernel at its first launch with such types: as Numba does, it then keeps
    what the names around it meant, whatever they mean later."""
    with LOCK:
        kept = FIRST.setdefault(kernel, {})
        if types not in kept:
            kept[types] = compiled(function)
        return kept[types]


def recursive(function: FunctionType) -> Callable[..., Any]:
    """A device function that is not compiled yet, called by itself or by one that it calls."""

    def again(w: Warps, *args: Any, **named: Any) -> Generator[Any, Any, Any]:
        try:
            return (yield from compiled(function, False).run(w, *args, **named))
        except RecursionError:
            text = f"{function.__name__} calls itself without end, or deeper than can be followed"
            raise NoProgress(text, w.line) from None

    return again


def program_of(function: FunctionType, kernel: bool, callers: tuple) -> Program:
    calls: dict[FunctionType, Program] = {}

    def device(called: FunctionType) -> Callable[..., Any]:
        if called in callers:
            return recursive(called)
        calls[called] = compiled(called, False, callers)
        return calls[called].run

    writer = Writer(function, kernel, device)
    return Program(
        writer.run,
        writer.source.text,
        writer.source.first_line,
        function.__code__,
        function.__defaults__,
        writer.names.meanings,
        calls,
    )
