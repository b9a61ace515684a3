"""Reading and writing arrays, records and tuples in a kernel, and asking what they are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..faults import Unsupported
from .masks import settle
from .memory import WRITTEN_MARK, Record, View, locate
from .values import as_type, cast, dtype_of, plain
from .warps import Warps


def load(w: Warps, target: Any, index: Any) -> Any:
    target = settle(w, target)
    if type(target) is View:
        if type(index) is str:
            return target.field(index)
        place = locate(w, target, index, "read")
        return place if type(place) is View else read(w, target, place)
    if isinstance(target, tuple):
        return pick(w, target, index)
    if type(target) is Record and type(index) is str:
        return read(w, target.field(w, index), target.linear)
    raise Unsupported(f"indexing {type(target).__name__}", w.line, w.function)


def pick(w: Warps, values: tuple, index: Any) -> Any:
    if isinstance(index, (int, slice, np.integer)):
        return values[index]
    index = np.clip(index, 0, len(values) - 1)
    dtype = np.result_type(*map(dtype_of, values))
    return np.choose(index, [as_type(v, dtype) for v in values])


def read(w: Warps, view: View, place: Any) -> Any:
    if view.flat.dtype.names:
        return Record(view, place)
    if not w.mask:
        return view.flat.dtype.type(0)
    w.log.access(w, view.array, "read", place)
    return fetched(w, view, place)


def fetched(w: Warps, view: View, place: Any) -> Any:
    """The value there, unlogged."""
    shared = type(place) is int and view.base is None
    place = place if view.base is None else place + view.base
    if view.written is not None:
        missing = view.written.take(place, mode="clip") == 0
        if np.any(missing) and w.any_lane(missing):
            text = f"{view.array.name} is read where nothing has been written to it"
            w.caution("uninitialized", text, times=int(np.count_nonzero(missing & w.mask.bits)))
    return plain(view.flat[place]) if shared else view.flat.take(place, mode="clip")


def store(w: Warps, target: Any, index: Any, value: Any) -> None:
    target = settle(w, target)
    if type(target) is Record and type(index) is str:
        return write(w, target.field(w, index), target.linear, value)
    if type(target) is not View:
        raise Unsupported(f"assigning into {type(target).__name__}", w.line, w.function)
    place = locate(w, target, index, "write")
    if type(place) is View:
        raise Unsupported("assigning to a slice", w.line, w.function)
    write(w, target, place, value)


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
    if view.flat.dtype.names:
        raise Unsupported("assigning a whole record", w.line, w.function)
    if isinstance(value, np.ndarray):
        value = value if w.mask.full else value[w.mask.lanes]
        value = value[-1] if type(place) is int else value
    else:
        value = cast(w, value, view.flat.dtype)
    view.flat[place] = value
    if view.written is not None:
        view.written[place] = WRITTEN_MARK[view.written.itemsize]


def places(w: Warps, view: View, place: Any) -> Any:
    """The places that the active lanes mean, in lane order: the last lane to write wins."""
    place = place if view.base is None else place + view.base
    if type(place) is int:
        return place
    place = np.broadcast_to(place, w.mask.bits.shape)
    return place if w.mask.full else place[w.mask.lanes]


# Attributes


def attribute(w: Warps, value: Any, name: str) -> Any:
    """Facts about arrays, fields of records and named tuples, parts of complex numbers."""
    value = settle(w, value)
    if type(value) is View:
        if name in ("shape", "ndim", "size", "dtype", "strides", "itemsize", "nbytes"):
            return fact(value, name)
        if name in (value.flat.dtype.names or ()):
            return value.field(name)
        if name in ("real", "imag") and value.flat.dtype.kind == "c":
            return value.part_of_complex(name)
        if name == "T":
            return value.sliced(value.start, value.shape[::-1], value.strides[::-1])
    elif type(value) is Record:
        return read(w, value.field(w, name), value.linear)
    elif isinstance(value, tuple):
        if name in getattr(value, "_fields", ()):
            return getattr(value, name)
    elif name in ("real", "imag") and dtype_of(value).kind in "fciub":
        return plain(getattr(np.asarray(value), name)[()])
    raise Unsupported(f"the attribute .{name} of {describe(value)}", w.line, w.function)


def fact(view: View, name: str) -> Any:
    item = view.flat.dtype.itemsize
    size = view.shape[0] if len(view.shape) == 1 else math.prod(view.shape)
    return {
        "shape": view.shape,
        "ndim": len(view.shape),
        "size": size,
        "dtype": view.flat.dtype,
        "strides": tuple(stride * view.array.step for stride in view.strides),
        "itemsize": item,
        "nbytes": size * item,
    }[name]


def describe(value: Any) -> str:
    return f"the array {value.array.name}" if type(value) is View else type(value).__name__


def length(w: Warps, value: Any) -> Any:
    value = settle(w, value)
    if isinstance(value, tuple):
        return len(value)
    if type(value) is View:
        return value.shape[0]
    raise Unsupported(f"len() of {type(value).__name__}", w.line, w.function)


def set_attribute(w: Warps, value: Any, name: str, new: Any) -> None:
    if type(value) is not Record:
        raise Unsupported(f"setting the attribute .{name} of {describe(value)}", w.line, w.function)
    write(w, value.field(w, name), value.linear, new)


def parts(w: Warps, value: Any) -> tuple:
    """`*value` in a call."""
    if not isinstance(value, tuple):
        raise Unsupported(f"* before {describe(value)}: only tuples", w.line, w.function)
    return value


def unpack(w: Warps, value: Any, count: int) -> tuple:
    if not isinstance(value, tuple) or len(value) != count:
        raise Unsupported(f"unpacking {describe(value)} into {count} names", w.line, w.function)
    return value
