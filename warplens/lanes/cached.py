"""cuda.ldcg and its kin: loads and stores that say how they want to be cached.

What they read and write is what `x[i]` would; the hints change no count here.
"""

from __future__ import annotations

from typing import Any

from ..faults import Unsupported
from .access import describe, load, store
from .masks import settle
from .memory import View
from .values import Instruction
from .warps import Warps


def check(w: Warps, name: str, target: Any, index: Any) -> None:
    """Refuse what numba-cuda, or the instruction, does not take."""
    count = len(index) if isinstance(index, tuple) else 1
    if type(target) is not View or target.flat.dtype.kind not in "iuf":
        what = f"cuda.{name} of {describe(target)}: it takes arrays of integers or floats"
    elif len(target.shape) != count:
        what = f"cuda.{name} with {count} of {len(target.shape)} indices"
    elif target.array.space != "global":
        what = f"cuda.{name} of the {target.array.space} array {target.array.name}: it is for "
        what += "global memory"
    else:
        return
    raise Unsupported(what, w.line, w.function)


def reading(name: str) -> Instruction:
    def apply(w: Warps, target: Any, index: Any) -> Any:
        target = settle(w, target)
        check(w, name, target, index)
        return load(w, target, index)

    return apply


def writing(name: str) -> Instruction:
    def apply(w: Warps, target: Any, index: Any, value: Any) -> None:
        target = settle(w, target)
        check(w, name, target, index)
        store(w, target, index, value)

    return apply


CACHED = {name: reading(name) for name in ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")}
CACHED |= {name: writing(name) for name in ("stcg", "stcs", "stwb", "stwt")}
