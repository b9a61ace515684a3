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
    """The arguments as an explicit signature types them; a TypeError where none fits.

    Of several that fit, the one that takes most arguments as they are.
    """
    if not signatures:
        return args
    listed = list(map(argument_types, signatures))
    fitting = [t for t in listed if len(t) == len(args) and all(map(fits, args, t))]
    if not fitting:
        text = f"the arguments do not match the kernel's signature {signatures[0]}"
        raise TypeError(f"No matching definition for argument type(s): {text}")
    best = max(fitting, key=lambda types: sum(map(is_of, args, types)))
    return tuple(map(typed, args, best))


def is_of(arg: Any, numba_type: Any) -> bool:
    """Is a number of just this type?"""
    return np.asarray(arg).dtype.name == str(numba_type)


def check_types(function: Any, signature: Any, capability: tuple[int, int]) -> None:
    """Raise what numba-cuda's compiler says against a kernel with explicit signatures.

    It needs no GPU for that. Where the compiler itself cannot be had, nothing is checked.
    """
    from numba import void
    from numba.core.errors import NumbaError
    from numba.cuda.compiler import compile_cuda
    from numba.cuda.core import errors, sigutils

    for one in signature if isinstance(signature, list) else [signature]:
        arguments, result = sigutils.normalize_signature(one)
        if result not in (None, void):
            return  # a device function is compiled with the kernels that call it
        try:
            compile_cuda(function, void, arguments, cc=capability)
        except (NumbaError, errors.NumbaError):
            raise
        except Exception:
            return


def argument_types(signature: Any) -> tuple:
    from numba.core import sigutils

    return sigutils.normalize_signature(signature)[0]


def declared(function: Any) -> tuple[list[np.dtype | None], np.dtype | None]:
    """(the types of the parameters, that of the result) of a device function with one signature;
    None for what is no number, or not said."""
    from numba.core import sigutils

    found = signatures_of(function)
    if len(found) != 1:
        return [], None
    parameters, result = sigutils.normalize_signature(found[0])
    return [number_type(t) for t in parameters], number_type(result)


def number_type(numba_type: Any) -> np.dtype | None:
    try:
        return None if hasattr(numba_type, "ndim") else np.dtype(str(numba_type))
    except (TypeError, ValueError):
        return None


def fits(arg: Any, numba_type: Any) -> bool:
    if not hasattr(numba_type, "ndim"):
        complex_only = isinstance(arg, (complex, np.complexfloating))
        return np.ndim(arg) == 0 and (not complex_only or str(numba_type).startswith("complex"))
    if not hasattr(arg, "dtype"):
        return False
    array = host_array(arg, "", [])
    return array.ndim == numba_type.ndim and array.dtype == dtype_of(numba_type.dtype, array)


def dtype_of(numba_type: Any, array: np.ndarray) -> np.dtype:
    try:
        return np.dtype(str(numba_type))
    except (TypeError, ValueError):  # records and the like: taken on trust
        return array.dtype


def typed(arg: Any, numba_type: Any) -> Any:
    if hasattr(numba_type, "ndim"):
        return arg
    try:
        return np.asarray(arg).astype(np.dtype(str(numba_type)))[()]
    except (TypeError, ValueError):
        return arg
