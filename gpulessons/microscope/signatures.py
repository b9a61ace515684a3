"""Explicit signatures: `@cuda.jit("void(float32[:], float32)")` says how arguments are typed."""

from __future__ import annotations

import weakref

import numpy as np

from .arguments import host_array

REMEMBERED = weakref.WeakKeyDictionary()  # kernels decorated with a signature while tracing


def signatures_of(kernel) -> list:
    """The signatures a kernel is bound to; none for one that takes what comes."""
    found = REMEMBERED.get(kernel) if not isinstance(kernel, type(signatures_of)) else None
    if found is not None:
        return found if isinstance(found, list) else [found]
    return [] if getattr(kernel, "_can_compile", True) else list(kernel.overloads)


def matched(args, signatures):
    """The arguments as an explicit signature types them; a TypeError where it does not fit."""
    if not signatures:
        return args
    for types in map(argument_types, signatures):
        if len(types) == len(args) and all(map(fits, args, types)):
            return tuple(map(typed, args, types))
    raise TypeError(f"the arguments do not match the kernel's signature {signatures[0]}")


def argument_types(signature):
    from numba.core import sigutils

    return sigutils.normalize_signature(signature)[0]


def fits(arg, numba_type) -> bool:
    if not hasattr(numba_type, "ndim"):
        return not hasattr(arg, "ndim") or np.ndim(arg) == 0
    array = host_array(arg, "", []) if hasattr(arg, "dtype") else None
    return (
        array is not None
        and array.ndim == numba_type.ndim
        and array.dtype == dtype_of(numba_type.dtype, array)
    )


def dtype_of(numba_type, array):
    try:
        return np.dtype(str(numba_type))
    except TypeError:  # records and the like: taken on trust
        return array.dtype


def typed(arg, numba_type):
    try:
        return (
            arg
            if hasattr(numba_type, "ndim")
            else np.asarray(arg).astype(np.dtype(str(numba_type)))[()]
        )
    except TypeError:
        return arg
