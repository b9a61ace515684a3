"""Random accesses and barriers: the racy cells are those of the definition, pair by pair."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda

from warplens import trace

IDLE, READ, WRITE, ATOMIC = range(4)
NONE, BLOCK, WARP, HALF, GRID = range(5)
CELLS = 6


def follow_in_shared(cells, kinds, barriers):
    s = cuda.shared.array(CELLS, np.int64)
    tid = cuda.threadIdx.x
    v = 0
    for step in range(barriers.shape[0]):
        cell, kind = cells[step, tid], kinds[step, tid]
        if kind == READ:
            v += s[cell]
        elif kind == WRITE:
            s[cell] = v
        elif kind == ATOMIC:
            cuda.atomic.add(s, cell, 1)
        if barriers[step] == BLOCK:
            cuda.syncthreads()
        elif barriers[step] == WARP:
            cuda.syncwarp()
        elif barriers[step] == HALF:
            cuda.syncwarp(0xFFFF if tid % 32 < 16 else 0xFFFF0000)


def follow_in_global(data, cells, kinds, barriers):
    i = cuda.grid(1)
    v = 0
    grid = cuda.cg.this_grid()
    for step in range(barriers.shape[0]):
        cell, kind = cells[step, i], kinds[step, i]
        if kind == READ:
            v += data[cell]
        elif kind == WRITE:
            data[cell] = v
        elif kind == ATOMIC:
            cuda.atomic.add(data, cell, 1)
        if barriers[step] == BLOCK:
            cuda.syncthreads()
        elif barriers[step] == WARP:
            cuda.syncwarp()
        elif barriers[step] == HALF:
            cuda.syncwarp(0xFFFF if cuda.threadIdx.x % 32 < 16 else 0xFFFF0000)
        elif barriers[step] == GRID:
            grid.sync()


def ordered(barrier, a, b, threads):
    """Does this barrier come between accesses of threads a and b (of a grid of such blocks)?"""
    if a // threads != b // threads:
        return barrier == GRID
    a, b = a % threads, b % threads
    return (
        barrier in (BLOCK, GRID)
        or (barrier == WARP and a // 32 == b // 32)
        or (barrier == HALF and a // 16 == b // 16)
    )


def racy_cells(cells, kinds, barriers, threads):
    racy = set()
    steps, total = kinds.shape
    touches = [(s, t) for s in range(steps) for t in range(total) if kinds[s, t]]
    for (s1, t1), (s2, t2) in itertools.combinations(touches, 2):
        pair = {kinds[s1, t1], kinds[s2, t2]}
        meet = t1 != t2 and cells[s1, t1] == cells[s2, t2] and pair not in ({READ}, {ATOMIC})
        if meet and not any(ordered(barriers[s], t1, t2, threads) for s in range(s1, s2)):
            racy.add(int(cells[s1, t1]))
    return racy


@st.composite
def programs(draw, total, kinds_of_barrier):
    """Few threads touch anything, so that some programs are free of races."""
    steps = draw(st.integers(1, 5))
    cells, kinds = np.zeros((steps, total), np.int64), np.zeros((steps, total), np.int64)
    for step in range(steps):
        for thread in draw(st.lists(st.sampled_from(list(range(total))), max_size=4)):
            cells[step, thread] = draw(st.integers(0, CELLS - 1))
            kinds[step, thread] = draw(st.sampled_from([READ, WRITE, ATOMIC]))
    barriers = draw(st.lists(st.sampled_from(kinds_of_barrier), min_size=steps, max_size=steps))
    return cells, kinds, np.array(barriers)


@settings(max_examples=150, deadline=None)
@given(programs(64, [NONE, BLOCK, WARP, HALF]))
def test_races_in_shared_memory(program):
    found = trace(follow_in_shared)[1, 64](*program).races(limit=100)
    expected = racy_cells(*program, 64)
    assert {r.cell[0] for r in found if r.array == "s"} == expected
    assert found.cells == len(expected)


@settings(max_examples=150, deadline=None)
@given(programs(96, [NONE, BLOCK, WARP, HALF, GRID]))
def test_races_in_global_memory_between_two_blocks(program):
    data = np.zeros(CELLS, np.int64)
    found = trace(follow_in_global)[2, 48](data, *program).races(limit=100)
    expected = racy_cells(*program, 48)
    assert {r.cell[0] for r in found if r.array == "data"} == expected
    assert found.cells == len(expected)
