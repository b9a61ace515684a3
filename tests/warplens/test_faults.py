"""What a GPU would not survive is raised, and says everything; the rest is a caution."""

import numpy as np
import pytest
from numba import cuda, float32

from warplens import LaunchError, OutOfBounds, PartialBarrier, trace


def no_guard(x, y):
    i = cuda.grid(1)
    y[i] = x[i]


def neighbour(x, y):
    row, col = cuda.grid(2)
    y[row, col] = x[row + 1, col]


def atomic_outside(x, y):
    cuda.atomic.add(y, cuda.grid(1) * 2, x[0])


def test_reading_past_the_end_names_array_index_shape_block_and_thread():
    with pytest.raises(OutOfBounds) as caught:
        trace(no_guard)[4, 32](np.zeros(100), np.zeros(128))
    fault = caught.value
    assert (fault.array, fault.index, fault.shape) == ("x", (100,), (100,))
    assert (fault.block, fault.thread, fault.access) == ((3, 0, 0), (4, 0, 0), "read")
    assert fault.line == no_guard.__code__.co_firstlineno + 2
    assert (
        str(fault)
        == f"line {fault.line}: thread 4 of block 3 reads x[100], outside its shape (100,) "
        "(a GPU would not tell)"
    )
    assert isinstance(fault, IndexError)


def test_only_the_dimension_matters_not_the_memory_behind_it():
    x = np.zeros((8, 8))
    with pytest.raises(OutOfBounds, match=r"x\[8, 0\], outside its shape \(8, 8\)"):
        trace(neighbour)[1, (8, 8)](x, x.copy())


def test_atomics_are_checked_too():
    with pytest.raises(OutOfBounds, match=r"thread 4 of block 0 updates y\[8\]"):
        trace(atomic_outside)[1, 8](np.zeros(8), np.zeros(8))


def test_barriers_at_different_lines_are_named():
    def two_lines(x):
        if cuda.threadIdx.x < 32:
            cuda.syncthreads()
        else:
            cuda.syncthreads()

    with pytest.raises(PartialBarrier, match="at different lines") as caught:
        trace(two_lines)[1, 64](np.zeros(1))
    first = two_lines.__code__.co_firstlineno
    assert caught.value.lines == (first + 2, first + 4)


def test_a_loop_that_some_warps_leave_before_others():
    def uneven(x):
        for _ in range(cuda.threadIdx.x // 32 + 1):
            cuda.syncthreads()

    def tail(x):
        for _ in range(cuda.threadIdx.x // 32 + 1):
            cuda.syncthreads()
        cuda.syncthreads()

    # The first warp has returned: a GPU of today goes on, an older one hangs.
    t = trace(uneven)[1, 64](np.zeros(1))
    assert [w.kind for w in t.warnings] == ["early return"]
    with pytest.raises(PartialBarrier, match="at different lines"):
        trace(tail)[1, 64](np.zeros(1))


def test_a_barrier_after_an_early_return_is_a_caution():
    def early(x):
        i = cuda.grid(1)
        if i >= x.size:
            return
        cuda.syncthreads()
        x[i] = 1

    x = np.zeros(40)
    t = trace(early)[1, 64](x)
    assert (x == 1).all() and [w.kind for w in t.warnings] == ["early return"]
    assert "24 threads" in t.warnings[0].text


@pytest.mark.parametrize(
    "grid, block, dynamic, words",
    [
        (1, 1025, 0, "1,025 threads"),
        (1, (32, 33), 0, "1,056 threads"),
        (1, (1, 1, 65), 0, r"\(1, 1, 65\)"),
        ((1, 70_000), 1, 0, r"70000"),
        (0, 32, 0, "at least 1"),
        ((1, 2, 3, 4), 32, 0, "1, 2 or 3 integers"),
        (1, 32, 50_000, "50,000 bytes of shared memory"),
    ],
)
def test_launches_that_a_gpu_refuses(grid, block, dynamic, words):
    with pytest.raises(LaunchError, match=words):
        trace(no_guard)[grid, block, 0, dynamic](np.zeros(1), np.zeros(1))


def test_reading_shared_memory_that_nobody_wrote_is_a_caution_and_gives_no_zeros():
    def unwritten(x):
        s = cuda.shared.array(32, float32)
        i = cuda.threadIdx.x
        if i < 16:
            s[i] = i
        cuda.syncthreads()
        x[i] = s[i]

    x = np.zeros(32, np.float32)
    t = trace(unwritten)[1, 32](x)
    assert np.isnan(x[16:]).all() and x[:16].tolist() == list(range(16))
    assert [(w.kind, w.times) for w in t.warnings] == [("uninitialized", 16)]
    assert "s is read where nothing has been written" in str(t.warnings[0])


def test_local_arrays_begin_empty_and_are_counted():
    def kernel(x):
        a = cuda.local.array(4, float32)
        i = cuda.grid(1)
        a[0] = x[i]
        x[i] = a[0] + a[1]

    t = trace(kernel)[1, 32](np.ones(32, np.float32))
    assert [w.kind for w in t.warnings] == ["uninitialized"]
    assert (t.work().local_reads, t.work().local_writes) == (2, 1)


