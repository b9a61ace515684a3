"""np.finfo and np.iinfo: what a type can hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..faults import Untypable
from .values import Instruction, dtype_of, plain
from .warps import Warps


def facts_of(kind: type) -> Instruction:
    """np.finfo(…) of a type, or of a number."""

    def apply(w: Warps, given: Any) -> Any:
        dtype = given if isinstance(given, np.dtype) else dtype_of(given)
        if dtype.kind not in ("fc" if kind is np.finfo else "iu"):
            raise Untypable(f"np.{kind.__name__}() of {dtype}", w.line, w.function)
        return kind(dtype)

    return apply


def limit(facts: Any, name: str) -> Any:
    """One of the facts: in the type itself of a float, as an int64 (or uint64) of an integer."""
    found = getattr(facts, name)
    return np.uint64(found) if type(found) is int and found >= 2**63 else plain(found)


FUNCTIONS: dict[Any, Instruction] = {np.finfo: facts_of(np.finfo), np.iinfo: facts_of(np.iinfo)}
