"""Embedding: a table with a row of numbers for every word, user or article; only some are read.

    embedding(table, ids)[e] = sum over k of table[ids[e, k]]                        a bag of rows
    row-wise Adagrad:  G = sum of the gradients of all who read the row
                       moment ← moment + mean(G²);   row ← row − rate · G / (sqrt(moment) + ε)

One product with a matrix of zeros and ones, if it were dense; but a batch of thousands touches some
thousands of rows where the table may have a hundred million. So what costs is neither arithmetic
nor the table's size, but rows fetched from anywhere: memory in pieces of a row. The gradient of a
row is the sum over all places that read it, and popular rows are read often (ids follow Zipf's
law), so duplicates must be added up before the row moves: Adagrad squares that sum.

Naumov et al. 2019 (DLRM); Khudia et al. 2021 (FBGEMM), whose exact row-wise Adagrad this is.
"""

import math
from functools import partial

import numpy as np
from numba import cuda, get_num_threads, int32, int64, njit, prange

from gpulessons.backends import gpu, host, torch_cpu, torch_gpu
from gpulessons.operation import Case, op

from .common import FULL_MASK, PARALLEL, SERIAL, THREADS, WARP, ZERO, ceil_div
from .reduce import warp_reduce_sum
from .rows import warp_per_row

LEARNING_RATE, EPSILON = 0.05, 1e-8
EPSILON32, MISSING = np.float32(EPSILON), np.float32(np.nan)

ALONE = SERIAL | {"nogil": True}  # so that another thread may compute meanwhile


def zipf(rng, rows, shape):
    """Ids below `rows` with probabilities near 1/rank (Zipf 1935), popular ones anywhere."""
    rank = np.minimum((rows + 1.0) ** rng.random(shape) - 1, rows - 1).astype(np.int64)
    return rng.permutation(rows)[rank]


def table_and_ids(rows, rng, width=32, bag=8, kind="int32"):
    """table: (rows, width) float32, ids: (examples, bag), an example for every four rows, up to
    4096 of them."""
    table = rng.standard_normal((rows, width), np.float32)
    return table, zipf(rng, rows, (min(ceil_div(rows, 4), 4096), bag)).astype(kind)


def with_gradient(rows, rng, **axes):
    """table and ids; moments: (rows,), not negative; gradient: (examples, width) of the bags."""
    table, ids = table_and_ids(rows, rng, **axes)
    gradient = rng.standard_normal((len(ids), table.shape[1]), np.float32)
    return table, rng.random(rows, np.float32), ids, gradient, LEARNING_RATE


def touched(table, ids):
    """How many rows of the table are read at all."""
    return len(np.unique(ids))


ODD = {"width": 37, "bag": 3, "kind": "int64"}  # a row that no warp fits
TABLES = {"sizes": (1_000, 100_000, 1_000_000), "rtol": 2e-5, "unit": "rows",
          "edge_cases": (Case(31, **ODD), Case(1201, **ODD), 6, Case(1, **ODD))}  # fmt: skip


@op(inputs=table_and_ids, **TABLES,
    flops=lambda table, ids: (ids.shape[1] - 1) * len(ids) * table.shape[1],
    signature="(rows, width), (examples, bag)",
    moved=lambda table, ids: ids.nbytes + 4 * table.shape[1] * (touched(table, ids) + len(ids)),
)  # fmt: skip
def embedding(table, ids):
    """The sum of each example's rows. table: (rows, width), ids: (examples, per example) integers.

    Returns (examples, width); with one id for each example, the plain rows. Raises ValueError for
    an id that is no row. A GPU cannot raise: there such a bag is NaN.
    """
    refuse_strangers(table, ids)
    return table[ids].sum(1)


@op(inputs=with_gradient, **TABLES,
    flops=lambda table, moments, ids, gradient, rate:
        ids.size * table.shape[1] + touched(table, ids) * (4 * table.shape[1] + 5),
    signature="(rows, width), (rows,), (examples, bag), (examples, width)",
    moved=lambda table, moments, ids, gradient, rate:
        ids.nbytes + gradient.nbytes + 4 * (table.shape[1] + 1) * (touched(table, ids) + ids.size),
)  # fmt: skip
def embedding_update(table, moments, ids, gradient, rate):
    """One step of row-wise Adagrad, as what becomes of the rows that it touches.

    table: (rows, width), moments: (rows,), ids: (examples, per example), gradient: (examples,
    width) of the bags' sums. Returns for each id its new row, (examples, per example, width), and
    its new moment, (examples, per example): an id that comes twice has the same twice. Nothing is
    changed, and nothing copied that is not touched; training uses update_in_place.
    """
    refuse_strangers(table, ids)
    rows, slots = np.unique(ids, return_inverse=True)
    slots = slots.reshape(ids.shape)
    sums = np.zeros((len(rows), table.shape[1]), gradient.dtype)
    np.add.at(sums, slots, gradient[:, None])  # sums[slots] += … would keep the last of each
    new_moments = moments[rows] + (sums * sums).mean(1)
    steps = rate * sums / (np.sqrt(new_moments) + EPSILON)[:, None]
    return (table[rows] - steps)[slots], new_moments[slots]


def refuse_strangers(table, ids):
    """ValueError when an id is no row of the table: NumPy would take −1 for the last one."""
    if ids.size and not 0 <= ids.min() <= ids.max() < len(table):
        stranger = ids[(ids < 0) | (ids >= len(table))][0]
        raise ValueError(
            f"Id {stranger} is no row of a table with {len(table):,} rows: ids go from 0 to "
            f"{len(table) - 1:,}."
        )


@embedding_update.version("NumPy, sorted", on=host)
def numpy_sorted(table, moments, ids, gradient, rate, out):
    """Sorted, the same ids lie side by side, and a sum of neighbors needs no addition at random."""
    refuse_strangers(table, ids)
    flat = ids.ravel()
    order = np.argsort(flat, kind="stable")
    first = np.flatnonzero(np.diff(flat[order], prepend=-1))
    rows = flat[order[first]]
    sums = np.add.reduceat(gradient[order // ids.shape[1]], first)
    new_moments = moments[rows] + np.square(sums).mean(1)
    new_rows = table[rows] - rate * sums / (np.sqrt(new_moments) + EPSILON)[:, None]
    lengths = np.diff(first, append=flat.size)
    out[0].reshape(flat.size, -1)[order] = np.repeat(new_rows, lengths, axis=0)
    out[1].reshape(-1)[order] = np.repeat(new_moments, lengths)


# -- On the CPU. A bag's row is all vectors; which row it is, only memory knows.


def add_rows(table, ids, out):
    for e in prange(len(ids)):
        for j in range(out.shape[1]):
            out[e, j] = table[ids[e, 0], j]
        for k in range(1, ids.shape[1]):
            row = ids[e, k]
            for j in range(out.shape[1]):
                out[e, j] += table[row, j]


add_rows_alone, add_rows_together = njit(**ALONE)(add_rows), njit(**PARALLEL)(add_rows)


@embedding.version("Numba, one core", on=host)
def numba_bags(table, ids, out):
    refuse_strangers(table, ids)
    add_rows_alone(table, ids, out)


@embedding.version("Numba, every core", on=host)
def numba_bags_everywhere(table, ids, out):
    refuse_strangers(table, ids)
    add_rows_together(table, ids, out)


# -- The update: first the distinct ids get numbers, 0, 1, 2 … as they come, by a small hash table;
# -- then their gradients are summed, in the order of the ids, on one core or on all: of all, each
# -- goes through every id and adds for the numbers that are its own. Nobody waits, nothing races,
# -- and the sums are the same to the last bit.

MULTIPLIER = np.int64(0x9E3779B97F4A7C15 - 2**64)  # 2^64 over the golden ratio (Knuth)
HIGH = np.int64(32)


@njit(**ALONE)
def numbered(ids):
    """(number of each id's row, the distinct rows): (n,) int32 and (distinct,) int64. ids: (n,)."""
    room = 2
    while room < 2 * ids.size:
        room *= 2
    slots, rows, count = np.empty(ids.size, np.int32), np.empty(ids.size, np.int64), 0
    drawers = np.full(room, -1, np.int32)
    for p in range(ids.size):
        at = (ids[p] * MULTIPLIER >> HIGH) & (room - 1)
        while drawers[at] >= 0 and rows[drawers[at]] != ids[p]:
            at = (at + 1) & (room - 1)
        if drawers[at] < 0:
            drawers[at], rows[count] = count, ids[p]
            count += 1
        slots[p] = drawers[at]
    return slots, rows[:count]


def sum_by_slot(slots, gradient, bag, cores, sums):
    """sums[s] = the gradients of all places whose slot is s. bag: places for each gradient."""
    for core in prange(cores):
        for s in range(core, len(sums), cores):
            for j in range(sums.shape[1]):
                sums[s, j] = ZERO
        for p in range(len(slots)):
            s = slots[p]
            if s % cores == core:
                for j in range(sums.shape[1]):
                    sums[s, j] += gradient[p // bag, j]


def move_rows(table, moments, rows, sums, rate, new_rows, new_moments, places):
    """The step of each distinct row, in float32: from rows[s] into new_rows[places[s]]."""
    width = np.float32(table.shape[1])
    for s in prange(len(rows)):
        squares, row, place = ZERO, rows[s], places[s]
        for j in range(table.shape[1]):
            squares += sums[s, j] * sums[s, j]
        moment = moments[row] + squares / width
        step = rate / (np.float32(math.sqrt(moment)) + EPSILON32)
        new_moments[place] = moment
        for j in range(table.shape[1]):
            new_rows[place, j] = table[row, j] - step * sums[s, j]


def hand_out(found, moments, slots, new_rows, new_moments):
    """Every place gets what became of its row."""
    for p in prange(len(slots)):
        new_moments[p] = moments[slots[p]]
        for j in range(found.shape[1]):
            new_rows[p, j] = found[slots[p], j]


PASSES = sum_by_slot, move_rows, hand_out
TOGETHER = tuple(njit(**PARALLEL)(step) for step in PASSES)
BY_ONE = tuple(njit(**ALONE)(step) for step in PASSES)


def update(steps, cores, table, moments, ids, gradient, rate, out):
    """Into out: (examples, per example, width) and (examples, per example)."""
    refuse_strangers(table, ids)
    sum_up, move, give = steps
    slots, rows = numbered(ids.ravel())
    sums, room = (np.empty((len(rows), table.shape[1]), np.float32) for _ in range(2))
    moved, places = np.empty(len(rows), np.float32), np.arange(len(rows))
    sum_up(slots, gradient, ids.shape[1], cores, sums)
    move(table, moments, rows, sums, np.float32(rate), room, moved, places)
    give(room, moved, slots, out[0].reshape(slots.size, -1), out[1].reshape(-1))


@embedding_update.version("Numba, one core", on=host)
def numba_update(table, moments, ids, gradient, rate, out):
    update(BY_ONE, 1, table, moments, ids, gradient, rate, out)


@embedding_update.version("Numba, every core", on=host)
def numba_update_everywhere(table, moments, ids, gradient, rate, out):
    update(TOGETHER, get_num_threads(), table, moments, ids, gradient, rate, out)


def update_in_place(table, moments, ids, gradient, rate=LEARNING_RATE, cores=None):
    """The same step, written into table and moments: what training does. Arrays as above.

    cores: 1, or as many as Numba has (by default). ValueError for an id that is no row, and then
    nothing is written.
    """
    refuse_strangers(table, ids)
    cores = cores or get_num_threads()
    sum_up, move, _ = BY_ONE if cores == 1 else TOGETHER
    slots, rows = numbered(ids.ravel())
    sums = np.empty((len(rows), table.shape[1]), np.float32)
    sum_up(slots, gradient, ids.shape[1], cores, sums)
    move(table, moments, rows, sums, np.float32(rate), table, moments, rows)


# -- On the GPU, the bags: who walks along a row? One thread, and its neighbors are in other rows;
# -- or neighbors themselves, and a row comes in whole sectors.


@cuda.jit
def bag_kernel(table, ids, out):
    """A thread for each bag: what a warp reads at once lies in 32 rows."""
    e = cuda.grid(1)
    if e < out.shape[0]:
        j = 0
        while j < out.shape[1]:
            out[e, j] = gathered(table, ids, e, j)
            j += 1


@cuda.jit
def element_kernel(table, ids, out):
    """A thread for each number of the result: neighbors read neighbors."""
    i = cuda.grid(1)
    if i < out.size:
        e, j = i // out.shape[1], i % out.shape[1]
        out[e, j] = gathered(table, ids, e, j)


@cuda.jit(device=True)
def warp_number():
    """Which warp of the whole grid this is, launched as warp_per_row says."""
    return cuda.blockIdx.x * cuda.blockDim.y + cuda.threadIdx.y


@cuda.jit
def bag_warp_kernel(table, ids, out):
    """A warp for each bag, so no thread divides to find its place."""
    e, j = warp_number(), cuda.threadIdx.x & (WARP - 1)
    if e < out.shape[0]:
        while j < out.shape[1]:
            out[e, j] = gathered(table, ids, e, j)
            j += WARP


@cuda.jit(device=True)
def gathered(table, ids, e, j):
    """Column j of bag e: NaN where an id is no row, since nobody here can raise."""
    total, k = ZERO, 0
    while k < ids.shape[1]:  # not range(): notebook 05 says why
        row = ids[e, k]
        total += table[row, j] if 0 <= row < table.shape[0] else MISSING
        k += 1
    return total


@embedding.version("CUDA, a thread per bag, uncoalesced", on=gpu)
def launch_bags(table, ids, out):
    bag_kernel[ceil_div(len(ids), THREADS), THREADS](table, ids, out)


@embedding.version("CUDA, a thread per element", on=gpu)
def launch_elements(table, ids, out):
    element_kernel[ceil_div(out.size, THREADS), THREADS](table, ids, out)


@embedding.version("CUDA, a warp per bag", on=gpu)
def launch_warps(table, ids, out):
    bag_warp_kernel[warp_per_row(len(ids))](table, ids, out)


# -- The update by atomics. `first` has a number for every row of the table, but only those of this
# -- batch are written: first with more than any place, then with the first place that has the row.
# -- There its gradients meet, in any order: the last bits may differ from run to run.


@cuda.jit
def forget_kernel(ids, first, sums):
    p, j = warp_number(), cuda.threadIdx.x & (WARP - 1)
    if p < ids.size:
        if j == 0 and 0 <= ids[p] < first.size:
            cuda.atomic.exch(first, ids[p], int32(ids.size))
        while j < sums.shape[1]:
            sums[p, j] = ZERO
            j += WARP


@cuda.jit
def first_kernel(ids, first):
    p = cuda.grid(1)
    if p < ids.size and 0 <= ids[p] < first.size:
        cuda.atomic.min(first, ids[p], int32(p))


@cuda.jit
def meet_kernel(ids, first, gradient, bag, sums):
    p, j = warp_number(), cuda.threadIdx.x & (WARP - 1)
    if p < ids.size and 0 <= ids[p] < first.size:
        while j < sums.shape[1]:
            cuda.atomic.add(sums, (first[ids[p]], j), gradient[p // bag, j])
            j += WARP


@cuda.jit
def part_kernel(table, moments, ids, first, sums, rate, new_rows, new_moments):
    """A warp for each place: it may find its sum at another."""
    p = warp_number()
    if p < ids.size:
        place = first[ids[p]] if 0 <= ids[p] < first.size else p
        move_row(table, moments, ids[p], sums, place, rate, new_rows, new_moments, p)


@cuda.jit(device=True)
def move_row(table, moments, row, sums, place, rate, new_rows, new_moments, p):
    """A warp: the step of a row whose summed gradient is sums[place], into place p."""
    squares, width = ZERO, table.shape[1]
    j = lane = cuda.threadIdx.x & (WARP - 1)
    known = 0 <= row < table.shape[0]
    while j < width:
        squares += sums[place, j] * sums[place, j]
        j += WARP
    squares = warp_reduce_sum(squares)
    moment = moments[row] + squares / np.float32(width) if known else MISSING
    step = rate / (math.sqrt(moment) + EPSILON32)
    if lane == 0:
        new_moments[p] = moment
    j = lane
    while j < width:
        new_rows[p, j] = table[row, j] - step * sums[place, j] if known else MISSING
        j += WARP


@embedding_update.version("CUDA, atomics", on=gpu, prepares=True)
def launch_atomics(table, moments, ids, gradient, rate, out):
    places, warps = ids.reshape(ids.size), warp_per_row(ids.size)
    first = gpu.empty((table.shape[0],), np.int32)
    sums = gpu.empty((ids.size, table.shape[1]), np.float32)
    new_rows, new_moments = out[0].reshape(sums.shape), out[1].reshape(ids.size)
    parts = table, moments, places, first, sums, np.float32(rate), new_rows, new_moments

    def call():
        forget_kernel[warps](places, first, sums)
        first_kernel[ceil_div(ids.size, THREADS), THREADS](places, first)
        meet_kernel[warps](places, first, gradient, ids.shape[1], sums)
        part_kernel[warps](*parts)

    return call


# -- The same to the last bit in every run: a warp looks for its id among all, 32 at a time, and
# -- adds what it finds in the order of the places: quadratic in the ids, and fine for thousands.


@cuda.jit
def search_kernel(table, moments, ids, gradient, bag, rate, new_rows, new_moments):
    p, start = warp_number(), 0
    j = lane = cuda.threadIdx.x & (WARP - 1)
    if p < ids.size:
        while j < new_rows.shape[1]:
            new_rows[p, j] = ZERO
            j += WARP
        while start < ids.size:
            q = start + lane
            same = int64(cuda.ballot_sync(FULL_MASK, q < ids.size and ids[q] == ids[p])) & FULL_MASK
            while same != 0:
                found = start + cuda.ffs(same) - 1
                same &= same - 1  # without its lowest bit
                j = lane
                while j < new_rows.shape[1]:
                    new_rows[p, j] += gradient[found // bag, j]
                    j += WARP
            start += WARP
        move_row(table, moments, ids[p], new_rows, p, rate, new_rows, new_moments, p)


@embedding_update.version("CUDA, searched, the same in every run", on=gpu, prepares=True)
def launch_search(table, moments, ids, gradient, rate, out):
    places, shape = ids.reshape(ids.size), (ids.size, table.shape[1])
    new_rows, new_moments = out[0].reshape(shape), out[1].reshape(ids.size)
    return lambda: search_kernel[warp_per_row(ids.size)](
        table, moments, places, gradient, ids.shape[1], np.float32(rate), new_rows, new_moments
    )


# -- PyTorch. Its sparse gradient is a list of (row, values), with duplicates until coalesced.


@embedding.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@embedding.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def bags_pytorch(table, ids):
    from torch.nn.functional import embedding_bag

    return partial(embedding_bag, ids, table, mode="sum")


@embedding_update.version("PyTorch on GPU", on=torch_gpu, prepares=True)
@embedding_update.version("PyTorch on CPU", on=torch_cpu, prepares=True)
def update_pytorch(table, moments, ids, gradient, rate):
    import torch

    def call():
        rows, new_rows, new_moments = moved_pytorch(torch, table, moments, ids, gradient, rate)
        slots = torch.searchsorted(rows, ids.long())
        return new_rows[slots], new_moments[slots]

    return call


def moved_pytorch(torch, table, moments, ids, gradient, rate):
    """(distinct rows, what they become, their new moments), as tensors of the module `torch`."""
    each = gradient.repeat_interleave(ids.shape[1], 0)
    places = ids.reshape(1, -1).long()
    summed = torch.sparse_coo_tensor(places, each, table.shape, check_invariants=True).coalesce()
    rows, sums = summed.indices()[0], summed.values()
    new_moments = moments[rows] + sums.square().mean(1)
    steps = rate * sums / (new_moments.sqrt() + EPSILON)[:, None]
    return rows, table[rows] - steps, new_moments


def update_pytorch_in_place(table, moments, ids, gradient, rate=LEARNING_RATE):
    """update_in_place on tensors, wherever they are."""
    import torch

    rows, new_rows, new_moments = moved_pytorch(torch, table, moments, ids, gradient, rate)
    table[rows], moments[rows] = new_rows, new_moments
