"""What `cuda.…` means inside a kernel: positions, barriers, atomics, arrays of its own."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..faults import LaunchError, Untypable
from . import primitives
from .atomics import ATOMICS
from .barriers import BARRIERS
from .functions import fused
from .masks import WARP
from .memory import View, poison
from .values import Instruction, plain
from .warps import Warps

# Positions


def grid(w: Warps, ndim: int) -> Any:
    axes = [w.block_idx[a] * np.int64(w.launch.block[a]) + w.thread_idx[a] for a in range(ndim)]
    return plain(axes[0]) if ndim == 1 else tuple(plain(a) for a in axes)


def gridsize(w: Warps, ndim: int) -> Any:
    sizes = tuple(w.launch.block[a] * w.launch.grid[a] for a in range(ndim))
    return sizes[0] if ndim == 1 else sizes


def fence(w: Warps) -> None:
    w.log.fenced = True
    text = "the order that memory fences make is not followed: races between blocks are not sought"
    w.caution("fence", text)


# Arrays of a kernel's own. `site` says where one is made: (in which function, line, column). In a
# function that is called with several types there is one for each, as Numba compiles it.


def as_shape(shape: Any) -> tuple[int, ...]:
    return shape if isinstance(shape, tuple) else (shape,)


def known(dtype: Any) -> np.dtype:
    try:
        return np.dtype(dtype)
    except TypeError:
        raise Untypable(f"array of {dtype!r}") from None


def shared_array(w: Warps, site: Any, name: str, shape: Any, dtype: Any) -> View:
    """The block's own memory: one array per place in the source, the same for all its warps."""
    shape, dtype = as_shape(shape), known(dtype)
    site = *site, shape, dtype
    if site not in w.shared:
        if math.prod(shape) == 0:
            w.shared[site] = dynamic_shared_array(w, site, name, dtype)
        else:
            array = w.launch.own_array(site, name, "shared", shape, dtype, line=site[1])
            w.shared[site] = w.copies(array, per_lane=False)
    return w.shared[site]


def dynamic_shared_array(w: Warps, site: Any, name: str, dtype: np.dtype) -> View:
    """Every dynamic shared array is the same memory, seen with its own type; who reads it before it
    is written is not told."""
    if "dynamic" not in w.shared:
        w.shared["dynamic"] = w.copies(w.launch.dynamic, per_lane=False)
    array, size = w.launch.dynamic_array(site, name, dtype), w.launch.dynamic_shared
    if size % dtype.itemsize:
        raise LaunchError(
            f"{size} bytes of dynamic shared memory are no whole number of {dtype}", w.line
        )
    base = None if len(w.blocks) == 1 else w.row * (size // dtype.itemsize)
    return View(array, w.shared["dynamic"].flat.view(dtype), base=base)


def local_array(w: Warps, site: Any, name: str, shape: Any, dtype: Any) -> View:
    """A thread's own memory: one array per place in the source; who comes there again finds it
    with nothing in it."""
    shape, dtype = as_shape(shape), known(dtype)
    site = *site, shape, dtype
    view = w.local.get(site)
    if view is None:
        array = w.launch.own_array(site, name, "local", shape, dtype)
        view = w.local[site] = w.copies(array, per_lane=True)
    else:
        begin_anew(w, view)
    return view


def begin_anew(w: Warps, view: View) -> None:
    """The active lanes' own copies of an array as they were at first."""
    assert view.written is not None
    for cells, new in (view.flat, poison(view.array.dtype)), (view.written, 0):
        cells.reshape(len(w.mask.bits), -1)[w.mask.lanes] = new


def constant_array(w: Warps, name: str, values: np.ndarray) -> View:
    array = w.launch.own_array((name, id(values)), name, "constant", values.shape, values.dtype)
    return View(array, np.ascontiguousarray(values).reshape(-1))


def print_lanes(w: Warps, *values: Any) -> None:
    for lane in w.mask.lanes:
        print(*(v[lane] if isinstance(v, np.ndarray) else v for v in values))


VALUES: dict[str, Instruction] = {}
for axis, letter in enumerate("xyz"):
    VALUES[f"threadIdx.{letter}"] = lambda w, axis=axis: w.thread_idx[axis]
    VALUES[f"blockIdx.{letter}"] = lambda w, axis=axis: w.block_idx[axis]
    VALUES[f"blockDim.{letter}"] = lambda w, axis=axis: np.int32(w.launch.block[axis])
    VALUES[f"gridDim.{letter}"] = lambda w, axis=axis: np.int32(w.launch.grid[axis])
VALUES |= {"laneid": lambda w: w.lane, "warpsize": lambda w: np.int32(WARP)}

CALLS: dict[str, Instruction] = {
    "grid": grid,
    "gridsize": gridsize,
    "threadfence": fence,
    "threadfence_block": lambda w: None,  # between blocks it orders nothing
    "threadfence_system": fence,
    "nanosleep": lambda w, ns: None,
    "syncwarp": primitives.syncwarp,
    "shfl_sync": primitives.shuffle(lambda lane, source: source),
    "shfl_up_sync": primitives.shuffle(lambda lane, delta: lane - delta),
    "shfl_down_sync": primitives.shuffle(lambda lane, delta: lane + delta),
    "shfl_xor_sync": primitives.shuffle(lambda lane, bits: lane ^ bits),
    "ballot_sync": primitives.ballot_sync,
    "all_sync": primitives.all_sync,
    "any_sync": primitives.any_sync,
    "activemask": lambda w: primitives.packed(w.mask.bits),
    "popc": primitives.popc,
    "clz": primitives.clz,
    "ffs": primitives.ffs,
    "fma": fused,
    "const.array_like": lambda w, array: array,
}
CALLS |= {f"atomic.{name}": update for name, update in ATOMICS.items()}
ARRAYS = {"shared.array": shared_array, "local.array": local_array}
NAMES = {*VALUES, *BARRIERS, *CALLS, *ARRAYS}
