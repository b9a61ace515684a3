"""Embedding: a table with a row of numbers for every word, user or article; only some are read.

    embedding(table, ids)[e] = sum over k of table[ids[e, k]]                        a bag of rows
    row-wise Adagrad:  G = sum of the gradients of all examples that read the row
                       moment ← moment + mean(G²);   row ← row − rate · G / (sqrt(moment) + ε)

A batch of thousands touches some thousands of rows where the table may have a hundred million. So
what costs is neither arithmetic nor the table's size, but rows fetched from anywhere: memory in
pieces of a row. The gradient of a row is the sum over all places that read it, and popular rows are
read often (ids follow Zipf's law), so duplicates must be added up before the row moves: Adagrad
squares that sum. Naumov et al. 2019 (DLRM); Khudia et al. 2021 (FBGEMM, the update).
"""

import math

import numpy as np
from numba import get_num_threads, njit, prange

from gpulessons.backends import host
from gpulessons.operation import Case, op

from .common import PARALLEL, SERIAL, ZERO, ceil_div, run_op

LEARNING_RATE, EPSILON = 0.05, 1e-8
EPSILON32 = np.float32(EPSILON)
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


def bytes_touched(table, ids):
    """The ids, the rows that are read at all, each once, and the bags."""
    return ids.nbytes + 4 * table.shape[1] * (len(np.unique(ids)) + len(ids))


ODD = {"width": 37, "bag": 3, "kind": "int64"}  # a row that no warp fits


@op(inputs=table_and_ids, sizes=(1_000, 100_000, 1_000_000), rtol=2e-5, unit="rows",
    edge_cases=(Case(31, **ODD), Case(1201, **ODD), 6, Case(1, **ODD)),
    flops=lambda table, ids: (ids.shape[1] - 1) * len(ids) * table.shape[1],
    signature="(rows, width), (examples, bag)", moved=bytes_touched)  # fmt: skip
def embedding(table, ids):
    """The sum of each example's rows. table: (rows, width), ids: (examples, per example) integers.

    Returns (examples, width); with one id for each example, the plain rows. Raises ValueError for
    an id that is no row.
    """
    check_ids(table, ids)
    return table[ids].sum(1)


def check_ids(table, ids):
    """ValueError when an id is no row of the table: NumPy would take −1 for the last one."""
    if ids.size and not 0 <= ids.min() <= ids.max() < len(table):
        wrong = ids[(ids < 0) | (ids >= len(table))][0]
        raise ValueError(
            f"Id {wrong} is no row of a table with {len(table):,} rows: ids go from 0 to "
            f"{len(table) - 1:,}."
        )


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
    check_ids(table, ids)
    add_rows_alone(table, ids, out)


@embedding.version("Numba, every core", on=host)
def numba_bags_everywhere(table, ids, out):
    check_ids(table, ids)
    add_rows_together(table, ids, out)


# -- Learning, in place: a result of the table's size would touch every row. NumPy, Numba, PyTorch.
# -- table: (rows, width), moments: (rows,), gradient: (examples, width) of the bags' sums.


def numpy_update(table, moments, ids, gradient, rate=LEARNING_RATE):
    """A step of row-wise Adagrad, written into table and moments: the specification."""
    check_ids(table, ids)
    rows, slots = np.unique(ids, return_inverse=True)
    sums = np.zeros((len(rows), table.shape[1]), gradient.dtype)
    np.add.at(sums, slots.reshape(ids.shape), gradient[:, None])  # sums[slots] += … keeps the last
    moments[rows] += (sums * sums).mean(1)
    table[rows] -= rate * sums / (np.sqrt(moments[rows]) + EPSILON)[:, None]


def update_loop(table, moments, slots, rows, gradient, bag, rate, cores, sums):
    """Each core goes through every id, adds up the gradients of the slots that are its own, and
    moves their rows: no core waits, nothing races, and the bits are the same on any number of
    cores. bag: places for each gradient; sums: (rows, width), zeros.
    """
    width = np.float32(table.shape[1])
    for core in prange(cores):
        for p in range(len(slots)):
            s = slots[p]
            if s % cores == core:
                for j in range(table.shape[1]):
                    sums[s, j] += gradient[p // bag, j]
        for s in range(core, len(rows), cores):
            squares, row = ZERO, rows[s]
            for j in range(table.shape[1]):
                squares += sums[s, j] * sums[s, j]
            moments[row] += squares / width
            step = rate / (np.float32(math.sqrt(moments[row])) + EPSILON32)
            for j in range(table.shape[1]):
                table[row, j] -= step * sums[s, j]


update_alone, update_together = njit(**ALONE)(update_loop), njit(**PARALLEL)(update_loop)


MULTIPLIER = np.int64(0x9E3779B97F4A7C15 - 2**64)  # 2^64 over the golden ratio (Knuth)
HIGH = np.int64(32)


@njit(**ALONE)
def numbered(ids):
    """(slot of each id's row, the distinct rows): 0, 1, 2 … as they come, by a small hash table.

    ids: (n,). Sorting them (np.unique) would take several times as long.
    """
    room = 2
    while room < 2 * ids.size:
        room *= 2
    slots, rows, count = np.empty(ids.size, np.int32), np.empty(ids.size, np.int64), 0
    buckets = np.full(room, -1, np.int32)
    for p in range(ids.size):
        at = (ids[p] * MULTIPLIER >> HIGH) & (room - 1)
        while buckets[at] >= 0 and rows[buckets[at]] != ids[p]:
            at = (at + 1) & (room - 1)
        if buckets[at] < 0:
            buckets[at], rows[count] = count, ids[p]
            count += 1
        slots[p] = buckets[at]
    return slots, rows[:count]


def update_in_place(table, moments, ids, gradient, rate=LEARNING_RATE, cores=None):
    """The same step by Numba, on as many cores as it has unless told. ValueError for an id that is
    no row, and then nothing is written.
    """
    check_ids(table, ids)
    cores = cores or get_num_threads()
    update = update_alone if cores == 1 else update_together
    slots, rows = numbered(ids.ravel())
    sums = np.zeros((len(rows), table.shape[1]), np.float32)
    update(table, moments, slots, rows, gradient, ids.shape[1], np.float32(rate), cores, sums)


def update_pytorch_in_place(table, moments, ids, gradient, rate=LEARNING_RATE):
    """The same on tensors, wherever they are. PyTorch's sparse gradient is a list of (row, values),
    with duplicates until coalesced.
    """
    import torch

    each, places = gradient.repeat_interleave(ids.shape[1], 0), ids.reshape(1, -1).long()
    summed = torch.sparse_coo_tensor(places, each, table.shape, check_invariants=True).coalesce()
    rows, sums = summed.indices()[0], summed.values()
    moments[rows] += sums.square().mean(1)
    table[rows] -= rate * sums / (moments[rows].sqrt() + EPSILON)[:, None]


if __name__ == "__main__":
    run_op(embedding)
