"""A device that is the host: what `cuda.to_device`, streams and events are while `tracing()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .lanes.launch import BLOCK_LIMIT, GRID_LIMIT, SHARED_LIMIT, THREAD_LIMIT
from .lanes.masks import WARP
from .lanes.memory import mark_of, marks_of


class DeviceArray:
    """An array of the imaginary device: NumPy memory behind the methods of Numba's device arrays.

    `memory` is the part this array shows, `root` the whole allocation; slices share it, as on a
    GPU. `marks` says of each byte of an allocation that began empty whether anything has been
    written there.
    """

    def __init__(
        self,
        memory: np.ndarray,
        root: np.ndarray | None = None,
        marks: np.ndarray | None = None,
    ) -> None:
        self.memory, self.root = memory, memory if root is None else root
        self.marks = marks

    def part(self, memory: np.ndarray) -> DeviceArray:
        """Some of the same allocation, unless NumPy has copied it."""
        if not np.may_share_memory(memory, self.root):
            return DeviceArray(memory)
        return DeviceArray(memory, self.root, self.marks)

    @property
    def written(self) -> np.ndarray | None:
        """The marks of these elements; None where nothing is empty any more."""
        if self.marks is None or not self.size or self.marks.all():
            return None
        place = address(self.memory) - address(self.root)
        layout = marks_of(self.dtype), self.marks.data, place, self.strides
        return np.ndarray(self.shape, *layout)

    shape = property(lambda self: self.memory.shape)
    dtype = property(lambda self: self.memory.dtype)
    size = property(lambda self: self.memory.size)
    ndim = property(lambda self: self.memory.ndim)
    strides = property(lambda self: self.memory.strides)
    nbytes = property(lambda self: self.memory.nbytes)
    flags = property(lambda self: self.memory.flags)
    gpu_data = property(lambda self: self.root.__array_interface__["data"][0])
    T = property(lambda self: self.transpose())

    @property
    def __cuda_array_interface__(self) -> Interface:
        return Interface(self)

    def __len__(self) -> int:
        return len(self.memory)

    def __getitem__(self, index: Any) -> Any:
        part = self.memory[index]
        return self.part(part) if isinstance(part, np.ndarray) else part

    def __setitem__(self, index: Any, value: Any) -> None:
        self.memory[index] = getattr(value, "memory", value)
        written = self.written
        if written is not None:
            written[index] = mark_of(written.dtype)

    def __repr__(self) -> str:
        return f"<device array {self.dtype}{list(self.shape)}, under the microscope>"

    def setitem(self, index: Any, value: Any, stream: Any = 0) -> None:
        self[index] = value

    def getitem(self, index: Any, stream: Any = 0) -> Any:
        return self[index]

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> np.ndarray:
        if ary is None:
            return self.memory.copy()
        check_shape(ary, self)
        ary[...] = self.memory
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        source = getattr(ary, "memory", ary)
        check_shape(source, self)
        self[...] = source

    def reshape(self, *shape: Any, order: Any = "C") -> DeviceArray:
        return self.part(self.memory.reshape(*shape, order=order))

    def ravel(self, order: Any = "C", stream: Any = 0) -> DeviceArray:
        return self.part(self.memory.ravel(order))

    def transpose(self, axes: Any = None) -> DeviceArray:
        """A copy, as Numba makes it."""
        if axes is not None and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        return DeviceArray(self.memory.transpose(axes).copy("C"))

    def view(self, dtype: Any) -> DeviceArray:
        return self.part(self.memory.view(dtype))

    def squeeze(self, axis: Any = None, stream: Any = 0) -> DeviceArray:
        return self.part(self.memory.squeeze(axis))

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceArray]:
        for start in range(0, len(self), section):
            yield self[start : start + section]

    def is_c_contiguous(self) -> bool:
        return self.memory.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        return self.memory.flags.f_contiguous

    def bind(self, stream: Any = 0) -> DeviceArray:
        return self


class Interface(dict):
    """What other libraries would take an array of the imaginary device by; it leads back to it."""

    def __init__(self, array: DeviceArray) -> None:
        super().__init__(array.memory.__array_interface__)
        self.array = array


def device_array_of(value: Any) -> Any:
    """The array of the imaginary device that an object shows by such an interface, or itself."""
    return getattr(getattr(value, "__cuda_array_interface__", None), "array", value)


def check_contiguous(array: np.ndarray) -> None:
    """Raise what Numba raises of an array on the host that is no single piece of memory; an axis
    along which one element stands for all does not count."""
    core = array[tuple(0 if step == 0 and array.size else slice(None) for step in array.strides)]
    if not (core.flags.c_contiguous or core.flags.f_contiguous):
        raise ValueError(
            "Array contains non-contiguous buffer and cannot be transferred as a single memory "
            "region. Please ensure contiguous buffer with numpy .ascontiguousarray()"
        )


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def check_shape(a: Any, b: DeviceArray) -> None:
    if np.shape(a) != b.shape:
        raise ValueError(
            f"the array on the host has shape {np.shape(a)}, the one on the device {b.shape}"
        )


class MappedArray(np.ndarray):
    """Memory that host and device share: a NumPy array with a device array's methods."""

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> np.ndarray:
        return DeviceArray(self.view(np.ndarray)).copy_to_host(ary)

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        self[...] = getattr(ary, "memory", ary)


class Stream:
    """Everything happens at once and in order."""

    handle = 0

    def synchronize(self) -> None:
        pass

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        yield self

    def add_callback(self, callback: Callable[..., Any], arg: Any = None) -> None:
        callback(self, 0, arg)


class Event:
    """A moment without a time: none is measured here, so what passed between two is NaN."""

    def record(self, stream: Any = 0) -> None:
        pass

    synchronize = wait = record

    def query(self) -> bool:
        return True

    def elapsed_time(self, later: Event) -> float:
        return float("nan")


class Device:
    """What a program may ask of a GPU, with the limits that the microscope enforces."""

    id = 0
    name = b"the microscope"
    compute_capability = (9, 0)
    WARP_SIZE = WARP
    MAX_THREADS_PER_BLOCK = THREAD_LIMIT
    MAX_BLOCK_DIM_X, MAX_BLOCK_DIM_Y, MAX_BLOCK_DIM_Z = BLOCK_LIMIT
    MAX_GRID_DIM_X, MAX_GRID_DIM_Y, MAX_GRID_DIM_Z = GRID_LIMIT
    MAX_SHARED_MEMORY_PER_BLOCK = SHARED_LIMIT
    MULTIPROCESSOR_COUNT = 1

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def reset(self) -> None:
        pass


def pretending(capability: tuple[int, int]) -> Callable[[], Device]:
    """`get_current_device`, where it has this compute capability."""

    def get_current_device() -> Device:
        device = Device()
        device.compute_capability = capability
        return device

    return get_current_device


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: Any = 0
) -> DeviceArray:
    if strides is None:
        return empty(np.empty(shape, dtype, order))
    shape, strides = np.empty(shape, np.bool_).shape, np.atleast_1d(strides)
    size = sum((n - 1) * step for n, step in zip(shape, strides, strict=True) if n)
    memory = np.empty(size + np.dtype(dtype).itemsize, np.uint8)
    return empty(memory, np.ndarray(shape, dtype, memory.data, 0, tuple(strides)))


def device_array_like(ary: Any, stream: Any = 0) -> DeviceArray:
    return empty(np.empty_like(getattr(ary, "memory", ary)))


def empty(memory: np.ndarray, shown: np.ndarray | None = None) -> DeviceArray:
    """A new allocation, shown as an array of its own shape."""
    marks = np.zeros(memory.nbytes, np.uint8)
    return DeviceArray(memory if shown is None else shown, unwritten(memory), marks)


def unwritten(array: np.ndarray) -> np.ndarray:
    """Every byte 0xFF, a NaN in floats: a GPU leaves what was there before, and that hides bugs."""
    line = array if array.flags.c_contiguous else array.T
    if line.ndim and line.flags.c_contiguous:
        line.view(np.uint8).fill(0xFF)
    return array


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    if isinstance(obj, DeviceArray):
        return obj
    if to is not None:
        to.copy_to_device(np.asarray(obj))
        return to
    if isinstance(obj, np.ndarray):
        check_contiguous(obj)
    return DeviceArray(np.array(obj))


def host_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", *_: Any, **__: Any
) -> np.ndarray:
    return np.empty(shape, dtype, order)


def mapped_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", *_: Any, **__: Any
) -> MappedArray:
    return np.empty(shape, dtype, order).view(MappedArray)


@contextmanager
def untouched(*_: Any, **__: Any) -> Iterator[None]:
    """pinned(…), mapped(…), defer_cleanup(): nothing to do."""
    yield


def nothing(*_: Any, **__: Any) -> None:
    pass


NAMES: dict[str, Any] = {
    "to_device": to_device,
    "device_array": device_array,
    "device_array_like": device_array_like,
    "pinned_array": host_array,
    "pinned_array_like": lambda ary: np.empty_like(getattr(ary, "memory", ary)),
    "mapped_array": mapped_array,
    "mapped_array_like": lambda ary, *_, **__: np.empty_like(getattr(ary, "memory", ary)).view(
        MappedArray
    ),
    "managed_array": mapped_array,
    "pinned": untouched,
    "mapped": untouched,
    "defer_cleanup": untouched,
    "profiling": untouched,
    "profile_start": nothing,
    "profile_stop": nothing,
    "synchronize": nothing,
    "close": nothing,
    "stream": Stream,
    "default_stream": Stream,
    "legacy_default_stream": Stream,
    "per_thread_default_stream": Stream,
    "external_stream": lambda pointer: Stream(),
    "event": lambda timing=True: Event(),
    "event_elapsed_time": lambda start, end: start.elapsed_time(end),
    "is_available": lambda: True,
    "is_cuda_array": lambda obj: isinstance(device_array_of(obj), DeviceArray),
    "as_cuda_array": lambda obj, sync=True: (
        found
        if isinstance(found := device_array_of(obj), DeviceArray)
        else DeviceArray(np.asarray(obj))
    ),
    "get_current_device": Device,
    "select_device": lambda device_id: Device(),
    "list_devices": lambda: [Device()],
    "gpus": [Device()],
    "detect": nothing,
}
