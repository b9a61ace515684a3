"""Explicit signatures: `@cuda.jit("void(float32[:], float32)")` says how arguments are typed."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

# Of kernels that were decorated while `tracing()`, when nothing is compiled at once.
SIGNATURES: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def signatures_of(kernel: Any) -> list[Any]:
    """The signatures a kernel is bound to; none for one that takes what comes."""
    found = SIGNATURES.get(kernel)
    if found is not None:
        return found if isinstance(found, list) else [found]
    return [] if getattr(kernel, "_can_compile", True) else list(kernel.overloads)


def parameters(signature: Any) -> tuple:
    from numba.core import sigutils

    return sigutils.normalize_signature(signature)[0]


def matched(args: tuple, signatures: list[Any]) -> tuple:
    """The arguments as the first explicit signature that fits types them; a TypeError where none
    does."""
    if not signatures:
        return args
    for types in map(parameters, signatures):
        if len(types) == len(args) and all(map(fits, args, types)):
            return tuple(map(typed, args, types))
    text = f"the arguments do not match the kernel's signature {signatures[0]}"
    raise TypeError(f"No matching definition for argument type(s): {text}")


def number_type(numba_type: Any) -> np.dtype | None:
    """The dtype of a type of numbers, or None."""
    try:
        return None if hasattr(numba_type, "ndim") else np.dtype(str(numba_type))
    except TypeError:
        return None


def fits(arg: Any, numba_type: Any) -> bool:
    if not hasattr(numba_type, "ndim"):
        return np.ndim(arg) == 0
    if getattr(arg, "ndim", None) != numba_type.ndim:
        return False
    return str(arg.dtype).rpartition(".")[2] == str(numba_type.dtype)  # PyTorch's is torch.float32


def typed(arg: Any, numba_type: Any) -> Any:
    dtype = number_type(numba_type)
    return arg if dtype is None else np.asarray(arg).astype(dtype)[()]
