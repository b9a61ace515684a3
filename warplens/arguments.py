"""Arguments as Numba takes them: NumPy arrays, scalars, tuples, records, device arrays, PyTorch
tensors.

Everything runs on the argument's own memory, so that the arrays hold the kernel's result; what
lives on a GPU is copied to the host and back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

import numpy as np

from .device import MappedArray, address, check_contiguous, device_array_of
from .lanes.access import Member
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
    if isinstance(value, Enum):
        return int(value) if isinstance(value, int) else Member(type(value), value.value)
    if isinstance(value, (bool, int, float, complex, type(None))):
        return value
    if isinstance(value, tuple):
        parts = [admit(v, f"{name}[{i}]", write_backs) for i, v in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    value = device_array_of(value)
    root = getattr(value, "root", None)
    array = host_array(value, name, write_backs)
    if not isinstance(root, np.ndarray):
        return array_view(array, name)
    return array_view(array, name, root, getattr(value, "written", None))


def number(value: np.generic) -> Any:
    """A date or a duration counts in its own unit."""
    return int(value.astype(np.int64)) if value.dtype.kind in "mM" else value


def host_array(value: Any, name: str, write_backs: WriteBacks) -> np.ndarray:
    """The NumPy array behind an array of any kind."""
    if type(value).__name__ in ("In", "Out", "InOut") and hasattr(value, "value"):
        only_in, value = type(value).__name__ == "In", value.value
        if only_in and isinstance(value, np.ndarray):
            check_contiguous(value)
            return value.copy("K")  # what the kernel writes does not come back
    if isinstance(value, np.ndarray):
        if not isinstance(value, MappedArray):  # which the device sees where it is
            check_contiguous(value)
        return value
    if isinstance(getattr(value, "memory", None), np.ndarray):  # the tracing module's device arrays
        return value.memory
    if isinstance(getattr(value, "_ary", None), np.ndarray):  # arrays of Numba's simulator
        return value._ary
    if hasattr(value, "detach") and hasattr(value, "device"):  # a PyTorch tensor
        host = value.detach().cpu()
        if value.device.type != "cpu":
            write_backs.append(lambda: value.detach().copy_(host))
        try:
            return host.numpy()
        except TypeError:
            text = f"the argument {name} is a tensor of {value.dtype}, which NumPy does not have"
            raise TypeError(f"{text}: give x.float()") from None
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


def array_view(
    array: np.ndarray,
    name: str,
    root: np.ndarray | None = None,
    written: np.ndarray | None = None,
) -> View:
    """An array argument: its memory as one line of elements, and how indices map to it.

    A slice of a device array starts where it starts; anything else is taken to begin at an aligned
    address, where Numba would copy it.
    """
    if array.dtype.kind in "mM":
        array = array.view(np.int64)
    if not known(array.dtype):
        raise TypeError(f"the argument {name} has dtype {array.dtype}, which a kernel cannot use")
    step = math.gcd(array.dtype.itemsize, *array.strides) if array.size else array.dtype.itemsize
    strides = [s // step for s in array.strides]
    ends = [(n - 1) * s for n, s in zip(array.shape, strides, strict=True)] if array.size else []
    first, last = sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends)
    forwards = tuple(slice(None, None, -1 if s < 0 else 1) for s in strides)
    length = last - first + 1 if array.size else 0

    def in_line(elements: np.ndarray) -> np.ndarray:
        start, writeable = elements[forwards] if first else elements, array.flags.writeable
        return np.lib.stride_tricks.as_strided(start, (length,), (step,), writeable=writeable)

    origin = memory_of(array) if root is None else root
    offset = 0 if root is None else address(array) - address(root) + first * step
    layout = array.shape, array.dtype, tuple(strides), step, origin, offset
    seen = Array(name, "global", *layout, address(array) + first * step)
    if root is not None and not array.dtype.names:
        seen.astray = any(n % array.dtype.alignment for n in (offset, *array.strides))
    marks = None if written is None else in_line(written)
    return View(seen, in_line(array), start=-first, written=marks)


def known(dtype: np.dtype) -> bool:
    """Has Numba this type: numbers of up to 64 bits (of each part), in the machine's own order of
    bytes, texts, and records and arrays of them?"""
    if dtype.names:
        return all(known(dtype[name].base) for name in dtype.names)
    most = {"f": 8, "c": 16}.get(dtype.kind, dtype.itemsize)
    return dtype.isnative and dtype.kind in "biufcmMSU" and dtype.itemsize <= most


def memory_of(array: np.ndarray) -> Any:
    """The object that owns an array's memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array if array.base is None else array.base
