"""A device that is the host: what `cuda.to_device`, streams and events are while `tracing()`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from .faults import Unsupported
from .lanes.launch import BLOCK_LIMIT, GRID_LIMIT, SHARED_LIMIT, THREAD_LIMIT
from .lanes.masks import WARP


class DeviceArray:
    """An array of the imaginary device: NumPy memory behind the methods of Numba's device arrays.

    `memory` is the part this array shows, `root` the whole allocation; slices share it, as on a
    GPU. `marks` says of each element of an allocation that began empty whether it has been written.
    """

    def __init__(
        self,
        memory: np.ndarray,
        root: np.ndarray | None = None,
        marks: np.ndarray | None = None,
    ) -> None:
        self.memory, self.root = memory, memory if root is None else root
        self.marks = marks

    @classmethod
    def empty(cls, memory: np.ndarray) -> DeviceArray:
        """A new allocation."""
        if memory.dtype.kind not in "biuf":
            raise Unsupported(f"a device array of {memory.dtype}")
        return cls(unwritten(memory), marks=np.zeros(memory.size, bool))

    @classmethod
    def holding(cls, host: np.ndarray) -> DeviceArray:
        return cls(np.array(host))

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
        place, *strides = (
            n // self.dtype.itemsize
            for n in (address(self.memory) - address(self.root), *self.strides)
        )
        return np.ndarray(self.shape, bool, self.marks.data, place, strides)

    place = "under the microscope"
    shape = property(lambda self: self.memory.shape)
    dtype = property(lambda self: self.memory.dtype)
    size = property(lambda self: self.memory.size)
    ndim = property(lambda self: self.memory.ndim)
    strides = property(lambda self: self.memory.strides)
    nbytes = property(lambda self: self.memory.nbytes)
    flags = property(lambda self: self.memory.flags)
    T = property(lambda self: self.transpose())

    def __len__(self) -> int:
        return len(self.memory)

    def __getitem__(self, index: Any) -> Any:
        part = self.memory[index]
        return self.part(part) if isinstance(part, np.ndarray) else part

    def __setitem__(self, index: Any, value: Any) -> None:
        self.memory[index] = getattr(value, "memory", value)
        written = self.written
        if written is not None:
            written[index] = True

    def __repr__(self) -> str:
        return f"<device array {self.dtype}{list(self.shape)}, {self.place}>"

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

    def transpose(self) -> DeviceArray:
        """A copy, as Numba makes it."""
        return DeviceArray(self.memory.T.copy("C"))

    def view(self, dtype: Any) -> DeviceArray:
        if self.marks is not None and np.dtype(dtype).itemsize != self.dtype.itemsize:
            self.marks[:] = True  # from here on nobody is told of what is empty
        return self.part(self.memory.view(dtype))


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


class Stream:
    """Everything happens at once and in order."""

    def synchronize(self) -> None:
        pass

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        yield self


class Event:
    """A moment without a time: none is measured here, so what passed between two is NaN."""

    def record(self, stream: Any = 0) -> None:
        pass

    synchronize = wait = record

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

    def __init__(self, capability: tuple[int, int] | None = None) -> None:
        self.compute_capability = capability or self.compute_capability


class Placing:
    """`cuda.to_device` and its kin, for device arrays of one kind."""

    def __init__(self, kind: type[DeviceArray]) -> None:
        self.kind, self.place = kind, kind.place
        self.names = {"to_device": self.to_device, "device_array": self.device_array,
                      "device_array_like": self.device_array_like}  # fmt: skip

    def device_array(
        self, shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C",
        stream: Any = 0,
    ) -> DeviceArray:  # fmt: skip
        if strides is not None:
            raise Unsupported("cuda.device_array with strides")
        return self.kind.empty(np.empty(shape, dtype, order))

    def device_array_like(self, ary: Any, stream: Any = 0) -> DeviceArray:
        return self.kind.empty(np.empty_like(getattr(ary, "memory", ary)))

    def to_device(self, obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
        if isinstance(obj, self.kind):
            return obj
        host = obj.copy_to_host() if isinstance(obj, DeviceArray) else np.asarray(obj)
        if to is not None:
            to.copy_to_device(host)
            return to
        check_contiguous(host)
        return self.kind.holding(host)


def unwritten(array: np.ndarray) -> np.ndarray:
    """Every byte 0xFF, a NaN in floats: a GPU leaves what was there before, and that hides bugs."""
    line = array if array.flags.c_contiguous else array.T
    if line.ndim and line.flags.c_contiguous:
        line.view(np.uint8).fill(0xFF)
    return array


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C"
) -> np.ndarray:
    return np.empty(shape, dtype, order)


@contextmanager
def untouched(*_: Any, **__: Any) -> Iterator[None]:
    """pinned(…), defer_cleanup(): nothing to do."""
    yield


def nothing(*_: Any, **__: Any) -> None:
    pass


def refused(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise Unsupported(f"cuda.{name}")

    return refuse


NAMES: dict[str, Any] = Placing(DeviceArray).names | {
    "pinned_array": pinned_array,
    "pinned_array_like": lambda ary: np.empty_like(getattr(ary, "memory", ary)),
    "pinned": untouched,
    "defer_cleanup": untouched,
    "profile_start": nothing,
    "profile_stop": nothing,
    "synchronize": nothing,
    "close": nothing,
    "detect": nothing,
    "stream": Stream,
    "default_stream": Stream,
    "event": lambda timing=True: Event(),
    "event_elapsed_time": lambda start, end: start.elapsed_time(end),
    "is_available": lambda: True,
    "get_current_device": Device,
    "select_device": lambda device_id: Device(),
    "list_devices": lambda: [Device()],
    "gpus": [Device()],
}
REFUSED = (
    "mapped mapped_array mapped_array_like managed_array as_cuda_array from_cuda_array_interface "
    "external_stream per_thread_default_stream legacy_default_stream current_context profiling "
    "open_ipc_array"
)
NAMES |= {name: refused(name) for name in REFUSED.split()}
