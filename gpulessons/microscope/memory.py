"""Arrays as a kernel sees them: every read and write is located, checked against the bounds and logged."""

from __future__ import annotations

import math

import numpy as np

from .faults import OutOfBounds, Unsupported
from .flow import Either, settle
from .values import INT64, as_type, cast, dtype_of, plain

POISON = {"f": np.nan, "c": np.nan, "i": -0x3333_3333_3333_3333, "u": 0xCCCC_CCCC_CCCC_CCCC, "b": True}

VERBS = {"read": "reads", "write": "writes", "atomic": "updates"}
WRITTEN = {size: int.from_bytes(b"\1" * size, "little") for size in (1, 2, 4, 8)}  # a mark on each byte


class Array:
    """One array of a launch, for the log: its name, where it lives, and its layout.

    `space` is "global", "shared", "local" or "constant". `origin` says which memory it lies in (two views of one memory
    share it), `offset` the bytes from an aligned start of that memory to the first element, `address` the same from any
    fixed point (to tell whether two arrays overlap), `step` the bytes from one place of an element to the next.
    """

    def __init__(self, name, space, shape, dtype, strides=None, step=None, origin=None, offset=0, address=0):
        self.name, self.space, self.shape, self.dtype = name, space, tuple(shape), np.dtype(dtype)
        self.strides = strides or contiguous(self.shape)
        self.step = step or self.dtype.itemsize
        self.origin, self.offset, self.address = self if origin is None else origin, offset, address
        self.fields = {}

    def field(self, name) -> Array:
        """One field of an array of records."""
        if name not in self.fields:
            kind, shift = self.dtype.fields[name][:2]
            layout = self.shape, kind, self.strides, self.step, self.origin
            self.fields[name] = Array(
                f"{self.name}.{name}", self.space, *layout, self.offset + shift, self.address + shift
            )
        return self.fields[name]

    def cell(self, linear: int) -> tuple[int, ...]:
        """The index of the element at a place in memory."""
        index = {}
        for axis in sorted(range(len(self.shape)), key=lambda a: -abs(self.strides[a])):
            step, n = self.strides[axis], self.shape[axis]
            at, linear = divmod(linear, abs(step)) if step and n > 1 else (0, linear)
            index[axis] = at if step >= 0 else n - 1 - at
        return tuple(index[axis] for axis in range(len(self.shape)))


def contiguous(shape) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


class View:
    """An array, or the part of it that an index with slices picks, in a kernel.

    `flat` is the memory; the element (i, j) is `flat[base + start + i * strides[0] + j * strides[1]]`, where `base` tells
    the blocks (or threads) apart that have a copy each. `start` and `shape` may differ from lane to lane. `written` marks
    the places of memory that began empty and no longer are.
    """

    __slots__ = ("array", "base", "flat", "shape", "start", "strides", "written")

    def __init__(self, array, flat, start=0, shape=None, strides=None, base=None, written=None):
        self.array, self.flat, self.start, self.base, self.written = array, flat, start, base, written
        self.shape = array.shape if shape is None else shape
        self.strides = array.strides if strides is None else strides

    def part(self, start, shape, strides):
        return View(self.array, self.flat, start, shape, strides, self.base, self.written)

    def field(self, name):
        """One field of an array of records."""
        array = self.array.field(name)
        return View(array, self.flat[name], self.start, self.shape, self.strides, self.base, self.written)


class Record:
    """One element of an array of records."""

    def __init__(self, view, linear):
        self.view, self.linear = view, linear

    def field(self, w, name):
        if name not in (self.view.flat.dtype.names or ()):
            raise Unsupported(f"the field {name!r}, which this record lacks", w.line, w.function)
        return self.view.field(name)


def local_copies(w, array, copies: int, lane_base):
    """Fresh shared or local memory, one copy per block or thread, full of what a GPU would leave there."""
    size = max(1, math.prod(array.shape))
    poison = np.array(POISON.get(array.dtype.kind, 0)).astype(array.dtype)
    flat = np.full(copies * size, poison)
    base = None if copies == 1 else lane_base * size
    return View(array, flat, base=base, written=np.zeros(copies * size, bool))


# Index → place in memory


def locate(w, view, index, access):
    """The place of an element (a number, or one per lane), or a View where slices or missing indices leave one."""
    index = index if type(index) is tuple else (index,)
    if len(index) > len(view.shape):
        raise Unsupported(
            f"{len(index)} indices for {view.array.name}, which has {len(view.shape)} dimensions", w.line, w.function
        )
    place, shape, strides = view.start, [], []
    for axis, (n, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        at = index[axis] if axis < len(index) else slice(None)
        if type(at) is slice:
            at, count, step = bounds(w, at, n)
            shape.append(count)
            strides.append(stride * step)
        else:
            at = inside(w, view, axis, at, n, index, access)
        place = place + at * stride
    return view.part(place, tuple(shape), tuple(strides)) if shape or len(view.shape) > len(index) else place


def inside(w, view, axis, at, n, index, access):
    """The index along one axis, checked; a negative one counts from the end, as in Numba."""
    if type(at) is int and type(n) is int:
        if 0 <= at < n or not w.mask:
            return at
        at = np.full(w.mask.bits.shape, at)
    kind = dtype_of(at).kind
    if kind not in "iu":
        raise Unsupported(f"a {dtype_of(at)} as an index of {view.array.name}", w.line, w.function)
    at = as_type(w, at, INT64)
    bad = at.view(np.uint64) >= n if type(n) is int else (at < 0) | (at >= n)
    if not np.any(bad) or not w.any_lane(bad):
        return at
    wrapped = np.where(np.logical_and(at < 0, kind == "i"), at + n, at)
    beyond = np.broadcast_to(((wrapped < 0) | (wrapped >= n)) & w.mask.bits, w.mask.bits.shape)
    if beyond.any():
        out_of_bounds(w, view, index, int(np.argmax(beyond)), access)
    w.caution("negative index", f"a negative index of {view.array.name} counts from its end, as in Python")
    return wrapped


def out_of_bounds(w, view, index, lane, access):
    def own(value):
        return int(np.broadcast_to(value, w.mask.bits.shape)[lane])

    index = tuple("…" if type(i) is slice else own(i) for i in index)
    shape = tuple(map(own, view.shape))
    block, thread = w.coordinates(lane)
    shown = ", ".join(map(str, index))
    text = (
        f"line {w.line}: thread {short(thread)} of block {short(block)} {VERBS[access]} {view.array.name}[{shown}], "
        f"outside its shape {shape} (a GPU would not tell)"
    )
    raise OutOfBounds(
        text, w.line, array=view.array.name, index=index, shape=shape, block=block, thread=thread, access=access
    )


def short(coordinates: tuple[int, int, int]) -> str:
    """(3, 0, 0) → "3", (3, 1, 0) → "(3, 1)"."""
    x, y, z = coordinates
    return str(x) if (y, z) == (0, 0) else f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def bounds(w, part: slice, n):
    """(start, length, step) of a slice, as Python clips it; start and length may be vectors."""
    step = 1 if part.step is None else part.step
    if type(step) is not int or step == 0:
        raise Unsupported("a slice whose step is no plain number", w.line, w.function)
    if all(v is None or type(v) is int for v in (part.start, part.stop)) and type(n) is int:
        start, stop, step = part.indices(n)
        return start, len(range(start, stop, step)), step
    if step < 0:
        raise Unsupported("a slice that runs backwards from a place of its own", w.line, w.function)

    def clip(value, default):
        value = default if value is None else value
        return np.clip(np.where(np.less(value, 0), value + n, value), 0, n)

    start, stop = clip(part.start, 0), clip(part.stop, n)
    return start, np.maximum(0, -(-(stop - start) // step)), step


# Reading and writing


def load(w, target, index):
    target = settle(w, target) if type(target) is Either else target
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


def pick(w, values: tuple, index):
    if isinstance(index, (int, slice, np.integer)):
        return values[index]
    index = np.clip(index, 0, len(values) - 1)
    dtype = np.result_type(*map(dtype_of, values))
    return np.choose(index, [as_type(w, v, dtype) for v in values])


def read(w, view, place):
    if view.flat.dtype.names:
        return Record(view, place)
    if not w.mask:
        return view.flat.dtype.type(0)
    w.log.access(w, view.array, "read", place)
    shared = type(place) is int and view.base is None
    place = place if view.base is None else place + view.base
    if view.written is not None:
        missing = view.written.take(place, mode="clip") == 0
        if np.any(missing) and w.any_lane(missing):
            text = f"{view.array.name} is read where nothing has been written to it"
            w.caution("uninitialized", text, times=int(np.count_nonzero(missing & w.mask.bits)))
    return plain(view.flat[place]) if shared else view.flat.take(place, mode="clip")


def store(w, target, index, value):
    target = settle(w, target) if type(target) is Either else target
    if type(target) is Record and type(index) is str:
        return write(w, target.field(w, index), target.linear, value)
    if type(target) is not View:
        raise Unsupported(f"assigning into {type(target).__name__}", w.line, w.function)
    place = locate(w, target, index, "write")
    if type(place) is View:
        raise Unsupported("assigning to a slice", w.line, w.function)
    write(w, target, place, value)


def write(w, view, place, value):
    if not w.mask:
        return
    if view.array.space == "constant":
        raise Unsupported("writing to a constant array", w.line, w.function)
    w.log.access(w, view.array, "write", place)
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
        view.written[place] = WRITTEN[view.written.itemsize]


def places(w, view, place):
    """The places that the active lanes mean, in lane order: the last lane to write wins."""
    place = place if view.base is None else place + view.base
    if type(place) is int:
        return place
    place = np.broadcast_to(place, w.mask.bits.shape)
    return place if w.mask.full else place[w.mask.lanes]


# Attributes


def attribute(w, value, name: str):
    """`x.shape`, `len`-like facts about arrays, fields of records, parts of complex numbers, names of tuples."""
    value = settle(w, value) if type(value) is Either else value
    if type(value) is View:
        if name in ("shape", "ndim", "size", "dtype", "strides", "itemsize", "nbytes"):
            return fact(value, name)
        if name in (value.flat.dtype.names or ()):
            return value.field(name)
        if name == "T":
            return value.part(value.start, value.shape[::-1], value.strides[::-1])
    elif type(value) is Record:
        return read(w, value.field(w, name), value.linear)
    elif isinstance(value, tuple) and name in getattr(value, "_fields", ()):
        return getattr(value, name)
    elif name in ("real", "imag") and not isinstance(value, tuple) and dtype_of(value).kind in "fciub":
        return plain(getattr(np.asarray(value), name)[()])
    raise Unsupported(f"the attribute .{name} of {describe(value)}", w.line, w.function)


def fact(view, name):
    size, item = view.shape[0] if len(view.shape) == 1 else math.prod(view.shape), view.flat.dtype.itemsize
    return {
        "shape": view.shape,
        "ndim": len(view.shape),
        "size": size,
        "dtype": view.flat.dtype,
        "strides": tuple(stride * view.array.step for stride in view.strides),
        "itemsize": item,
        "nbytes": size * item,
    }[name]


def describe(value) -> str:
    return f"the array {value.array.name}" if type(value) is View else type(value).__name__


def length(w, value):
    value = settle(w, value)
    if isinstance(value, tuple):
        return len(value)
    if type(value) is View:
        return value.shape[0]
    raise Unsupported(f"len() of {type(value).__name__}", w.line, w.function)


def set_attribute(w, value, name, new):
    if type(value) is not Record:
        raise Unsupported(f"setting the attribute .{name} of {describe(value)}", w.line, w.function)
    write(w, value.field(w, name), value.linear, new)


def unpack(w, value, count: int):
    if not isinstance(value, tuple) or len(value) != count:
        raise Unsupported(f"unpacking {describe(value)} into {count} names", w.line, w.function)
    return value
