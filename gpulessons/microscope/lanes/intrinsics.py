"""What `cuda.…` means inside a kernel: positions, barriers, atomics, arrays of its own."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..faults import LaunchError, Unsupported
from . import primitives
from .atomics import ATOMICS
from .functions import FUNCTIONS, floating, fused, select
from .masks import WARP, Mask
from .memory import WRITTEN, View
from .values import ARITHMETIC, COMPARISONS, UNARY, plain, truth

# Positions


def grid(w, ndim):
    axes = [w.block_idx[a] * np.int64(w.launch.block[a]) + w.thread_idx[a] for a in range(ndim)]
    return plain(axes[0]) if ndim == 1 else tuple(plain(a) for a in axes)


def gridsize(w, ndim):
    sizes = tuple(w.launch.block[a] * w.launch.grid[a] for a in range(ndim))
    return sizes[0] if ndim == 1 else sizes


# Barriers. A kernel yields one and sleeps until its whole block (or grid) has reached it.


class Barrier(NamedTuple):
    line: int
    mask: Mask
    scope: str  # "block" or "grid"
    predicate: np.ndarray | None  # per lane


def wait(w, scope, predicate=None):
    mask = w.mask
    if predicate is not None:
        predicate = np.broadcast_to(truth(predicate), mask.bits.shape)
    votes = None
    if mask:
        votes = yield Barrier(w.line, mask, scope, predicate)
        w.pass_block_barrier(mask.rows, scope == "grid")
    return votes


def syncthreads(w):
    yield from wait(w, "block")


def votes(answer):
    def sync(w, predicate):
        if not w.mask:
            return np.int32(0)
        yes, total = yield from wait(w, "block", predicate)
        return np.repeat(answer(yes, total), WARP).astype(np.int32)

    return sync


def this_grid(w):
    return GRID


GRID = object()


def sync_group(w, group):
    if group is not GRID:
        raise Unsupported("the method .sync of anything but a grid", w.line, w.function)
    yield from wait(w, "grid")


def fence(w):
    w.log.fenced = True
    text = "the order that memory fences make is not followed: races between blocks are not sought"
    w.caution("fence", text)


# Arrays of a kernel's own


def shared_array(w, site, name, shape, dtype):
    """The block's own memory: one array per place in the source, the same for all its warps."""
    if site not in w.shared:
        shape = shape if isinstance(shape, tuple) else (shape,)
        dynamic = math.prod(shape) == 0
        array = w.launch.shared_array(site, name, shape, np.dtype(dtype), dynamic)
        w.shared[site] = dynamic_view(w, array) if dynamic else w.copies(array, per_lane=False)
    return w.shared[site]


def dynamic_view(w, array):
    """Every dynamic shared array is the same memory, seen with its own type."""
    whole = w.shared.get("dynamic")
    if whole is None:
        whole = w.shared["dynamic"] = w.copies(w.launch.dynamic, per_lane=False)
    item, size, rows = array.dtype.itemsize, w.launch.dynamic_shared, len(w.blocks)
    if size % item:
        raise LaunchError(
            f"{size} bytes of dynamic shared memory are no whole number of {array.dtype}", w.line
        )
    written = whole.written.view(f"u{item}") if item in WRITTEN else None
    return View(
        array,
        whole.flat.view(array.dtype),
        base=None if rows == 1 else w.row * (size // item),
        written=written,
    )


def local_array(w, site, name, shape, dtype):
    shape = shape if isinstance(shape, tuple) else (shape,)
    array = w.launch.own_array(site, name, "local", shape, np.dtype(dtype))
    return w.copies(array, per_lane=True)


def constant_array(w, name, values):
    array = w.launch.own_array((name, id(values)), name, "constant", values.shape, values.dtype)
    return View(array, np.ascontiguousarray(values).reshape(-1))


def print_lanes(w, *values):
    for lane in w.mask.lanes:
        print(*(v[lane] if isinstance(v, np.ndarray) else v for v in values))


HALF = {"hadd": "Add", "hsub": "Sub", "hmul": "Mult", "hdiv": "Div"}
HALF = {name: ARITHMETIC[op] for name, op in HALF.items()}
HALF |= {f"h{op.lower()}": COMPARISONS[op] for op in ("Eq", "Gt", "Lt")}
HALF |= {"hne": COMPARISONS["NotEq"], "hge": COMPARISONS["GtE"], "hle": COMPARISONS["LtE"]}
HALF |= {
    f"h{n}": floating(getattr(np, n))
    for n in ["sin", "cos", "log", "log2", "log10", "exp", "exp2", "sqrt", "floor", "ceil", "trunc"]
}
HALF |= {
    "hneg": UNARY["USub"],
    "habs": FUNCTIONS[abs],
    "hfma": fused,
    "hmax": FUNCTIONS[max],
    "hmin": FUNCTIONS[min],
}

VALUES = {f"threadIdx.{a}": lambda w, i=i: w.thread_idx[i] for i, a in enumerate("xyz")}
VALUES |= {f"blockIdx.{a}": lambda w, i=i: w.block_idx[i] for i, a in enumerate("xyz")}
VALUES |= {f"blockDim.{a}": lambda w, i=i: w.launch.block[i] for i, a in enumerate("xyz")}
VALUES |= {f"gridDim.{a}": lambda w, i=i: w.launch.grid[i] for i, a in enumerate("xyz")}
VALUES |= {"laneid": lambda w: w.lane, "warpsize": lambda w: WARP}

BARRIERS = {
    "syncthreads": syncthreads,
    "syncthreads_count": votes(lambda yes, total: yes),
    "syncthreads_and": votes(lambda yes, total: yes == total),
    "syncthreads_or": votes(lambda yes, total: yes > 0),
}
CALLS = {
    "grid": grid,
    "gridsize": gridsize,
    "cg.this_grid": this_grid,
    "threadfence": fence,
    "threadfence_block": fence,
    "threadfence_system": fence,
    "nanosleep": lambda w, ns: None,
    "syncwarp": primitives.syncwarp,
    "shfl_sync": primitives.shuffle(lambda lane, source: source % WARP),
    "shfl_up_sync": primitives.shuffle(lambda lane, delta: lane - delta),
    "shfl_down_sync": primitives.shuffle(lambda lane, delta: lane + delta),
    "shfl_xor_sync": primitives.shuffle(lambda lane, bits: lane ^ bits),
    "ballot_sync": primitives.ballot_sync,
    "all_sync": primitives.all_sync,
    "any_sync": primitives.any_sync,
    "eq_sync": primitives.eq_sync,
    "match_any_sync": primitives.match_any_sync,
    "match_all_sync": primitives.match_all_sync,
    "activemask": lambda w: primitives.packed(w.mask.bits),
    "lanemask_lt": primitives.lanemask_lt,
    "popc": primitives.popc,
    "clz": primitives.clz,
    "ffs": primitives.ffs,
    "brev": primitives.brev,
    "fma": fused,
    "cbrt": floating(np.cbrt),
    "selp": select,
    "const.array_like": lambda w, array: array,
}
CALLS |= {f"atomic.{name}": update for name, update in ATOMICS.items()}
CALLS |= {f"fp16.{name}": instruction for name, instruction in HALF.items()}
ARRAYS = {"shared.array": shared_array, "local.array": local_array}
NAMES = {*VALUES, *BARRIERS, *CALLS, *ARRAYS}
