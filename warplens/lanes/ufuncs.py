"""NumPy's functions in a kernel: on numbers, and element by element on arrays.

Numba takes the first of a function's loops (`np.sin.types`) that its arguments fit into without
loss, but for those of float16: `np.sin` of an int8 is a float32, and of a float16 there is none.
Beside a float, integers fit into any float. Only what numba-cuda has for kernels is here: `np.exp`,
for one, it compiles for CPUs.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ..faults import Unsupported, Untypable
from .access import attribute, load, store
from .masks import settle
from .memory import View
from .values import Instruction, as_type, dtype_of, plain
from .warps import Warps

CALCULATIONS = (  # counted as floating-point work
    "sin cos tan arcsin arccos arctan arctan2 hypot sinh cosh tanh arcsinh arccosh arctanh deg2rad "
    "rad2deg radians degrees log log2 log10 divide"
)
OTHERS = (
    "greater greater_equal less less_equal equal not_equal logical_and logical_or logical_xor "
    "logical_not maximum minimum fmax fmin bitwise_and bitwise_or bitwise_xor invert left_shift "
    "right_shift isnan conjugate"
)
FLOAT16 = np.dtype("float16")
NEVER = frozenset("eOgGmM")  # letters of types that no kernel has, or no such function takes


@cache
def loop(ufunc: np.ufunc, given: tuple[np.dtype, ...]) -> list[np.dtype] | None:
    """The types in which NumPy's function computes with arguments of those given."""
    kinds = {dtype.kind for dtype in given}
    mixed = bool(kinds & set("iu") and kinds & set("fc"))
    if FLOAT16 in given:
        return None
    for letters in ufunc.types:
        wanted = [np.dtype(letter) for letter in letters.partition("->")[0]]
        fit = all(
            np.can_cast(dtype, to) or (mixed and dtype.kind in "iu" and to.kind in "fc")
            for dtype, to in zip(given, wanted, strict=True)
        )
        if fit and not NEVER & set(letters):
            return wanted
    return None


def of_numbers(ufunc: np.ufunc, flops: int) -> Instruction:
    def apply(w: Warps, *values: Any) -> Any:
        given = tuple(map(dtype_of, values))
        types = loop(ufunc, given)
        if types is None:
            names = " and ".join(map(str, given))
            raise Untypable(f"np.{ufunc.__name__}() of {names}", w.line, w.function)
        out = ufunc(*map(as_type, values, types))
        if flops:
            w.count_flops(out.dtype, flops)
            w.by_kernel_line("functions")
        return plain(out)

    return apply


def of_arrays(ufunc: np.ufunc, of_number: Instruction) -> Instruction:
    """The same for arrays: each thread goes through all; the last argument takes the result."""

    def apply(w: Warps, *values: Any) -> Any:
        values = tuple(settle(w, value) for value in values)
        if not any(type(value) is View for value in values):
            return of_number(w, *values)
        *given, out = values
        if len(given) != ufunc.nin or type(out) is not View:
            what = f"np.{ufunc.__name__} of arrays without an array for the result: give it last"
            raise Unsupported(what, w.line, w.function)
        for cell in cells(w, out):
            elements = [load(w, v, nearest(v, cell)) if type(v) is View else v for v in given]
            store(w, out, cell, of_number(w, *elements))
        return out

    return apply


def cells(w: Warps, view: View) -> np.ndindex:
    if not all(type(n) is int for n in view.shape):
        what = "NumPy's function of a slice whose length differs from thread to thread"
        raise Unsupported(what, w.line, w.function)
    return np.ndindex(*view.shape)


def nearest(view: View, cell: tuple[int, ...]) -> tuple[int, ...]:
    """Where an operand of that shape has what goes into this cell: axes of length 1 are spread."""
    own = cell[len(cell) - len(view.shape) :]
    return tuple(0 if n == 1 else at for n, at in zip(view.shape, own, strict=True))


def ufuncs() -> dict[Any, Instruction]:
    table: dict[Any, Instruction] = {}
    for names, flops in ((CALCULATIONS, 1), (OTHERS, 0)):
        for ufunc in (getattr(np, name) for name in names.split()):
            table[ufunc] = of_arrays(ufunc, of_numbers(ufunc, flops))
    return table


UFUNCS = ufuncs()
PARTS: dict[Any, Instruction] = {  # of complex numbers and arrays
    np.real: lambda w, z: attribute(w, z, "real"),
    np.imag: lambda w, z: attribute(w, z, "imag"),
}


def instead(name: str) -> str:
    """What to write for a function of NumPy's that numba-cuda does not have."""
    known = "abs" if name == "absolute" else f"math.{name}" if hasattr(math, name) else ""
    return f"write {known}" if known else "write it out"
