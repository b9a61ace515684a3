"""Methods of arrays that Numba compiles for a GPU: what needs no new memory.

Those that read or write all elements do it one after another in every thread, as Numba's loops do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..faults import Misaligned, Unsupported
from . import access
from .masks import Phi, each_way
from .memory import View, in_steps, marks_of, scaled, short
from .values import ARITHMETIC, FLOAT64, Instruction, as_type, merge, plain, widen
from .warps import Warps


def of_arrays(name: str, method: Instruction, otherwise: Instruction | None = None) -> Instruction:
    """A method of arrays; of numbers another one, if there is."""

    def apply(w: Warps, target: Any, *given: Any) -> Any:
        if type(target) is Phi:
            return each_way(w, apply, target, *given)
        if type(target) is View:
            return method(w, target, *given)
        if otherwise is None:
            what = f"the method .{name}() of {access.describe(target)}"
            raise Unsupported(what, w.line, w.function)
        return otherwise(w, target, *given)

    return apply


def fill(w: Warps, view: View, value: Any) -> None:
    access.fill(w, view, value)


def folded(operator: str, first: int) -> Instruction:
    """sum(), prod(): in the array's own type, of integers in 64 bits."""

    def apply(w: Warps, view: View) -> Any:
        dtype = np.asarray(widen(view.flat.dtype.type(first))).dtype
        return fold(w, view, operator, first, dtype)

    return apply


def fold(w: Warps, view: View, operator: str, first: int, dtype: np.dtype) -> Any:
    total, whole = plain(dtype.type(first)), w.mask
    for _, place in access.steps(w, view):
        more = ARITHMETIC[operator](w, total, as_type(access.read(w, view, place), dtype))
        total = more if w.mask is whole else merge(w.mask.bits, more, total)
    return total


def mean(w: Warps, view: View) -> Any:
    dtype = view.flat.dtype if view.flat.dtype.kind in "fc" else FLOAT64
    total = fold(w, view, "Add", 0, dtype)
    return ARITHMETIC["Div"](w, total, math.prod(view.shape))


def item(w: Warps, view: View) -> Any:
    if math.prod(view.shape) != 1:
        raise Unsupported("item() of an array of several elements", w.line, w.function)
    return access.read(w, view, view.start)


def reshape(w: Warps, view: View, *shape: Any) -> View:
    """The same elements along other axes; one -1 stands for what is left over."""
    given = list(shape[0] if isinstance(shape[0], tuple) else shape)
    size = math.prod(check_in_order(w, view, "reshape"))
    if not all(isinstance(n, (int, np.integer)) for n in given):
        raise Unsupported("a shape that differs from thread to thread", w.line, w.function)
    given = [int(n) for n in given]
    known = math.prod(n for n in given if n != -1)
    given = [size // max(1, known) if n == -1 else n for n in given]
    if math.prod(given) != size:
        raise Unsupported(
            f"reshaping {view.array.name} of {size} elements to {tuple(given)}", w.line, w.function
        )
    unit = view.array.dtype.itemsize // view.array.step  # of an array in order, whole
    strides = tuple(unit * math.prod(given[axis + 1 :]) for axis in range(len(given)))
    return view.sliced(view.start, tuple(given), strides)


def check_in_order(w: Warps, view: View, method: str) -> tuple[int, ...]:
    """The shape of an array whose elements lie side by side."""
    apart = view.array.dtype.itemsize
    for n, stride in zip(reversed(view.shape), reversed(view.strides), strict=True):
        if type(n) is not int or (n > 1 and stride * view.array.step != apart):
            astray(w, view, method)
        apart *= n
    return view.shape


def astray(w: Warps, view: View, method: str) -> NoReturn:
    text = f"{method}() of {view.array.name}, whose elements do not lie side by side"
    raise Unsupported(text, w.line, w.function)


def seen_as(w: Warps, view: View, dtype: Any) -> View:
    """`a.view(float32)`: the same bytes as numbers of another type."""
    old, new = view.flat.dtype, np.dtype(dtype)
    if old.names or new.names:
        raise Unsupported("view() of records, or as records", w.line, w.function)
    array = view.array.seen_as(new)
    scale = view.array.step // array.step
    shape, strides = view.shape, tuple(s * scale for s in view.strides)
    if old.itemsize != new.itemsize:
        if not shape or strides[-1] * array.step != old.itemsize:
            astray(w, view, "view")
        size = shape[-1] * old.itemsize
        if np.any(size % new.itemsize):
            text = f"{view.array.name}, of shape {shape} and {old}, as {new}"
            raise Unsupported(text, w.line, w.function)
        shape = (*shape[:-1], size // new.itemsize)
        strides = (*strides[:-1], new.itemsize // array.step)
    check_alignment(w, view, new)
    flat, written = in_steps(view.flat, new, array.step), view.written
    if written is not None:
        written = in_steps(written, marks_of(new), array.step)
    start, base = scaled(view.start, scale), scaled(view.base, scale)
    return View(array, flat, start, shape, strides, base, written)


def check_alignment(w: Warps, view: View, dtype: np.dtype) -> None:
    """Raise Misaligned for the first lane whose part of an array does not begin where numbers of
    this type may."""
    byte = np.broadcast_to(view.start * view.array.step + view.array.offset, w.mask.bits.shape)
    wrong = (byte % dtype.alignment != 0) & w.mask.bits
    if not wrong.any():
        return
    lane = int(np.argmax(wrong))
    block, thread = w.coordinates(lane)
    text = (
        f"line {w.line}: thread {short(thread)} of block {short(block)} sees {view.array.name} as "
        f"{dtype} from byte {int(byte[lane])} on, which is no multiple of {dtype.alignment} "
        "(a GPU stops the kernel that reads there)"
    )
    raise Misaligned(text, w.line, array=view.array.name, block=block, thread=thread)


def number_seen_as(w: Warps, value: Any, dtype: Any) -> Any:
    """`x.view(int32)` of a number: its bits."""
    value = np.asarray(value)
    if value.dtype.itemsize != np.dtype(dtype).itemsize:
        raise Unsupported(f"a {value.dtype} seen as {np.dtype(dtype)}", w.line, w.function)
    return plain(value.view(dtype)[()])


METHODS: dict[str, Callable[..., Any]] = {
    "fill": of_arrays("fill", fill),
    "sum": of_arrays("sum", folded("Add", 0)),
    "prod": of_arrays("prod", folded("Mult", 1)),
    "mean": of_arrays("mean", mean),
    "item": of_arrays("item", item, lambda w, x: x),
    "reshape": of_arrays("reshape", reshape),
    "view": of_arrays("view", seen_as, number_seen_as),
}
