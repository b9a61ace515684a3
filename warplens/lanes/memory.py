"""Arrays as a kernel sees them: how an index finds its place, and the check of its bounds."""

from __future__ import annotations

import copy
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
        self.wider: dict[int, Array] = {}  # what `wide` has made

    def wide(self, count: int) -> Array:
        """The same array, accessed `count` neighbors at a time."""
        if count not in self.wider:
            self.wider[count] = copy.copy(self)
            self.wider[count].width = count * self.dtype.itemsize
        return self.wider[count]

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


def fresh_copies(array: Array, copies: int, owner: np.ndarray) -> View:
    """New memory for an array of which there are many, full of what a GPU might have left there;
    `owner` says which copy is each lane's."""
    size = max(1, math.prod(array.shape))
    flat = np.full(copies * size, poison(array.dtype), array.dtype)
    base = None if copies == 1 else owner * size
    return View(array, flat, base=base, written=np.zeros(flat.size, bool))


def poison(dtype: np.dtype) -> np.ndarray:
    """What an element of memory holds that nobody wrote to."""
    return np.array(POISON.get(dtype.kind, 0)).astype(dtype)


# Index → place in memory


def locate(w: Warps, view: View, index: Any, access: str) -> Any:
    """The place of an element (one per lane, perhaps), or a View if the index leaves one."""
    if type(index) is not tuple:
        index = (index,)
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
    return view.sliced(place, tuple(shape), tuple(strides)) if shape else place


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
        who, element, details = who_and_what(w, view, index, int(np.argmax(beyond)), access)
        text = f"{who} {element}, outside its shape {details['shape']} (a GPU would not tell)"
        raise OutOfBounds(text, w.line, **details)
    w.caution(
        "negative index", f"a negative index of {view.array.name} counts from its end, as in Python"
    )
    return wrapped


def who_and_what(
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
