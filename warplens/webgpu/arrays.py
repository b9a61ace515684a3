"""Arrays on a GPU that WebGPU reaches, with the methods of Numba's device arrays.

An element takes 4 bytes there, whatever NumPy holds it in. Its shape, strides and parts are those
of an array in the host's memory that nobody touches.
"""

from __future__ import annotations

from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from ..device import DeviceArray, Placing, address, check_shape
from ..faults import KernelFault
from .native import Native
from .values import BUFFERS, Refused
from .writer import FAULTS

LAUNCHED: dict[int, FunctionType] = {}  # since the last wait, by their first lines
WORDS = {
    "agree": "threads of one block do not agree where they have to meet at a barrier",
    "warps": "warps of one block go different ways to an operation of a warp",
    "wide": "an integer needs more than the 32 bits that WGSL has",
    "turns": "a software driver may end loops after so many turns: take a smaller size",
}
HELD = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}


class Found(KernelFault):
    """What a kernel found out about itself while it ran; the text names kernel and line."""


@cache
def gpu() -> Native:
    return Native()


def synchronize() -> None:
    """Wait; raise what a kernel has found out about itself since the last time."""
    said, launched = gpu().wait(), dict(LAUNCHED)
    LAUNCHED.clear()
    if not said:
        return
    line, kind = said // len(FAULTS), FAULTS[said % len(FAULTS)]
    first = max((first for first in launched if first <= line), default=0)
    name = launched[first].__name__ if first else "kernel"
    if kind == "agree":  # which is a fault on any GPU
        raise Found(f"{name}, line {line}: {WORDS[kind]}", line, kind=kind)
    raise Refused(WORDS[kind], line, name)


class Memory:
    """One allocation; `like` has its layout."""

    def __init__(self, like: np.ndarray) -> None:
        if like.dtype.name not in BUFFERS:
            instead = "int32" if like.dtype.kind in "iu" else "float32"
            raise Refused(f"an array of {like.dtype}: WGSL has 32 bits (make it {instead})")
        self.like, self.held = like, HELD[BUFFERS[like.dtype.name]]
        self.buffer = gpu().buffer(4 * like.size)

    def write(self, line: np.ndarray) -> None:
        """All of it, as it lies."""
        held = line.astype(self.held)
        if line.dtype.itemsize == 8 and not np.array_equal(line, held):
            raise Refused(f"an array of {line.dtype} that needs 64 bits: WGSL has 32")
        if line.dtype == np.int8 and (line < 0).any():  # whose abs and popc keep to 8 bits
            raise Refused("an array of int8 with negative numbers: make it int32")
        if line.size:
            gpu().write(self.buffer, held)

    def read(self) -> np.ndarray:
        """A copy of all of it, and the same as it lies."""
        whole = np.empty_like(self.like)
        lying(whole)[:] = np.frombuffer(gpu().read(self.buffer), self.held)[: whole.size]
        return whole


def lying(whole: np.ndarray) -> np.ndarray:
    """An allocation's elements as they lie in memory."""
    return np.ndarray(whole.size, whole.dtype, whole)


class Remote(DeviceArray):
    """`memory` is the untouched array that knows the layout of this part."""

    place = "by WebGPU"
    far = True  # what `memory` holds is not what lies on the GPU

    def __init__(self, memory: np.ndarray, whole: Memory | None = None) -> None:
        self.memory, self.marks = memory, None
        self.whole = Memory(memory) if whole is None else whole
        self.root = None  # type: ignore[assignment]  # nothing of the host's

    @classmethod
    def empty(cls, memory: np.ndarray) -> Remote:
        return cls(memory)

    @classmethod
    def holding(cls, host: np.ndarray) -> Remote:
        made = cls(np.empty_like(host))
        made.copy_to_device(host)
        return made

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
        """This part of a copy of the allocation."""
        start = self.offset * self.dtype.itemsize if self.size else 0
        return np.ndarray(self.shape, self.dtype, whole, start, self.strides)

    def __getitem__(self, index: Any) -> Any:
        part = self.memory[index]
        return self.part(part) if isinstance(part, np.ndarray) else self.copy_to_host()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        whole = self.whole.read()
        self.of(whole)[index] = value.copy_to_host() if isinstance(value, Remote) else value
        self.whole.write(lying(whole))

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> np.ndarray:
        if LAUNCHED:
            synchronize()
        here = self.of(self.whole.read()).copy()
        if ary is None:
            return here
        check_shape(ary, self)
        ary[...] = here
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        source = ary.copy_to_host() if isinstance(ary, Remote) else np.asarray(ary)
        check_shape(source, self)
        if self.memory is self.whole.like and self.memory.flags.c_contiguous:
            self.whole.write(source.astype(self.dtype).reshape(-1))
        else:
            self[...] = source

    def transpose(self) -> DeviceArray:
        return Remote.holding(np.ascontiguousarray(self.copy_to_host().T))


PLACING = Placing(Remote)
