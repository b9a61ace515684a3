"""Arguments as Numba takes them: NumPy arrays, scalars, tuples, records, device arrays, PyTorch
tensors.

Everything runs on the argument's own memory, so that the arrays hold the kernel's result; what
lives on a GPU is copied to the host and back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .device import device_array_of
from .lanes.memory import Array, Record, View
from .lanes.values import plain

WriteBacks = list[Callable[[], Any]]  # what brings results back to where an argument came from


@contextmanager
def admitted(values: Sequence[Any], names: Sequence[str]) -> Iterator[list[Any]]:
    """The values as a kernel sees them; on leaving, results are back where they came from."""
    write_backs: WriteBacks = []
    yield [admit(value, name, write_backs) for value, name in zip(values, names, strict=True)]
    for write_back in write_backs:
        write_back()


@contextmanager
def extended(args: tuple, extensions: Sequence[Any]) -> Iterator[tuple]:
    """The arguments as a kernel's extensions, if it has any, hand its arrays on."""
    if not extensions:
        yield args
        return
    from numba import typeof

    write_backs: WriteBacks = []

    def prepared(value: Any) -> Any:
        if not hasattr(value, "shape"):
            return value
        kind = typeof(getattr(value, "memory", value))
        for extension in reversed(extensions):
            kind, value = extension.prepare_args(kind, value, stream=0, retr=write_backs)
        return value

    yield tuple(map(prepared, args))
    for write_back in write_backs:
        write_back()


def admit(value: Any, name: str, write_backs: WriteBacks) -> Any:
    if isinstance(value, np.void):
        return Record(array_view(np.asarray(value).reshape(1), name), 0)
    if isinstance(value, np.generic):
        return plain(number(value))
    if isinstance(value, (bool, int, float, complex, type(None))):
        return value
    if isinstance(value, tuple):
        parts = [admit(v, f"{name}[{i}]", write_backs) for i, v in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    value = device_array_of(value)
    root = getattr(value, "root", None)
    array = host_array(value, name, write_backs)
    return array_view(array, name, root if isinstance(root, np.ndarray) else None)


def number(value: np.generic) -> Any:
    """A date or a duration counts in its own unit."""
    return int(value.astype(np.int64)) if value.dtype.kind in "mM" else value


def host_array(value: Any, name: str, write_backs: WriteBacks) -> np.ndarray:
    """The NumPy array behind an array of any kind."""
    if type(value).__name__ in ("In", "Out", "InOut") and hasattr(value, "value"):
        only_in, value = type(value).__name__ == "In", value.value
        if only_in and isinstance(value, np.ndarray):
            return value.copy()  # what the kernel writes does not come back
    if isinstance(value, np.ndarray):
        return value
    if isinstance(getattr(value, "memory", None), np.ndarray):  # the tracing module's device arrays
        return value.memory
    if isinstance(getattr(value, "_ary", None), np.ndarray):  # arrays of Numba's simulator
        return value._ary
    if hasattr(value, "detach") and hasattr(value, "device"):  # a PyTorch tensor
        host = value.detach().cpu()
        if value.device.type != "cpu":
            write_backs.append(lambda: value.detach().copy_(host))
        return host.numpy()
    if hasattr(value, "copy_to_host") and hasattr(value, "copy_to_device"):  # on a real GPU
        host = value.copy_to_host()
        write_backs.append(lambda: value.copy_to_device(host))
        return host
    if hasattr(value, "__array_interface__"):
        return np.asarray(value)
    raise TypeError(
        f"the argument {name} is a {type(value).__name__}; a kernel takes arrays, numbers, "
        "and tuples of them (make it an array with np.array)"
    )


def array_view(array: np.ndarray, name: str, root: np.ndarray | None = None) -> View:
    """An array argument: its memory as one line of elements, and how indices map to it.

    A slice of a device array starts where it starts; anything else is taken to begin at an aligned
    address, where Numba would copy it.
    """
    if array.dtype.kind in "mM":
        array = array.view(np.int64)
    if array.dtype.hasobject or array.dtype.kind not in "biufcV":
        raise TypeError(f"the argument {name} has dtype {array.dtype}, which a kernel cannot use")
    step = math.gcd(array.dtype.itemsize, *array.strides) if array.size else array.dtype.itemsize
    strides = [s // step for s in array.strides]
    ends = [(n - 1) * s for n, s in zip(array.shape, strides, strict=True)] if array.size else []
    first, last = sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends)
    forwards = array[tuple(slice(None, None, -1 if s < 0 else 1) for s in strides)]
    length = last - first + 1 if array.size else 0
    flat = np.lib.stride_tricks.as_strided(
        forwards if first else array, (length,), (step,), writeable=array.flags.writeable
    )
    origin = memory_of(array) if root is None else root
    offset = 0 if root is None else address(array) - address(root) + first * step
    layout = array.shape, array.dtype, tuple(strides), step, origin, offset
    return View(Array(name, "global", *layout, address(array) + first * step), flat, start=-first)


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def memory_of(array: np.ndarray) -> Any:
    """The object that owns an array's memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array if array.base is None else array.base
