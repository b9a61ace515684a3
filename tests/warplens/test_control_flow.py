"""Divergent control flow: every thread gets what the same function gives in plain Python."""

import numpy as np
import pytest
from numba import cuda, float32

from warplens import trace


def collatz(i, x):
    n, steps = i + 1, 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def breaks_and_continues(i, x):
    total = 0
    for a in range(i % 7):
        if a == 3:
            continue
        for b in range(a, 10, 2):
            if b * a > i:
                break
            if b % 3 == i % 3:
                continue
            total += a * 100 + b
        else_taken = total % 5
        if else_taken == 4:
            break
    return total


def early_returns(i, x):
    if i % 5 == 0:
        return -1
    for k in range(10):
        if k * k > i:
            return k
        if i % 7 == 3:  # noqa: SIM102
            if k == 2:
                return 1000 + i
    return -2


def short_circuit_guards_an_index(i, x):
    if (i < 20 and x[i] > 5) or i == 31:
        return 1
    return 0 if i >= 20 or x[i] < 2 else 2


def conditional_expressions(i, x):
    return (x[i] if i < 20 else -1) + (10 if i % 2 else 20 if i % 3 else 30)


def steps_down(i, x):
    total = 0
    for k in range(i, -1, -3):
        total = total * 2 + k
    return total


def tuples_and_swaps(i, x):
    a, b = i, i + 1
    for _ in range(i % 4):
        a, b = b, a + b
    pair = (a, b) if i % 2 else (b, a)
    return pair[0] * 1000 + pair[1] + (7, 8, 9)[2]


def slices(i, x):
    part = x[i % 10 : 15]
    tail = part[-2:]
    return len(part) * 1000 + tail[0] * 10 + part[0] + x[::2][1] + len(x[5:i])


FUNCTIONS = [
    collatz,
    breaks_and_continues,
    early_returns,
    short_circuit_guards_an_index,
    conditional_expressions,
    steps_down,
    tuples_and_swaps,
    slices,
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_thread_takes_its_own_path(function):
    device = cuda.jit(device=True)(function)

    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = device(i, x)

    x = (np.arange(20) * 7) % 10
    out = np.zeros(75, np.int64)
    trace(kernel)[3, 32](x, out)
    assert out.tolist() == [function(i, x.tolist()) for i in range(len(out))]


def test_device_functions_nest_and_hold_barriers():
    @cuda.jit(device=True)
    def neighbour(s, tid):
        cuda.syncthreads()
        return s[(tid + 1) % 64]

    @cuda.jit(device=True)
    def twice(s, tid, factor=2):
        return neighbour(s, tid) * factor

    @cuda.jit
    def kernel(x):
        s = cuda.shared.array(64, np.int64)
        tid = cuda.threadIdx.x
        s[tid] = tid
        x[tid] = twice(s, tid) + twice(s, tid, factor=10)

    x = np.zeros(64, np.int64)
    t = trace(kernel)[1, 64](x)
    assert x.tolist() == [12 * ((i + 1) % 64) for i in range(64)]
    assert t.races().cells == 0


def test_a_grid_stride_loop_over_more_than_one_batch_of_blocks():
    @cuda.jit
    def kernel(x, out):
        start, step = cuda.grid(1), cuda.gridsize(1)
        for i in range(start, x.size, step):
            out[i] = x[i] + 1

    x, out = np.arange(100_000), np.zeros(100_000, np.int64)
    trace(kernel)[1500, 32](x, out)
    assert np.array_equal(out, x + 1)


def test_chosen_blocks_alone_run():
    @cuda.jit
    def kernel(x):
        x[cuda.grid(1)] = 1 + cuda.blockIdx.x

    x = np.zeros(64, np.int64)
    t = trace(kernel, blocks={1, (3,)})[8, 8](x)
    assert x.tolist() == [0] * 8 + [2] * 8 + [0] * 8 + [4] * 8 + [0] * 32
    assert t.blocks == 2 and t.threads == 16
    with pytest.raises(ValueError, match="not all in a grid of 8 blocks"):
        trace(kernel, blocks={8})[8, 8](x)


def test_blocks_may_take_turns_behind_a_lock():
    @cuda.jit
    def turns(lock, total):
        if cuda.threadIdx.x == 0:
            while cuda.atomic.cas(lock, 0, 0, 1) != 0:
                pass
            cuda.threadfence()
            total[0] += 1
            cuda.threadfence()
            cuda.atomic.exch(lock, 0, 0)

    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    trace(turns)[20, 32](lock, total)
    assert total[0] == 20 and lock[0] == 0


def test_the_highest_lane_to_write_a_cell_wins():
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        x[0] = i
        x[1 + i % 2] = i

    x = np.zeros(3)
    trace(kernel)[1, 20](x)
    assert x.tolist() == [19, 18, 19]


# -- Local arrays made in loops.


def test_a_local_array_in_a_loop_that_threads_leave_one_by_one():
    def kernel(n, out):
        i = cuda.threadIdx.x
        total = 0.0
        k = 0
        while k < n[i]:
            own = cuda.local.array(3, float32)
            own[0] = k
            own[1] = own[0] + i
            if i % 3 == 0:
                k += 1
                continue
            total += own[1]
            k += 1
        if n[i] > 0:
            out[i] = total + own[0]

    n, out = np.arange(40) % 7, np.zeros(40)
    trace(kernel)[1, 40](n, out)
    for i in range(40):
        total = 0 if i % 3 == 0 else sum(k + i for k in range(n[i]))
        assert out[i] == (total + n[i] - 1 if n[i] else 0)


def test_a_local_array_begins_each_turn_with_nothing_in_it():
    def kernel(out):
        i = cuda.threadIdx.x
        for k in range(2):
            own = cuda.local.array(1, float32)
            if k == 0:
                own[0] = i
            elif i > 5:
                out[i] = own[0]

    t = trace(kernel)[1, 8](np.zeros(8, np.float32))
    assert [(w.kind, w.times) for w in t.warnings] == [("uninitialized", 2)]
