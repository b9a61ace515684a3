"""Reading and writing arrays, records and tuples in a kernel, and asking what they are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..faults import Unsupported, Untypable
from .endings import end_threads
from .endless import watching
from .limits import limit
from .masks import Mask, Phi, each_way, settle
from .memory import Record, View, locate, mark_written, nothing_in
from .values import (
    COMPARISONS,
    INT64,
    PLAIN,
    UNARY,
    as_type,
    cast,
    dtype_of,
    plain,
    truth,
    turns_into,
)
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
    if type(target) is View:
        if type(index) is str:
            return field_of_all(w, target, index)
        place = locate(w, target, index, "read")
        return place if type(place) is View else read(w, target, place)
    if type(target) is Phi:
        return each_way(w, load, target, index)
    if isinstance(target, tuple):
        return pick(w, target, index)
    if type(target) is Record and type(index) in (str, int):
        return get_field(w, target, index)
    raise Unsupported(f"indexing {type(target).__name__}", w.line, w.function)


def load_constant(w: Warps, target: Any, index: int) -> Any:
    """`target[2]`: an index that Numba knows, and refuses where a tuple lacks it."""
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
        if isinstance(index, np.integer):  # read somewhere, so that Numba does not know it
            of_one_type(w, values, "index that varies, of")
        return values[int(index)]
    if dtype_of(index).kind not in "iu":
        raise Untypable(f"index of a tuple that is a {dtype_of(index)}", w.line, w.function)
    index = as_type(index, INT64)
    end_threads(w, IndexError, ("tuple index out of range",), (index < -count) | (index >= count))
    if not count:
        return 0
    of_one_type(w, values, "index that varies, of")
    at = np.clip(np.where(index < 0, index + count, index), 0, count - 1)
    if not any(isinstance(value, (tuple, View, Record, Phi)) for value in values):
        alike = [as_type(value, dtype_of(values[0])) for value in values]
        return plain(np.choose(at.astype(np.intp), alike))  # 32 bits wide in a browser
    check_alike(w, values)
    at, picked = np.broadcast_to(at, w.mask.bits.shape), values[0]
    for place, value in enumerate(values[1:], 1):
        picked = Phi.of(Mask(at == place), value, picked)
    return picked


def check_alike(w: Warps, arrays: tuple) -> None:
    kinds = {(len(a.shape), a.flat.dtype) if type(a) is View else None for a in arrays}
    if len(kinds) > 1:
        raise Untypable("index that varies, of a tuple of several types", w.line, w.function)


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
        missing = nothing_in(view.written.take(place, mode="clip"))
        if np.any(missing) and w.any_lane(missing):
            text = f"{view.array.name} is read where nothing has been written to it"
            missing = missing & w.mask.bits
            w.caution("uninitialized", text, int(np.count_nonzero(missing)), missing)
    return plain(view.flat[place]) if shared else view.flat.take(place, mode="clip")


def store(w: Warps, target: Any, index: Any, value: Any) -> None:
    if type(target) is View:
        if type(value) is View and not value.shape:  # x[..., 0] of one dimension
            value = read(w, value, value.start)
        place = locate(w, target, index, "write")
        return fill(w, place, value) if type(place) is View else write(w, target, place, value)
    if type(target) is Phi:
        return each_way(w, store, target, index, value)
    if type(target) is Record and type(index) in (str, int):
        return set_field(w, target, index, value)
    raise Unsupported(f"assigning into {describe(target)}", w.line, w.function)


def write(w: Warps, view: View, place: Any, value: Any) -> None:
    if not w.mask:
        return
    if view.array.space == "constant":
        raise Unsupported("writing to a constant array", w.line, w.function)
    if view.flat.dtype.names:
        return copy_record(w, Record(view, place), value)
    w.log.access(w, view.array, "write", place)
    if not w.launch.watched:
        return put(w, view, place, value)
    with watching(w, view, places(w, view, place)):
        put(w, view, place, value)


def put(w: Warps, view: View, place: Any, value: Any) -> None:
    """Set the value there, unlogged."""
    place = places(w, view, place)
    if isinstance(value, np.ndarray):
        if value.dtype is not view.flat.dtype:
            turns_into(w, value, view.flat.dtype)
        value = value if w.mask.full else value[w.mask.lanes]
        value = value[-1] if type(place) is int else value
    else:
        value = cast(w, value, view.flat.dtype)
    view.flat[place] = value
    mark_written(view, place)


def places(w: Warps, view: View, place: Any) -> Any:
    """The places that the active lanes mean, in lane order: the last lane to write wins."""
    place = place if view.base is None else place + view.base
    if type(place) is int:
        return place
    place = np.broadcast_to(place, w.mask.bits.shape)
    return place if w.mask.full else place[w.mask.lanes]


# Parts of arrays


def steps(w: Warps, view: View) -> Iterator[tuple[tuple[int, ...], Any]]:
    """(index, place) of every element of an array, as a loop over it would go; where slices differ
    in length from thread to thread, only those are active that have it."""
    whole = w.mask
    if not whole:
        return
    longest = [int(np.max(np.broadcast_to(n, whole.bits.shape)[whole.lanes])) for n in view.shape]
    for index in np.ndindex(*longest):
        place = view.start
        for i, n, stride in zip(index, view.shape, view.strides, strict=True):
            place = place + i * stride
            w.mask = w.mask if type(n) is int else w.mask & (i < n)
        if w.mask:
            yield index, place
        w.mask = whole


def fill(w: Warps, view: View, value: Any) -> None:
    """`a[1:3] = x`: the same number everywhere, or one of a tuple's each."""
    if type(value) is Phi:
        return each_way(w, lambda w, one: fill(w, view, one), value)
    if type(value) is View:
        raise Unsupported(
            "assigning an array to a slice, for which Numba would need memory of its own: "
            "write a loop",
            w.line,
            w.function,
        )
    listed = isinstance(value, tuple)
    if listed and (len(view.shape) != 1 or np.any(np.not_equal(view.shape[0], len(value)))):
        raise Unsupported("assigning a tuple to a slice of another length", w.line, w.function)
    for index, place in steps(w, view):
        write(w, view, place, value[index[0]] if listed else value)


# Records


def field_of_all(w: Warps, view: View, name: str) -> View:
    """One field of every record of an array."""
    dtype = view.flat.dtype
    if name not in (dtype.names or ()):
        raise Unsupported(f"the field {name!r} of {describe(view)}", w.line, w.function)
    check_aligned(w, dtype, name, dtype.itemsize)
    return view.field(name)


def check_aligned(w: Warps, dtype: np.dtype, name: Any, apart: int = 0) -> None:
    """Refuse a field that does not begin at a multiple of its size, which a GPU cannot read."""
    name = name if isinstance(name, str) else (dtype.names or ())[name]
    field, shift = (dtype.fields or {})[name][:2]
    align = 1 if field.base.names else field.base.alignment
    if shift % align or apart % align:
        text = f"the field {name!r} of packed records ({shift} bytes from their beginning, "
        text += f"{dtype.itemsize} bytes each): make their dtype with align=True"
        raise Unsupported(text, w.line, w.function)


def part(w: Warps, record: Record, name: Any) -> tuple[View, Any]:
    """(a field of all these records, its place in this one)"""
    view, place = record.part(w, name)
    check_aligned(w, record.view.flat.dtype, name)
    return view, place


def get_field(w: Warps, record: Record, name: Any) -> Any:
    """A field's value; of a field that is an array, or a record, where it lies."""
    view, place = part(w, record, name)
    inner = len(view.shape) - len(record.view.shape)
    if inner:
        return view.sliced(place, view.shape[-inner:], view.strides[-inner:])
    return read(w, view, place)


def set_field(w: Warps, record: Record, name: Any, value: Any) -> None:
    field = part(w, record, name)
    if len(field[0].shape) > len(record.view.shape):
        copy_array(w, get_field(w, record, name), value)
    else:
        write(w, *field, value)


def copy_array(w: Warps, view: View, value: Any) -> None:
    """A field that is an array, set to another array of its type and shape."""
    if type(value) is Phi:
        return each_way(w, lambda w, array: copy_array(w, view, array), value)
    if type(value) is not View or (value.shape, value.flat.dtype) != (view.shape, view.flat.dtype):
        raise Unsupported(
            f"setting {view.array.name}, an array, to anything but an array like it",
            w.line,
            w.function,
        )
    for (_, there), (_, here) in zip(steps(w, value), steps(w, view), strict=True):
        write(w, view, here, read(w, value, there))


def copy_record(w: Warps, record: Record, value: Any) -> None:
    """`a[i] = b[j]`: field by field."""
    if type(value) is Phi:
        return each_way(w, lambda w, other: copy_record(w, record, other), value)
    dtype = record.view.flat.dtype
    if type(value) is not Record or value.view.flat.dtype != dtype:
        raise Unsupported(
            f"setting a record to {describe(value)} that is no record like it", w.line, w.function
        )
    for name in dtype.names or ():
        set_field(w, record, name, get_field(w, value, name))


# Attributes


def attribute(w: Warps, value: Any, name: str) -> Any:
    """Facts about arrays, fields of records and named tuples, parts of complex numbers."""
    if type(value) is Phi:
        return each_way(w, attribute, value, name)
    if type(value) is View:
        if name in ("shape", "ndim", "size", "dtype", "strides", "itemsize", "nbytes"):
            return fact(value, name)
        if name in (value.flat.dtype.names or ()):
            return field_of_all(w, value, name)
        if name in ("real", "imag") and value.flat.dtype.kind == "c":
            return value.part_of_complex(name)
        if name == "T":
            return value.sliced(value.start, value.shape[::-1], value.strides[::-1])
    elif type(value) is Record:
        return get_field(w, value, name)
    elif isinstance(value, tuple):
        if name in getattr(value, "_fields", ()):
            return getattr(value, name)
    elif isinstance(value, (np.finfo, np.iinfo)):
        return limit(value, name)
    elif name in ("real", "imag") and dtype_of(value).kind in "fciu":
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
    if type(value) is Phi:
        return each_way(w, length, value)
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
        raise Untypable(f"{what} a tuple of several types", w.line, w.function)


def contains(w: Warps, value: Any, values: Any) -> Any:
    """`value in values`: in a tuple, in an array (looked through until it is found)."""
    values, equal = settle(w, values), COMPARISONS["Eq"]
    if isinstance(values, str):
        return value in values
    if isinstance(values, tuple):
        of_one_type(w, values, "`in` with")
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
    if type(value) is Phi:
        return each_way(w, set_attribute, value, name, new)
    if type(value) is not Record:
        raise Unsupported(f"setting the attribute .{name} of {describe(value)}", w.line, w.function)
    set_field(w, value, name, new)


def unpack(w: Warps, value: Any, count: int) -> tuple:
    if not isinstance(value, tuple) or len(value) != count or isinstance(value, Dim3):
        raise Unsupported(f"unpacking {describe(value)} into {count} names", w.line, w.function)
    return value
