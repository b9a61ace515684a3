"""Explicit signatures: `@cuda.jit("void(float32[:], float32)")` says how arguments are typed."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from .arguments import host_array

# Of kernels that were decorated while `tracing()`, when nothing is compiled at once.
SIGNATURES: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def signatures_of(kernel: Any) -> list[Any]:
    """The signatures a kernel is bound to; none for one that takes what comes."""
    found = SIGNATURES.get(kernel)
    if found is not None:
        return found if isinstance(found, list) else [found]
    return [] if getattr(kernel, "_can_compile", True) else list(kernel.overloads)


def matched(args: tuple, signatures: list[Any]) -> tuple:
    """The arguments as an explicit signature types them; a TypeError where it does not fit."""
    if not signatures:
        return args
    for types in map(argument_types, signatures):
        if len(types) == len(args) and all(map(fits, args, types)):
            return tuple(map(typed, args, types))
    raise TypeError(f"the arguments do not match the kernel's signature {signatures[0]}")


def argument_types(signature: Any) -> tuple:
    from numba.core import sigutils

    return sigutils.normalize_signature(signature)[0]


def fits(arg: Any, numba_type: Any) -> bool:
    if not hasattr(numba_type, "ndim"):
        return not hasattr(arg, "ndim") or np.ndim(arg) == 0
    if not hasattr(arg, "dtype"):
        return False
    array = host_array(arg, "", [])
    return array.ndim == numba_type.ndim and array.dtype == dtype_of(numba_type.dtype, array)


def dtype_of(numba_type: Any, array: np.ndarray) -> np.dtype:
    try:
        return np.dtype(str(numba_type))
    except TypeError:  # records and the like: taken on trust
        return array.dtype


def typed(arg: Any, numba_type: Any) -> Any:
    if hasattr(numba_type, "ndim"):
        return arg
    try:
        return np.asarray(arg).astype(np.dtype(str(numba_type)))[()]
    except TypeError:
        return arg
