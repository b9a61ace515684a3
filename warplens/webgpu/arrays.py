"""Arrays on a GPU that WebGPU reaches, with the methods of Numba's device arrays.

An element takes 4 bytes there, whatever NumPy holds it in. Its shape, strides and parts are those
of an array in the host's memory that nobody touches.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from ..device import DeviceArray, address, check_contiguous, check_shape
from ..faults import KernelFault
from .native import Native
from .values import STORED, Refused
from .writer import FAULTS

LAUNCHED: dict[int, FunctionType] = {}  # since the last wait, by their first lines
WORDS = {
    "agree": "threads of one block do not agree where they have to meet at a barrier",
    "warp": "part of a warp reached an operation of the whole warp",
    "wide": "an integer needs more than the 32 bits that WGSL has",
    "turns": "this software driver ends loops after so many turns: take a smaller size",
}


class Found(KernelFault):
    """What a kernel found out about itself while it ran; the text names kernel and line."""


HELD = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}


@cache
def gpu() -> Native:
    return Native()


def synchronize() -> None:
    """Wait; raise what a kernel has found out about itself since the last time."""
    said, launched = gpu().wait(), dict(LAUNCHED)
    LAUNCHED.clear()
    if said:
        line, kind = said // 4, FAULTS[said % 4]
        before = [first for first in launched if first <= line]
        name = launched[max(before)].__name__ if before else "kernel"
        if kind in ("wide", "turns"):
            raise Refused(WORDS[kind], line, name)
        raise Found(f"{name}, line {line}: {WORDS[kind]}", line, kind=kind)


class Memory:
    """One allocation."""

    def __init__(self, like: np.ndarray) -> None:
        if like.dtype.name not in STORED:
            instead = "int32" if like.dtype.kind in "iu" else "float32"
            raise Refused(f"an array of {like.dtype}: WGSL has 32 bits (make it {instead})")
        self.like, self.dtype = like, like.dtype
        self.held = HELD[STORED[like.dtype.name]]
        self.buffer = gpu().buffer(4 * like.size)

    def write(self, array: np.ndarray) -> None:
        if array.dtype.itemsize == 8 and array.size:
            info = np.iinfo(np.dtype(self.held).str)
            if array.min() < info.min or array.max() > info.max:
                raise Refused(f"an array of {array.dtype} that needs 64 bits: WGSL has 32")
        if array.size:
            gpu().write(self.buffer, array.reshape(-1).astype(self.held))

    def read(self) -> np.ndarray:
        """All of it, as it lies."""
        line = np.frombuffer(gpu().read(self.buffer), self.held)[: self.like.size]
        whole = np.empty_like(self.like)
        np.ndarray(whole.size, self.dtype, whole)[:] = line.astype(self.dtype)
        return whole


class Remote(DeviceArray):
    """`memory` is the untouched array that knows the layout of this part."""

    far = True  # what `memory` holds is not what lies on the GPU

    def __init__(self, memory: np.ndarray, whole: Memory | None = None) -> None:
        self.memory, self.marks = memory, None
        self.whole = Memory(memory) if whole is None else whole
        self.root = None  # type: ignore[assignment]  # nothing of the host's

    @property
    def offset(self) -> int:
        """Elements before the first one."""
        return (address(self.memory) - address(self.whole.like)) // self.dtype.itemsize

    def part(self, memory: np.ndarray) -> DeviceArray:
        if memory.size and not np.may_share_memory(memory, self.whole.like):
            raise Refused("a part of an array that NumPy would copy")
        if memory.dtype != self.dtype:
            raise Refused(f"an array of {self.dtype} seen as {memory.dtype}")
        return Remote(memory, self.whole)

    def of(self, whole: np.ndarray) -> np.ndarray:
        """This part of the allocation's elements."""
        return np.ndarray(
            self.shape, self.dtype, whole, self.offset * self.dtype.itemsize, self.strides
        )

    def __getitem__(self, index: Any) -> Any:
        part = self.memory[index]
        return self.part(part) if isinstance(part, np.ndarray) else self.copy_to_host()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        whole = self.whole.read()
        self.of(whole)[index] = value.copy_to_host() if isinstance(value, Remote) else value
        self.whole.write(np.ndarray(whole.size, self.dtype, whole))

    def __repr__(self) -> str:
        return f"<device array {self.dtype}{list(self.shape)}, by WebGPU>"

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> np.ndarray:
        if LAUNCHED:
            synchronize()
        if ary is None:
            return self.of(self.whole.read()).copy() if self.size else np.empty_like(self.memory)
        check_shape(ary, self)
        ary[...] = self.copy_to_host()
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        source = ary.copy_to_host() if isinstance(ary, Remote) else np.asarray(ary)
        check_shape(source, self)
        if self.memory is self.whole.like and self.memory.flags.c_contiguous:
            self.whole.write(source.astype(self.dtype))
        elif self.size:
            self[...] = source

    def transpose(self) -> DeviceArray:
        return to_device(np.ascontiguousarray(self.copy_to_host().T))


def device_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: Any = 0
) -> Remote:
    if strides is not None:
        raise Refused("cuda.device_array with strides")
    return Remote(np.empty(shape, dtype, order))


def device_array_like(ary: Any, stream: Any = 0) -> Remote:
    return Remote(np.empty_like(getattr(ary, "memory", ary)))


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    if isinstance(obj, Remote):
        return obj
    given = obj.memory if isinstance(obj, DeviceArray) else np.asarray(obj)
    if to is not None:
        to.copy_to_device(given)
        return to
    check_contiguous(given)
    made = Remote(np.empty_like(given))
    if given.flags.c_contiguous:
        made.whole.write(given)
    else:
        made[...] = given
    return made
