"""Correct and racy kernels, none misjudged. A racy kernel's case names the array that races."""

import linecache

import numpy as np
import pytest
from numba import cuda, float32, int32

from warplens import trace

N = 64
CORRECT, RACY = {}, {}


def correct(blocks=2, threads=N):
    def remember(function):
        CORRECT[function.__name__] = (function, blocks, threads)
        return function

    return remember


def racy(array, blocks=2, threads=N):
    def remember(function):
        RACY[function.__name__] = (function, blocks, threads, array)
        return function

    return remember


def launch(function, blocks, threads):
    x = np.arange(1, blocks * threads + 1, dtype=np.float32)
    y = np.zeros_like(x)
    return trace(function)[blocks, threads](x, y), x, y


# Each kernel takes x and y, of as many elements as there are threads.


@correct()
def own_cell(x, y):
    i = cuda.grid(1)
    y[i] = x[i]


@correct()
def reverse_through_shared(x, y):
    s = cuda.shared.array(N, float32)
    tid = cuda.threadIdx.x
    s[tid] = x[cuda.grid(1)]
    cuda.syncthreads()
    y[cuda.grid(1)] = s[N - 1 - tid]


@correct()
def double_buffer_one_barrier(x, y):
    s = cuda.shared.array((2, N), float32)
    tid = cuda.threadIdx.x
    for phase in range(4):
        s[phase % 2, tid] = x[cuda.grid(1)] + phase
        cuda.syncthreads()
        y[cuda.grid(1)] += s[phase % 2, (tid + 1) % N]


@correct()
def atomic_sum(x, y):
    cuda.atomic.add(y, 0, x[cuda.grid(1)])


@correct()
def warp_sum_in_registers(x, y):
    v = x[cuda.grid(1)]
    for d in (16, 8, 4, 2, 1):
        v += cuda.shfl_down_sync(0xFFFFFFFF, v, d)
    if cuda.laneid == 0:
        cuda.atomic.add(y, 0, v)


@correct()
def warp_synchronous_with_syncwarp(x, y):
    s = cuda.shared.array(N, float32)
    tid = cuda.threadIdx.x
    lane = tid % 32
    s[tid] = x[cuda.grid(1)]
    step = 16
    while step > 0:
        cuda.syncwarp()
        if lane < step:
            s[tid] += s[tid + step]
        step //= 2
    if lane == 0:
        y[cuda.grid(1)] = s[tid]


@correct()
def halves_of_a_warp_with_their_own_barriers(x, y):
    s = cuda.shared.array(N, float32)
    tid = cuda.threadIdx.x
    half = 0xFFFF if tid % 32 < 16 else 0xFFFF0000
    s[tid] = x[cuda.grid(1)]
    cuda.syncwarp(half)
    y[cuda.grid(1)] = s[tid ^ 15]


@correct()
def last_block_behind_a_fence(x, y):
    ticket = cuda.shared.array(1, int32)
    i, tid = cuda.grid(1), cuda.threadIdx.x
    if tid == 0:
        y[1 + cuda.blockIdx.x] = x[i]
        cuda.threadfence()
        ticket[0] = int32(cuda.atomic.add(y, 0, 1))
    cuda.syncthreads()
    if ticket[0] == cuda.gridDim.x - 1 and tid == 0:
        total = float32(0)
        for b in range(cuda.gridDim.x):
            total += y[1 + b]
        y[8] = total


@correct()
def early_return_then_barrier(x, y):
    s = cuda.shared.array(N, float32)
    tid = cuda.threadIdx.x
    s[tid] = x[cuda.grid(1)]
    cuda.syncthreads()
    if tid >= 32:
        return
    cuda.syncthreads()
    y[cuda.grid(1)] = s[tid + 32]


@racy("y")
def every_thread_writes_one_cell(x, y):
    y[0] = x[cuda.grid(1)]


@racy("s")
def tree_reduction_without_barriers(x, y):
    s = cuda.shared.array(N, float32)
    tid = cuda.threadIdx.x
    s[tid] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = N // 2
    while step > 0:
        if tid < step:
            s[tid] += s[tid + step]
        step //= 2
    if tid == 0:
        y[cuda.blockIdx.x] = s[0]


@racy("bins")
def shared_histogram_read_too_early(x, y):
    bins = cuda.shared.array(8, int32)
    tid = cuda.threadIdx.x
    if tid < 8:
        bins[tid] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, tid % 8, 1)
    if tid < 8:
        cuda.atomic.add(y, tid, bins[tid])


@racy("s")
def warp_synchronous_without_syncwarp(x, y):
    s = cuda.shared.array(N, float32)
    tid = cuda.threadIdx.x
    lane = tid % 32
    s[tid] = x[cuda.grid(1)]
    cuda.syncwarp()
    if lane < 16:
        s[tid] += s[tid + 16]
        s[tid] += s[tid + 8]
    if lane == 0:
        y[cuda.grid(1)] = s[tid]


@racy("s")
def syncwarp_where_a_block_barrier_is_needed(x, y):
    s = cuda.shared.array(N, float32)
    tid = cuda.threadIdx.x
    s[tid] = x[cuda.grid(1)]
    cuda.syncwarp()
    y[cuda.grid(1)] = s[N - 1 - tid]


@racy("s")
def a_shuffle_is_no_memory_barrier(x, y):
    s = cuda.shared.array(N, float32)
    tid = cuda.threadIdx.x
    s[tid] = x[cuda.grid(1)]
    v = cuda.shfl_xor_sync(0xFFFFFFFF, x[cuda.grid(1)], 1)
    y[cuda.grid(1)] = s[tid ^ 1] + v


@racy("y")
def a_block_barrier_does_not_order_blocks(x, y):
    i = cuda.grid(1)
    y[i] = x[i]
    cuda.syncthreads()
    x[i] = y[x.size - 1 - i]


@racy("y")
def atomic_and_plain_write(x, y):
    if cuda.grid(1) == 0:
        y[0] = 5
    else:
        cuda.atomic.add(y, 0, 1)


@pytest.mark.parametrize("name", CORRECT)
def test_correct_kernels_have_no_race(name):
    t, *_ = launch(*CORRECT[name])
    assert t.races().cells == 0, t.races()


@pytest.mark.parametrize("name", RACY)
def test_racy_kernels_are_found_with_array_threads_and_lines(name):
    function, blocks, threads, array = RACY[name]
    t, *_ = launch(function, blocks, threads)
    races = t.races(limit=10_000)
    assert races.cells >= len(races) >= 1
    assert {race.array for race in races} == {array}
    last = function.__code__.co_firstlineno + 20
    for race in races:
        assert (race.first.block, race.first.thread) != (race.second.block, race.second.thread)
        assert "write" in (race.first.access, race.second.access) or "atomic" in (
            race.first.access,
            race.second.access,
        )
        assert all(function.__code__.co_firstlineno < line < last for line in race.lines)


def test_order_between_blocks_behind_fences_is_left_open_and_said_so():
    t, x, y = launch(last_block_behind_a_fence, 2, N)
    assert y[8] == x[0] + x[N]
    assert [w.kind for w in t.warnings] == ["fence"]


def test_thousands_of_racy_cells_are_counted_but_only_the_first_are_told():
    @cuda.jit
    def all_blocks_write_all(x, y):
        for k in range(8):
            x[(cuda.threadIdx.x + k * 64) % x.size] = k

    t = trace(all_blocks_write_all)[400, 64](np.zeros(4096, np.float32), np.zeros(1))
    assert t.races().cells == 512 and len(t.races()) == 10 and len(t.races(limit=3)) == 3


def test_two_names_for_one_memory_race_with_each_other():
    memory = np.zeros(65, np.float32)
    t = trace(own_cell)[1, 64](memory[1:], memory[:-1])
    assert t.races().cells == 63
    assert {(r.first.access, r.second.access) for r in t.races()} == {("read", "write")}


def test_a_byte_of_an_element_is_that_element():
    @cuda.jit
    def kernel(whole, parts):
        t = cuda.threadIdx.x
        if t == 0:
            whole[3] = 1
        if t == 1:
            parts[13] = 1  # the second byte of element 3
        if t == 2:
            parts[17] = 1

    memory = np.zeros(8, np.int32)
    races = trace(kernel)[1, 32](memory, memory.view(np.uint8)).races()
    assert races.cells == len(races) == 1
    assert (races[0].array, races[0].cell, races[0].hazard) == ("whole", (3,), "write after write")


@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize(
    ("early", "late", "hazard"),
    [("write", "read", "read after write"), ("read", "write", "write after read"),
     ("write", "write", "write after write"), ("atomic", "read", "read after write")],
)  # fmt: skip
def test_hazards_have_their_names(space, early, late, hazard):
    does = {"write": "s[0] = 1", "read": "out[1] = s[0]", "atomic": "cuda.atomic.add(s, 0, 1)"}
    memory = "cuda.shared.array(1, np.int32)" if space == "shared" else "x"
    text = f"""
def kernel(x, out):
    s = {memory}
    if cuda.threadIdx.x == 0:
        {does[early]}
    if cuda.threadIdx.x == 40:
        {does[late]}
"""
    linecache.cache["<hazard>"] = (len(text), None, text.splitlines(True), "<hazard>")
    names = {"cuda": cuda, "np": np}
    exec(compile(text, "<hazard>", "exec"), names)
    (race,) = trace(names["kernel"])[1, 64](np.zeros(1, np.int32), np.zeros(2)).races()
    assert race.hazard == hazard and hazard in str(race)
