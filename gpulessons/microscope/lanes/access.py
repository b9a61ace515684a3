"""Reading and writing arrays, records and tuples in a kernel, and asking what they are."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..faults import Unsupported
from .endings import end_threads
from .masks import Mask, Phi, settle
from .memory import WRITTEN_MARK, Record, View, locate
from .values import COMPARISONS, INT64, PLAIN, UNARY, as_type, cast, dtype_of, plain, truth
from .warps import Warps


class Dim3(NamedTuple):
    """`cuda.threadIdx` and its like, held in a variable."""

    x: Any
    y: Any
    z: Any


class Member(NamedTuple):
    """A member of an Enum."""

    kind: type
    value: Any


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


def load_constant(w: Warps, target: Any, index: int) -> Any:
    """`target[2]`: an index that Numba knows, and refuses where a tuple lacks it."""
    target = settle(w, target)
    if isinstance(target, tuple) and not -len(target) <= index < len(target):
        what = f"the index {index} of a tuple of {len(target)}: tuple index out of range"
        raise Unsupported(what, w.line, w.function)
    return load(w, target, index)


def pick(w: Warps, values: tuple, index: Any) -> Any:
    """An element of a tuple; a thread whose index it lacks ends, as in Numba."""
    if isinstance(index, slice):
        return values[index]
    count = len(values)
    if isinstance(index, (int, np.integer)) and -count <= index < count:
        return values[int(index)]
    if dtype_of(index).kind not in "iu":
        raise Unsupported(f"a {dtype_of(index)} as an index of a tuple", w.line, w.function)
    index = as_type(index, INT64)
    end_threads(w, IndexError, ("tuple index out of range",), (index < -count) | (index >= count))
    if not count:
        return 0
    of_one_type(w, values, "an index that varies, of")
    at = np.clip(np.where(index < 0, index + count, index), 0, count - 1)
    if not any(isinstance(value, (tuple, View, Phi)) for value in values):
        dtype = np.result_type(*map(dtype_of, values))
        return plain(np.choose(at, [as_type(value, dtype) for value in values]))
    at, picked = np.broadcast_to(at, w.mask.bits.shape), values[0]
    for place, value in enumerate(values[1:], 1):
        picked = Phi.of(Mask(at == place), value, picked)
    return picked


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
    if type(place) is View and not place.shape:  # x[..., 0] of one dimension
        place = place.start
    if type(value) is View and not value.shape:
        value = read(w, value, value.start)
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
    if isinstance(value, (tuple, str)):
        return len(value)
    if type(value) is View:
        return value.shape[0]
    raise Unsupported(f"len() of {type(value).__name__}", w.line, w.function)


def parts(w: Warps, value: Any) -> tuple:
    """`*value` in a call."""
    if not isinstance(value, tuple):
        raise Unsupported(f"* before {describe(value)}: only tuples", w.line, w.function)
    return value


def of_one_type(w: Warps, values: tuple, what: str) -> None:
    """Refuse a tuple of several types, as Numba does where it cannot tell its elements apart."""
    if len({PLAIN.get(type(v)) or getattr(v, "dtype", None) for v in values}) > 1:
        raise Unsupported(f"{what} a tuple of several types", w.line, w.function)


def contains(w: Warps, value: Any, values: Any) -> Any:
    """`value in values`: in a tuple, in an array (looked through until it is found)."""
    values, equal = settle(w, values), COMPARISONS["Eq"]
    if isinstance(values, str):
        return value in values
    if isinstance(values, tuple):
        of_one_type(w, values, "in")
        hits = [truth(equal(w, value, one)) for one in values]
        return plain(np.logical_or.reduce(np.broadcast_arrays(*hits))[()]) if hits else False
    if type(values) is not View or len(values.shape) != 1:
        raise Unsupported(f"in {describe(values)}", w.line, w.function)
    before, found = w.mask, np.zeros(w.mask.bits.shape, bool)
    for place in range(int(np.max(values.shape[0]))):
        w.mask = Mask(before.bits & ~found & (place < np.asarray(values.shape[0])))
        if not w.mask:
            break
        found |= w.mask.bits & equal(w, load(w, values, place), value)
    w.mask = before
    return found


def contains_not(w: Warps, value: Any, values: Any) -> Any:
    return UNARY["Not"](w, contains(w, value, values))


def identical(w: Warps, a: Any, b: Any) -> Any:
    """`a is b`: of None, known when Numba compiles, of arrays and of members of an Enum."""
    if a is None or b is None or type(a) is View:
        return a is b
    if isinstance(a, (tuple, bool)) and type(a) is type(b):
        return COMPARISONS["Eq"](w, a, b)
    raise Unsupported(f"{describe(a)} is {describe(b)}: write ==", w.line, w.function)


def not_identical(w: Warps, a: Any, b: Any) -> Any:
    return UNARY["Not"](w, identical(w, a, b))


def set_attribute(w: Warps, value: Any, name: str, new: Any) -> None:
    if type(value) is not Record:
        raise Unsupported(f"setting the attribute .{name} of {describe(value)}", w.line, w.function)
    write(w, value.field(w, name), value.linear, new)


def unpack(w: Warps, value: Any, count: int) -> tuple:
    if not isinstance(value, tuple) or len(value) != count or isinstance(value, Dim3):
        raise Unsupported(f"unpacking {describe(value)} into {count} names", w.line, w.function)
    return value
