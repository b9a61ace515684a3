"""Arguments as Numba takes them: NumPy arrays, numbers, tuples, device arrays, PyTorch tensors.

Everything runs on the argument's own memory, so that the arrays hold the kernel's result; what
lives on a GPU is copied to the host and back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .device import address, check_contiguous
from .faults import Unsupported
from .lanes.memory import Array, View
from .lanes.values import plain

WriteBacks = list[Callable[[], Any]]  # what brings results back to where an argument came from


@contextmanager
def admitted(values: Sequence[Any], names: Sequence[str]) -> Iterator[list[Any]]:
    """The values as a kernel sees them; on leaving, results are back where they came from."""
    write_backs: WriteBacks = []
    yield [admit(value, name, write_backs) for value, name in zip(values, names, strict=True)]
    for write_back in write_backs:
        write_back()


def admit(value: Any, name: str, write_backs: WriteBacks) -> Any:
    if isinstance(value, (np.generic, complex)):
        check_kind(np.asarray(value).dtype, name)
        return plain(value)
    if type(value) in (bool, int, float, type(None)):
        return value
    if isinstance(value, tuple):
        parts = [admit(v, f"{name}[{i}]", write_backs) for i, v in enumerate(value)]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    root = getattr(value, "root", None)
    array = host_array(value, name, write_backs)
    check_kind(array.dtype, name)
    if not isinstance(root, np.ndarray):
        return array_view(array, name)
    return array_view(array, name, root, getattr(value, "written", None))


def check_kind(dtype: np.dtype, name: str) -> None:
    """Refuse all but numbers of Numba's in the machine's own order of bytes."""
    if dtype.kind not in "biuf" or dtype in (np.float16, np.longdouble) or not dtype.isnative:
        raise Unsupported(f"the argument {name}: values of type {dtype}")


def host_array(value: Any, name: str, write_backs: WriteBacks) -> np.ndarray:
    """The NumPy array behind an array of any kind."""
    if isinstance(value, np.ndarray):
        check_contiguous(value)
        return value
    near = not getattr(value, "far", False)
    if near and isinstance(getattr(value, "memory", None), np.ndarray):  # the microscope's own
        return value.memory
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
    step = math.gcd(array.dtype.itemsize, *array.strides) if array.size else array.dtype.itemsize
    strides = [s // step for s in array.strides]
    ends = [(n - 1) * s for n, s in zip(array.shape, strides, strict=True)] if array.size else []
    first, last = sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends)
    forwards = tuple(slice(None, None, -1 if s < 0 else 1) for s in strides)
    length = last - first + 1 if array.size else 0

    def in_line(elements: np.ndarray, step: int) -> np.ndarray:
        start, writeable = elements[forwards] if first else elements, array.flags.writeable
        return np.lib.stride_tricks.as_strided(start, (length,), (step,), writeable=writeable)

    origin = memory_of(array) if root is None else root
    offset = 0 if root is None else address(array) - address(root) + first * step
    layout = array.shape, array.dtype, tuple(strides), step, origin, offset
    seen = Array(name, "global", *layout, address(array) + first * step)
    if root is not None:
        seen.astray = any(n % array.dtype.alignment for n in (offset, *array.strides))
    marks = None if written is None else in_line(written, step // array.dtype.itemsize)
    return View(seen, in_line(array, step), start=-first, written=marks)


def memory_of(array: np.ndarray) -> Any:
    """The object that owns an array's memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array if array.base is None else array.base
