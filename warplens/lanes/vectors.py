"""CUDA's vector types: cuda.float32x4 and its kin, which C calls float4."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NoReturn

import numpy as np

from ..faults import Unsupported
from .values import Instruction, cast
from .warps import Warps

BASES = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
IN_C = {
    "char": "int8",
    "short": "int16",
    "int": "int32",
    "long": "int64",
    "longlong": "int64",
    "float": "float32",
    "double": "float64",
}
IN_C |= {f"u{name}": f"u{base}" for name, base in IN_C.items() if base.startswith("int")}


class Vector:
    """One to four numbers of one type, which Numba takes by their names only: x, y, z, w."""

    dtype: np.dtype

    def __getitem__(self, index: Any) -> NoReturn:
        raise Unsupported(f"indexing a {type(self).__name__}: its parts are .x, .y, .z and .w")


def constructor(base: str, count: int) -> Instruction:
    """`float32x4(…)`: of numbers, and of shorter vectors of the same base."""
    dtype, name = np.dtype(base), f"{base}x{count}"
    made = type(name, (Vector, namedtuple(name, "x y z w"[: 2 * count])), {"dtype": dtype})

    def parts(w: Warps, value: Any) -> list[Any]:
        if not isinstance(value, Vector):
            return [cast(w, value, dtype)]
        if value.dtype != dtype:
            raise Unsupported(f"{name} of a {type(value).__name__}", w.line, w.function)
        return [getattr(value, name) for name in "xyzw" if hasattr(value, name)]

    def make(w: Warps, *values: Any) -> Any:
        found = [part for value in values for part in parts(w, value)]
        if len(found) != count:
            raise Unsupported(f"{name} of {len(found)} numbers", w.line, w.function)
        return made(*found)

    return make


def vectors() -> dict[str, Instruction]:
    table = {f"{base}x{n}": constructor(base, n) for base in BASES.split() for n in (1, 2, 3, 4)}
    in_c = {f"{c}{n}": table[f"{base}x{n}"] for c, base in IN_C.items() for n in (1, 2, 3, 4)}
    return table | in_c


VECTORS = vectors()
