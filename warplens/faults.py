"""What can be wrong with a kernel: exceptions for what a GPU would not survive, cautions for the
rest.

Every exception carries plain attributes (`line`, `array`, `index`, `shape`, `block`, `thread`, …)
and its text is one sentence, so that a learner's checker can use either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class Unsupported(NotImplementedError):
    """The kernel uses something the microscope does not follow; the text names it and its line."""

    def __init__(self, what: str, line: int | None = None, function: str = "") -> None:
        self.what, self.line, self.function = what, line, function
        where = f", line {line}" if line else ""
        super().__init__(f"{function or 'kernel'}{where}: warplens does not follow {what}")


class TooLarge(Unsupported, MemoryError):
    """More than the microscope can hold; the text says what to trace instead."""


class KernelFault(Exception):
    """A kernel did what no GPU defines. `line` is the line of source, or None for a launch."""

    def __init__(self, text: str, line: int | None = None, **details: Any) -> None:
        self.line = line
        self.__dict__.update(details)
        super().__init__(text)


class Untypable(KernelFault):
    """Numba-CUDA's compiler refuses it, for its types."""

    def __init__(self, what: str, line: int | None = None, function: str = "") -> None:
        self.what, self.function = what, function
        where = f", line {line}" if line else ""
        super().__init__(f"{function or 'kernel'}{where}: Numba-CUDA compiles no {what}", line)


class OutOfBounds(KernelFault, IndexError):
    """Attributes: array, index, shape, block, thread, line, access ("read", "write", "atomic")."""


class Misaligned(KernelFault):
    """An access that does not begin at a multiple of its width. Attributes: as OutOfBounds, and
    the index where four numbers are accessed at once."""


class PartialBarrier(KernelFault):
    """Attributes: line, lines (all the lines waited at), reached, threads, block, thread (the
    first that does not wait, or None)."""


class PartialWarp(KernelFault):
    """An instruction of the whole warp that part of it reached. Attributes: line, reached, block,
    warp."""


class LaunchError(KernelFault, ValueError):
    """A launch that a GPU refuses: too many threads, too much shared memory, a grid of nothing."""


class TooMuchShared(LaunchError):
    """Some GPUs have more for a block, for which Numba does not ask. Attribute: shared, bytes."""


class NoProgress(KernelFault):
    """A loop that never ends: threads that wait for others of their block. Attribute: line."""


@dataclass(frozen=True)
class Caution:
    """Something a GPU lets pass and a reader should not: `kind`, `line`, one sentence, how often.

    Kinds: "uninitialized", "shuffle", "warp mask", "double precision", "early return", "negative
    index", "division by zero", "fence", "exception".
    """

    kind: str
    line: int
    text: str
    times: int = 1

    def __str__(self) -> str:
        return f"line {self.line}: {self.text}"
