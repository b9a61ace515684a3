"""Arrays as a kernel sees them: how an index finds its place, and the check of its bounds."""

from __future__ import annotations

import copy
import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..faults import OutOfBounds, Unsupported, Untypable
from .values import INT64, as_type, dtype_of

if TYPE_CHECKING:
    from .warps import Warps

# What memory holds that nobody wrote to: numbers that no program means. In every integer type the
# bytes are 0xCC, as debuggers fill memory.
POISON: dict[str, Any] = {
    "f": np.nan,
    "c": np.nan,
    "i": -0x3333_3333_3333_3333,
    "u": 0xCCCC_CCCC_CCCC_CCCC,
    "b": True,
}

VERBS = {"read": "reads", "write": "writes", "atomic": "updates"}


class Array:
    """One array of a launch, for the log: its name, where it lives, and its layout.

    `space` is "global", "shared", "local" or "constant". `origin` says which memory it lies in (two
    views of one memory share it), `offset` the bytes from an aligned start of that memory to the
    first element, `address` the same from any fixed point (to tell whether two arrays overlap),
    `step` the bytes from one place of an element to the next.
    """

    def __init__(
        self,
        name: str,
        space: str,
        shape: tuple[int, ...],
        dtype: Any,
        strides: tuple[int, ...] | None = None,
        step: int | None = None,
        origin: Any = None,
        offset: int = 0,
        address: int = 0,
    ) -> None:
        self.name, self.space, self.shape, self.dtype = name, space, tuple(shape), np.dtype(dtype)
        self.strides = strides or contiguous(self.shape)
        self.step = step or self.dtype.itemsize
        self.origin, self.offset, self.address = self if origin is None else origin, offset, address
        self.width = self.dtype.itemsize  # bytes of one access
        self.astray = False  # do elements begin where the hardware does not load them?
        self.parts: dict[Any, Array] = {}  # what `wide`, `part` and `seen_as` have made

    def wide(self, count: int) -> Array:
        """The same array, accessed `count` neighbors at a time."""
        if count not in self.parts:
            self.parts[count] = copy.copy(self)
            self.parts[count].width = count * self.dtype.itemsize
        return self.parts[count]

    def field(self, name: str) -> Array:
        """One field of an array of records; the axes of a field that is an array come last."""
        assert self.dtype.fields is not None
        dtype, shift = self.dtype.fields[name][:2]
        return self.part(name, dtype, shift)

    def part_of_complex(self, name: str) -> Array:
        """The real or the imaginary parts of an array of complex numbers."""
        half = np.empty(0, self.dtype).real.dtype
        return self.part(name, half, half.itemsize * (name == "imag"))

    def part(self, name: str, dtype: np.dtype, shift: int) -> Array:
        """What lies so many bytes behind the beginning of every element."""
        if name not in self.parts:
            inner, dtype = dtype.shape, dtype.base
            step = math.gcd(self.step, dtype.itemsize) if inner else self.step
            strides = [s * self.step // step for s in self.strides]
            strides += [s * dtype.itemsize // step for s in contiguous(inner)]
            layout = self.shape + inner, dtype, tuple(strides), step, self.origin
            moved = self.offset + shift, self.address + shift
            self.parts[name] = Array(f"{self.name}.{name}", self.space, *layout, *moved)
        return self.parts[name]

    def seen_as(self, dtype: np.dtype) -> Array:
        """The same memory as a line of numbers of another type."""
        if dtype not in self.parts:
            step = math.gcd(self.step, dtype.itemsize)
            shape, strides = (-(-self.span // dtype.itemsize),), (dtype.itemsize // step,)
            layout = shape, dtype, strides, step, self.origin
            self.parts[dtype] = Array(self.name, self.space, *layout, self.offset, self.address)
        return self.parts[dtype]

    @property
    def span(self) -> int:
        """Bytes from the first element to behind the last."""
        far = sum((n - 1) * abs(s) for n, s in zip(self.shape, self.strides, strict=True) if n)
        return far * self.step + self.dtype.itemsize

    def cell(self, linear: int) -> tuple[int, ...]:
        """The index of the element at a place in memory."""
        index = {}
        for axis in sorted(range(len(self.shape)), key=lambda a: -abs(self.strides[a])):
            step, n = self.strides[axis], self.shape[axis]
            at, linear = divmod(linear, abs(step)) if step and n > 1 else (0, linear)
            index[axis] = at if step >= 0 else n - 1 - at
        return tuple(index[axis] for axis in range(len(self.shape)))


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))


class View:
    """An array, or the part of it that an index with slices picks, in a kernel.

    `flat` is the memory; the element (i, j) is `flat[base + start + i * strides[0] + j *
    strides[1]]`, where `base` tells the blocks (or threads) apart that have a copy each. `start`
    and `shape` may differ from lane to lane. `written` marks the places of memory that began empty
    and no longer are.
    """

    __slots__ = ("array", "base", "flat", "shape", "start", "strides", "written")

    def __init__(
        self,
        array: Array,
        flat: np.ndarray,
        start: Any = 0,
        shape: tuple | None = None,
        strides: tuple | None = None,
        base: np.ndarray | None = None,
        written: np.ndarray | None = None,
    ) -> None:
        self.array, self.flat, self.start = array, flat, start
        self.base, self.written = base, written
        self.shape = array.shape if shape is None else shape
        self.strides = array.strides if strides is None else strides

    def sliced(self, start: Any, shape: tuple, strides: tuple) -> View:
        return View(self.array, self.flat, start, shape, strides, self.base, self.written)

    def field(self, name: str) -> View:
        """One field of an array of records; the axes of a field that is an array come last."""
        array = self.array.field(name)
        scale, inner = self.array.step // array.step, len(array.shape) - len(self.array.shape)
        shape, strides = self.shape, tuple(s * scale for s in self.strides)
        if inner:
            shape, strides = (*shape, *array.shape[-inner:]), (*strides, *array.strides[-inner:])
        written = None if self.written is None else in_line(self.written[name], array.step)
        flat, start = in_line(self.flat[name], array.step), scaled(self.start, scale)
        return View(array, flat, start, shape, strides, scaled(self.base, scale), written)

    def part_of_complex(self, name: str) -> View:
        array, flat = self.array.part_of_complex(name), getattr(self.flat, name)
        return View(array, flat, self.start, self.shape, self.strides, self.base, self.written)


def scaled(place: Any, scale: int) -> Any:
    return place if scale == 1 or place is None else place * scale


def in_line(part: np.ndarray, step: int) -> np.ndarray:
    """A field that is itself an array, in every record: its elements one after another."""
    if part.ndim == 1:
        return part
    ends = [(n - 1) * s for n, s in zip(part.shape, part.strides, strict=True)]
    length = sum(ends) // step + 1 if part.size else 0
    return np.lib.stride_tricks.as_strided(part, (length,), (step,), writeable=part.flags.writeable)


def in_steps(flat: np.ndarray, dtype: np.dtype, step: int) -> np.ndarray:
    """The bytes of memory as numbers of another type that begin every `step` bytes."""
    size = max(0, (len(flat) - 1) * flat.strides[0] + flat.itemsize)
    raw = np.lib.stride_tricks.as_strided(
        flat[:1].view(np.uint8), (size,), (1,), writeable=flat.flags.writeable
    )
    count = max(0, (size - dtype.itemsize) // step + 1)
    seen: np.ndarray = np.ndarray((count,), dtype, raw.data, 0, (step,))
    return seen


class Record:
    """One element of an array of records."""

    def __init__(self, view: View, linear: Any) -> None:
        self.view, self.linear = view, linear

    def part(self, w: Warps, name: Any) -> tuple[View, Any]:
        """(a field of all these records, its place in this one); a number counts the fields."""
        names = self.view.flat.dtype.names or ()
        if type(name) is int and -len(names) <= name < len(names):
            name = names[name]
        if name not in names:
            raise Unsupported(f"the field {name!r}, which this record lacks", w.line, w.function)
        field = self.view.field(name)
        return field, scaled(self.linear, self.view.array.step // field.array.step)


def fresh_copies(array: Array, copies: int, owner: np.ndarray) -> View:
    """New memory for an array of which there are many, full of what a GPU might have left there;
    `owner` says which copy is each lane's."""
    size = max(1, math.prod(array.shape))
    flat = np.full(copies * size, poison(array.dtype), array.dtype)
    base = None if copies == 1 else owner * size
    written = np.zeros(flat.nbytes, np.uint8).view(marks_of(array.dtype))
    return View(array, flat, base=base, written=written)


def poison(dtype: np.dtype) -> np.ndarray:
    """What an element of memory holds that nobody wrote to."""
    if not dtype.names:
        return np.array(POISON.get(dtype.kind, 0)).astype(dtype)
    record = np.zeros((), dtype)
    for name in dtype.names:
        record[name] = poison(dtype[name].base)
    return record


def marks_of(dtype: np.dtype) -> np.dtype:
    """The type of the marks of memory that began empty: numbers as wide as the values, every byte
    of which is 1 where something has been written, and 0 elsewhere."""
    if dtype.names:
        assert dtype.fields is not None
        fields = [dtype.fields[name] for name in dtype.names]
        layout: Any = {
            "names": dtype.names,
            "formats": [marks_of(field[0]) for field in fields],
            "offsets": [field[1] for field in fields],
            "itemsize": dtype.itemsize,
        }
        return np.dtype(layout)
    if dtype.shape:
        return np.dtype((marks_of(dtype.base), dtype.shape))
    size = dtype.itemsize
    return np.dtype(f"u{size}" if size in (1, 2, 4, 8) else complex if size == 16 else f"V{size}")


@functools.cache
def mark_of(marks: np.dtype) -> Any:
    """The mark of an element that has been written."""
    return np.frombuffer(b"\1" * marks.itemsize, marks)[0]


def nothing_in(marks: Any) -> Any:
    """Where nothing has been written, element by element."""
    return marks == (0 if marks.dtype.kind == "u" else np.zeros((), marks.dtype)[()])


def mark_written(view: View, place: Any) -> None:
    if view.written is not None:
        view.written[place] = mark_of(view.written.dtype)


# Index → place in memory


def locate(w: Warps, view: View, index: Any, access: str) -> Any:
    """The place of an element (one per lane, perhaps), or a View if the index leaves one."""
    open_ended = type(index) is Open
    if type(index) is not tuple:
        index = spelled_out(index, len(view.shape)) if open_ended else (index,)
    if len(index) > len(view.shape):
        raise Unsupported(
            f"{len(index)} indices for {view.array.name}, which has {len(view.shape)} dimensions",
            w.line,
            w.function,
        )
    place: Any = view.start
    shape, strides = [], []
    for axis, (n, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        at = index[axis] if axis < len(index) else slice(None)
        if type(at) is slice:
            at, count, step = slice_bounds(w, at, n)
            shape.append(count)
            strides.append(stride * step)
        else:
            at = checked(w, view, at, n, index, access)
        place = place + at * stride
    part = bool(shape) or open_ended
    return view.sliced(place, tuple(shape), tuple(strides)) if part else place


class Open(tuple):
    """An index with `...` in it."""


def spelled_out(index: Open, ndim: int) -> tuple:
    """(…, k) → (:, :, k)."""
    at = next(axis for axis, i in enumerate(index) if i is ...)
    return index[:at] + (slice(None),) * (ndim - len(index) + 1) + index[at + 1 :]


def checked(w: Warps, view: View, at: Any, n: Any, index: tuple, access: str) -> Any:
    """The index along one axis, checked; a negative one counts from the end, as in Numba."""
    if type(at) is int and type(n) is int:
        if 0 <= at < n or not w.mask:
            return at
        at = np.full(w.mask.bits.shape, at)
    kind = dtype_of(at).kind
    if kind not in "iu":
        raise Untypable(f"index of {view.array.name} that is a {dtype_of(at)}", w.line, w.function)
    at = as_type(at, INT64)
    if type(at) is np.int64 and type(n) is int and kind == "i":
        return checked(w, view, int(at), n, index, access)
    bad = at.view(np.uint64) >= n if type(n) is int else (at < 0) | (at >= n)
    if not np.any(bad) or not w.any_lane(bad):
        return at
    wrapped = np.where(np.logical_and(at < 0, kind == "i"), at + n, at)
    beyond = np.broadcast_to(((wrapped < 0) | (wrapped >= n)) & w.mask.bits, w.mask.bits.shape)
    if beyond.any():
        who, element, details = told(w, view, index, int(np.argmax(beyond)), access)
        text = f"{who} {element}, outside its shape {details['shape']} (a GPU would not tell)"
        raise OutOfBounds(text, w.line, **details)
    w.caution(
        "negative index", f"a negative index of {view.array.name} counts from its end, as in Python"
    )
    return wrapped


def told(
    w: Warps, view: View, index: tuple, lane: int, access: str
) -> tuple[str, str, dict[str, Any]]:
    """(who does what, to which element, the same as attributes) of one lane's access."""

    def own(value: Any) -> int:
        return int(np.broadcast_to(value, w.mask.bits.shape)[lane])

    index = tuple("…" if type(i) is slice else own(i) for i in index)
    block, thread = w.coordinates(lane)
    who = f"line {w.line}: thread {short(thread)} of block {short(block)} {VERBS[access]}"
    element = f"{view.array.name}[{', '.join(map(str, index))}]"
    where = {"array": view.array.name, "index": index, "shape": tuple(map(own, view.shape))}
    return who, element, {**where, "block": block, "thread": thread, "access": access}


def short(coordinates: tuple[int, int, int]) -> str:
    """(3, 0, 0) → "3", (3, 1, 0) → "(3, 1)"."""
    x, y, z = coordinates
    return str(x) if (y, z) == (0, 0) else f"({x}, {y})" if z == 0 else f"({x}, {y}, {z})"


def slice_bounds(w: Warps, part: slice, n: Any) -> tuple[Any, Any, int]:
    """(start, length, step) of a slice, as Python clips it; start and length may be vectors."""
    own = (v.item() if isinstance(v, np.integer) else v for v in (part.start, part.stop, part.step))
    part = slice(*own)
    step = 1 if part.step is None else part.step
    if type(step) is not int or step == 0:
        raise Unsupported("a slice whose step is no plain number", w.line, w.function)
    if all(v is None or type(v) is int for v in (part.start, part.stop)) and type(n) is int:
        start, stop, step = part.indices(n)
        return start, len(range(start, stop, step)), step
    if step < 0:
        raise Unsupported("a slice that runs backwards from a place of its own", w.line, w.function)

    def clip(value: Any, default: Any) -> np.ndarray:
        value = default if value is None else value
        return np.clip(np.where(np.less(value, 0), value + n, value), 0, n)

    first, end = clip(part.start, 0), clip(part.stop, n)
    return first, np.maximum(0, -(-(end - first) // step)), step
