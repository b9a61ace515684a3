"""What is known of an expression while a kernel is translated: its WGSL, its type, its span.

WGSL's integers have 32 bits where Numba's have 64. So every integer carries the span of what it may
be, and what may leave 32 bits carries its value in float32 beside: where more than its lower bits
is asked for, the kernel itself looks whether it has left them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..faults import Unsupported

Span = tuple[int, int]
STORED = {  # dtype → what a buffer holds of it
    "float32": "f32", "int32": "i32", "uint32": "u32", "int64": "i32", "bool": "u32",
}  # fmt: skip
BUFFERS = STORED | {"int8": "i32"}  # which kernels only read
FULL: dict[str, Span] = {"i32": (-(2**31), 2**31 - 1), "u32": (0, 2**32 - 1), "bool": (0, 1)}
NONE: Span = (0, 0)  # of what is no integer
NATURAL: Span = (0, 2**31 - 1)


class Refused(Unsupported):
    """What this translator, or WGSL, does not do: one sentence with its line and reason."""

    def __init__(self, what: str, line: int | None = None, function: str = "") -> None:
        super().__init__(what, line, function)
        where = f", line {line}" if line else ""
        self.args = (f"{function or 'kernel'}{where}: not on a GPU by WebGPU: {what}",)


def within(span: Span, other: Span) -> bool:
    return other[0] <= span[0] and span[1] <= other[1]


def joined(a: Span, b: Span) -> Span:
    return min(a[0], b[0]), max(a[1], b[1])


@dataclass(frozen=True)
class Val:
    """An expression of type f32, i32, u32, bool; f64 is a Python float, which only has a value.

    `weak`: a literal, which takes the type of what it meets. `uniform`: the same in all threads of
    a workgroup. `span`: the least and the greatest that it may be in Numba. `exact`: its value in
    float32, which is asked for where the span is too wide.
    """

    code: str
    type: str
    uniform: bool = False
    const: Any = None
    weak: bool = False
    span: Span = NONE
    exact: str = ""

    @property
    def low(self) -> bool:
        """Never negative: as an index, it does not count from the end."""
        return self.type == "u32" or self.span[0] >= 0

    @property
    def wide(self) -> bool:
        return self.type in FULL and not within(self.span, FULL[self.type])

    @property
    def inexact(self) -> str:
        """The WGSL of its value in float32."""
        return self.exact if self.wide else f"f32({self.code})"

    @property
    def kind(self) -> tuple:
        """What a device function is written anew for."""
        return self.type, self.low


def val(code: str, kind: str, *parts: Val, **more: Any) -> Val:
    """An expression made of others."""
    made = Val(code, kind, all(part.uniform for part in parts), span=FULL.get(kind, NONE))
    return replace(made, **more)


def const(value: Any) -> Val:
    """A number that is known while translating."""
    if isinstance(value, (bool, np.bool_)):
        known = int(value), int(value)
        return Val("true" if value else "false", "bool", True, bool(value), span=known)
    if isinstance(value, (int, np.integer)):
        return integer(int(value), value)
    if isinstance(value, float):
        return Val(repr(float(value)), "f64", True, float(value), True)
    if not isinstance(value, np.float32):
        raise Refused(f"a number of type {type(value).__name__}")
    if np.isfinite(value):
        return Val(f"({float(value)!r}f)", "f32", True, float(value))
    bits = int(value.view(np.uint32))  # WGSL has no literal for it: it comes from outside
    return Val(f"bitcast<f32>({bits}u | P.zero)", "f32", True)


def integer(number: int, given: Any) -> Val:
    weak = not isinstance(given, np.generic)
    kind = "i32" if weak else STORED[given.dtype.name]
    if weak and 2**31 <= number < 2**32:
        kind = "u32"
    if not within((number, number), FULL[kind]):
        raise Refused(f"the number {number}, which needs 64 bits")
    code = f"{number}u" if kind == "u32" else f"{number}i" if number >= 0 else f"({number}i)"
    if number == -(2**31):
        code = "(-2147483647 - 1)"
    return Val(code, kind, True, number, weak, span=(number, number))


@dataclass(frozen=True)
class Root:
    """An allocation: a binding ("storage"), or memory of a "workgroup" or of a thread ("private").
    `size`: elements, where WGSL has to know."""

    name: str
    dtype: str
    space: str
    size: int = 0

    @property
    def stored(self) -> str:
        return BUFFERS[self.dtype]

    @property
    def type(self) -> str:
        return "bool" if self.dtype == "bool" else self.stored

    @property
    def span(self) -> Span:
        """What an element may be, as far as 32 bits hold it."""
        return FULL.get(self.type, NONE)


@dataclass(frozen=True)
class View:
    """An array: part of a root, where it begins, its axes' lengths and steps, in elements."""

    root: Root
    offset: Val
    shape: tuple[Val, ...]
    strides: tuple[Val, ...]

    uniform = property(lambda self: self.offset.uniform)
    code = property(lambda self: self.offset.code)  # what a function is given of it

    @property
    def kind(self) -> tuple:
        return self.root, tuple(v.code for v in self.shape), tuple(v.code for v in self.strides)


Value = Any  # a Val, a View, or a tuple of Values


def parts_of(value: Value) -> tuple:
    return value if isinstance(value, tuple) else (value,)


@dataclass(frozen=True)
class Scalar:
    """A parameter that is a number."""

    type: str


@dataclass(frozen=True)
class Array:
    """A parameter that is an array; those that share memory have one `buffer`, so one binding."""

    dtype: str
    ndim: int
    contiguous: bool
    buffer: int


@dataclass(frozen=True)
class Local:
    """What is known of a variable: it grows from pass to pass."""

    form: Any  # a view's kind, a tuple's length, None for a number
    kinds: tuple[str, ...]
    spans: tuple[Span, ...]
    uniform: bool
    view: View | None = None
