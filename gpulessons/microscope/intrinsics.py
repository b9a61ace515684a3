"""What `cuda.…` means inside a kernel: positions, barriers, warp primitives, atomics, arrays of its own."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .faults import LaunchError, Unsupported
from .flow import WARP, Mask, settle
from .memory import POISON, WRITTEN, View, locate, places
from .values import (
    ARITHMETIC,
    COMPARISONS,
    FUNCTIONS,
    UNARY,
    as_type,
    cast,
    dtype_of,
    floating,
    fused,
    merge,
    plain,
    select,
    truth,
)

LANES = np.arange(WARP, dtype=np.uint32)
ALL = 0xFFFFFFFF


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
    mask, function, line = w.mask, w.function, w.line
    if predicate is not None:
        predicate = np.broadcast_to(truth(predicate), mask.bits.shape)
    votes = None
    if mask:
        votes = yield Barrier(line, mask, scope, predicate)
        w.pass_block_barrier(mask.rows, scope == "grid")
        w.log.barriers[function, line] += mask.warps if w.slot == 0 else 0
    return votes


def syncthreads(w):
    yield from wait(w, "block")


def votes(answer):
    def sync(w, predicate):
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
    text = "blocks that a memory fence and an atomic order are not followed: no races between blocks are reported"
    w.caution("fence", text)


# Warp primitives


def packed(bits):
    """32 bools per warp → one uint32 per lane."""
    rows = np.packbits(bits.reshape(-1, 4, 8), axis=-1, bitorder="little").reshape(-1, 4)
    return np.repeat(rows.copy().view("<u4").ravel(), WARP)


def members(w, mask):
    """The lanes of the warp that take part, as uint32 per lane; a mask that a GPU would choke on is noted."""
    named = np.broadcast_to(np.asarray(mask).astype(np.int64) & ALL, w.mask.bits.shape).astype(np.uint32)
    active, alive = packed(w.mask.bits), packed(w.alive.bits)
    if w.any_lane(named & alive & ~active):
        w.caution("warp mask", "the mask names lanes that do not run this line: a GPU may hang or answer anything")
    if w.any_lane((named >> w.lane.astype(np.uint32) & 1) == 0):
        w.caution("warp mask", "a lane runs this line but is not in its own mask")
    return named & active


def syncwarp(w, mask=ALL):
    if not w.mask:
        return
    named = members(w, mask)
    whole = (named == packed(w.alive.bits)) | ~w.mask.bits
    if whole.all():
        w.moment = w.moment._replace(warp_epoch=w.moment.warp_epoch + w.mask.rows)
    else:
        w.log.clock += 1
        w.log.partial.append((w.log.clock, w.moment, np.where(w.mask.bits, named, 0)))


def shuffle(source):
    """A shuffle: `source(lane, argument)` says which lane of the warp to read."""

    def shfl(w, mask, value, argument):
        value = np.broadcast_to(value, w.mask.bits.shape)
        named = members(w, mask)
        lane = w.lane.astype(np.int64)
        wanted = source(lane, np.asarray(argument).astype(np.int64))
        wanted = np.where((wanted < 0) | (wanted >= WARP), lane, wanted)
        absent = (named >> wanted.astype(np.uint32) & 1) == 0
        if w.any_lane(absent):
            w.caution("shuffle", "a shuffle reads lanes that do not take part: their value is undefined")
        poison = np.array(POISON[value.dtype.kind]).astype(value.dtype)
        return np.where(absent, poison, value[w.row * WARP + wanted])

    return shfl


def ballot(w, mask, predicate):
    return packed(np.logical_and(truth(predicate), w.mask.bits)) & members(w, mask)


def ballot_sync(w, mask, predicate):
    return ballot(w, mask, predicate).view(np.int32)


def all_sync(w, mask, predicate):
    return ballot(w, mask, predicate) == members(w, mask)


def any_sync(w, mask, predicate):
    return ballot(w, mask, predicate) != 0


def eq_sync(w, mask, predicate):
    found = ballot(w, mask, predicate)
    return (found == 0) | (found == members(w, mask))


def same(w, mask, value):
    """(lanes of the warp that hold this lane's value, lanes that take part)"""
    named = members(w, mask)
    value = np.broadcast_to(value, w.mask.bits.shape).reshape(-1, WARP)
    equal = value[:, :, None] == value[:, None, :]
    bits = (equal * (np.uint32(1) << LANES)).sum(axis=2, dtype=np.uint32).ravel()
    return bits & named, named


def match_any_sync(w, mask, value):
    return same(w, mask, value)[0].view(np.int32)


def match_all_sync(w, mask, value):
    found, named = same(w, mask, value)
    return np.where(found == named, named, 0).astype(np.uint32).view(np.int32), found == named


def lanemask_lt(w):
    return (np.uint32(1) << w.lane.astype(np.uint32)) - np.uint32(1)


# Bits


def unsigned(value):
    value = np.asarray(value)
    return value.view(value.dtype.str.replace("i", "u")), value.dtype.itemsize * 8


def popc(w, x):
    bits, _ = unsigned(x)
    return plain(np.bitwise_count(bits).astype(dtype_of(x))[()])


def clz(w, x):
    bits, width = unsigned(x)
    return plain((width - np.frompyfunc(int.bit_length, 1, 1)(bits.astype(object))).astype(dtype_of(x))[()]) if (
        bits.ndim
    ) else width - int(bits).bit_length()


def ffs(w, x):
    bits, _ = unsigned(x)
    lowest = np.atleast_1d(bits & (~bits + bits.dtype.type(1))).astype(object)
    found = np.frompyfunc(int.bit_length, 1, 1)(lowest).astype(np.uint32)
    return found if bits.ndim else found[0]


def brev(w, x):
    bits, width = unsigned(x)
    out = bits * 0
    for i in range(width):
        out = out | ((bits >> bits.dtype.type(i) & bits.dtype.type(1)) << bits.dtype.type(width - 1 - i))
    return plain(out.astype(dtype_of(x))[()])


# Atomics: lane by lane, in order


def atomic(change, flops=0, fixed=False):
    """`change(old, *operands) → new`, applied one lane after another; gives each lane the value it found."""

    def update(w, view, *operands):
        index, *operands = (0, *operands) if fixed else operands
        view = settle(w, view)
        if type(view) is not View:
            raise Unsupported("an atomic on anything but an array", w.line, w.function)
        place = locate(w, view, index, "atomic")
        dtype = view.flat.dtype
        if not w.mask:
            return dtype.type(0)
        if type(place) is View or dtype.names:
            raise Unsupported("an atomic on more than one element", w.line, w.function)
        w.log.access(w, view.array, "atomic", place)
        if flops and dtype.kind in "fc":
            w.count_flops(dtype, flops)
        places_ = np.broadcast_to(places(w, view, place), (w.mask.count,))
        if view.written is not None:
            note_unwritten(w, view, places_)
        values = [np.broadcast_to(cast(w, v, dtype), w.mask.bits.shape)[w.mask.lanes] for v in operands]
        found = np.zeros(w.mask.bits.shape, dtype)
        found[w.mask.lanes] = in_turn(view.flat, places_, change, values)
        return found

    return update


def note_unwritten(w, view, places_):
    if (view.written[places_] == 0).any():
        w.caution("uninitialized", f"{view.array.name} is updated where nothing has been written to it")
    view.written[places_] = WRITTEN[view.written.itemsize]


def in_turn(flat, places_, change, values):
    """Update cells that several lanes may share: first each cell's first lane, then its second, …"""
    order = np.argsort(places_, kind="stable")
    ordered = places_[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    rank = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    by_rank = np.argsort(rank, kind="stable")
    found = np.empty(len(order), flat.dtype)
    for turn in np.split(order[by_rank], np.cumsum(np.bincount(rank))[:-1]):
        cells = places_[turn]
        found[turn] = old = flat[cells]
        flat[cells] = change(old, *(v[turn] for v in values))
    return found


def nanmax(old, new):
    return np.where(np.isnan(old) | (new > old), np.where(np.isnan(new), old, new), old)


def nanmin(old, new):
    return np.where(np.isnan(old) | (new < old), np.where(np.isnan(new), old, new), old)


ATOMICS = {
    "add": atomic(np.add, flops=1),
    "sub": atomic(np.subtract, flops=1),
    "max": atomic(lambda old, new: np.where(new > old, new, old)),  # a NaN on either side changes nothing
    "min": atomic(lambda old, new: np.where(new < old, new, old)),
    "nanmax": atomic(nanmax),
    "nanmin": atomic(nanmin),
    "and_": atomic(np.bitwise_and),
    "or_": atomic(np.bitwise_or),
    "xor": atomic(np.bitwise_xor),
    "inc": atomic(lambda old, top: np.where(old >= top, 0, old + 1)),
    "dec": atomic(lambda old, top: np.where((old == 0) | (old > top), top, old - 1)),
    "exch": atomic(lambda old, new: new),
    "cas": atomic(lambda old, expected, new: np.where(old == expected, new, old)),
    "compare_and_swap": atomic(lambda old, expected, new: np.where(old == expected, new, old), fixed=True),
}


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
        raise LaunchError(f"{size} bytes of dynamic shared memory are no whole number of {array.dtype}", w.line)
    written = whole.written.view(f"u{item}") if item in WRITTEN else None
    return View(array, whole.flat.view(array.dtype), base=None if rows == 1 else w.row * (size // item), written=written)


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


HALF = {f"h{n}": ARITHMETIC[op] for n, op in dict(add="Add", sub="Sub", mul="Mult", div="Div").items()}
HALF |= {f"h{n}": COMPARISONS[op] for n, op in dict(eq="Eq", ne="NotEq", gt="Gt", ge="GtE", lt="Lt", le="LtE").items()}
HALF |= {f"h{n}": floating(getattr(np, n)) for n in "sin cos log log2 log10 exp exp2 sqrt floor ceil trunc".split()}
HALF |= {"hneg": UNARY["USub"], "habs": FUNCTIONS[abs], "hfma": fused, "hmax": FUNCTIONS[max], "hmin": FUNCTIONS[min]}

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
    "syncwarp": syncwarp,
    "shfl_sync": shuffle(lambda lane, source: source % WARP),
    "shfl_up_sync": shuffle(lambda lane, delta: lane - delta),
    "shfl_down_sync": shuffle(lambda lane, delta: lane + delta),
    "shfl_xor_sync": shuffle(lambda lane, bits: lane ^ bits),
    "ballot_sync": ballot_sync,
    "all_sync": all_sync,
    "any_sync": any_sync,
    "eq_sync": eq_sync,
    "match_any_sync": match_any_sync,
    "match_all_sync": match_all_sync,
    "activemask": lambda w: packed(w.mask.bits),
    "lanemask_lt": lanemask_lt,
    "popc": popc,
    "clz": clz,
    "ffs": ffs,
    "brev": brev,
    "fma": fused,
    "cbrt": floating(np.cbrt),
    "selp": select,
    "const.array_like": lambda w, array: array,
}
CALLS |= {f"atomic.{name}": update for name, update in ATOMICS.items()}
CALLS |= {f"fp16.{name}": instruction for name, instruction in HALF.items()}
ARRAYS = {"shared.array": shared_array, "local.array": local_array}
NAMES = {*VALUES, *BARRIERS, *CALLS, *ARRAYS}
