"""Reading and writing arrays and tuples in a kernel, and asking what they are."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..faults import Unsupported
from .memory import View, locate
from .values import cast, plain
from .warps import Warps


class Dim3(NamedTuple):
    """`cuda.threadIdx` and its like, held in a variable."""

    x: Any
    y: Any
    z: Any


def load(w: Warps, target: Any, index: Any) -> Any:
    if type(target) is View:
        place = locate(w, target, index, "read")
        return place if type(place) is View else read(w, target, place)
    if isinstance(target, tuple):
        return pick(w, target, index)
    raise Unsupported(f"indexing {describe(target)}", w.line, w.function)


def pick(w: Warps, values: tuple, index: Any) -> Any:
    """An element of a tuple, or a part of it."""
    if isinstance(index, slice):
        return values[index]
    count = len(values)
    if not isinstance(index, (int, np.integer)):
        what = "the index of a tuple that differs from thread to thread: use an array"
        raise Unsupported(what, w.line, w.function)
    if not -count <= index < count:
        raise Unsupported(f"the index {index} of a tuple of {count}", w.line, w.function)
    return values[int(index)]


def read(w: Warps, view: View, place: Any) -> Any:
    if not w.mask:
        return view.flat.dtype.type(0)
    w.log.access(w, view.array, "read", place)
    return fetched(w, view, place)


def fetched(w: Warps, view: View, place: Any) -> Any:
    """The value there, unlogged."""
    shared = type(place) is int and view.base is None
    place = place if view.base is None else place + view.base
    place = np.asarray(place, np.intp)  # which in a browser has 32 bits
    if view.written is not None:
        missing = ~view.written.take(place, mode="clip")
        if np.any(missing) and w.any_lane(missing):
            text = f"{view.array.name} is read where nothing has been written to it"
            missing = missing & w.mask.bits
            w.caution("uninitialized", text, int(np.count_nonzero(missing)), missing)
    return plain(view.flat[place]) if shared else view.flat.take(place, mode="clip")


def store(w: Warps, target: Any, index: Any, value: Any) -> None:
    if type(target) is View:
        place = locate(w, target, index, "write")
        if type(place) is not View:
            return write(w, target, place, value)
        raise Unsupported("assigning to a slice: write a loop", w.line, w.function)
    raise Unsupported(f"assigning into {describe(target)}", w.line, w.function)


def write(w: Warps, view: View, place: Any, value: Any) -> None:
    if not w.mask:
        return
    if view.array.space == "constant":
        raise Unsupported("writing to a constant array", w.line, w.function)
    w.log.access(w, view.array, "write", place)
    put(w, view, place, value)


def put(w: Warps, view: View, place: Any, value: Any) -> None:
    """Set the value there, unlogged."""
    place = places(w, view, place)
    if isinstance(value, np.ndarray):
        value = value if w.mask.full else value[w.mask.lanes]
        value = value[-1] if type(place) is int else value
    else:
        value = cast(w, value, view.flat.dtype)
    view.flat[place] = value
    if view.written is not None:
        view.written[place] = True


def places(w: Warps, view: View, place: Any) -> Any:
    """The places that the active lanes mean, in lane order: the last lane to write wins."""
    place = place if view.base is None else place + view.base
    if type(place) is int:
        return place
    place = np.broadcast_to(place, w.mask.bits.shape)
    return place if w.mask.full else place[w.mask.lanes]


# Attributes


def attribute(w: Warps, value: Any, name: str) -> Any:
    """Facts about arrays, parts of `cuda.threadIdx` and of named tuples."""
    if type(value) is View:
        facts = {"shape": value.shape, "ndim": len(value.shape), "dtype": value.flat.dtype}
        if name in facts:
            return facts[name]
        if name in ("size", "nbytes"):
            size = value.shape[0] if len(value.shape) == 1 else math.prod(value.shape)
            return size if name == "size" else size * value.flat.dtype.itemsize
        if name == "T":
            return value.sliced(value.start, value.shape[::-1], value.strides[::-1])
    elif isinstance(value, tuple) and name in getattr(value, "_fields", ()):
        return getattr(value, name)
    raise Unsupported(f"the attribute .{name} of {describe(value)}", w.line, w.function)


def describe(value: Any) -> str:
    return f"the array {value.array.name}" if type(value) is View else f"a {type(value).__name__}"


def length(w: Warps, value: Any) -> Any:
    if isinstance(value, tuple):
        return len(value)
    if type(value) is View:
        return value.shape[0]
    raise Unsupported(f"len() of {describe(value)}", w.line, w.function)


def unpack(w: Warps, value: Any, count: int) -> tuple:
    if not isinstance(value, tuple) or len(value) != count or isinstance(value, Dim3):
        raise Unsupported(f"unpacking {describe(value)} into {count} names", w.line, w.function)
    return value
